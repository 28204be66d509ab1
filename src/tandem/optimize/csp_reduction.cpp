// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/csp_reduction.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {

namespace {

constexpr std::int8_t kOpen = -1;

class Reducer {
 public:
  explicit Reducer(const MaxCsp& problem);
  void run();
  std::vector<std::int8_t> take_fixed() { return std::move(fixed_); }

  bool alive(std::size_t c) const { return left_[c] > 0; }
  std::int64_t weight(std::size_t c) const { return weight_[c]; }
  // Literals of a clause whose bits are open.
  void open_literals(std::size_t c, std::vector<std::uint32_t>& out) const {
    out.clear();
    for (const auto literal : problem_.clause(c).literals) {
      if (fixed_[literal >> 1] == kOpen) out.push_back(literal);
    }
  }
  bool open(std::size_t bit) const { return fixed_[bit] == kOpen; }
  std::size_t variable_of(std::size_t bit) const { return variable_of_[bit]; }

 private:
  // What a bit's values are wanted for, in weight: at most, and for certain.
  struct Wanted {
    std::int64_t most = 0;
    std::int64_t surely = 0;
  };

  // The value of a bit that a clause would have: the one that fulfils what is wanted.
  static std::size_t preferred(std::uint32_t literal, std::int64_t weight) {
    return ((literal & 1U) == 0) == (weight > 0) ? 1 : 0;
  }
  void count(std::size_t c, std::int64_t times);
  void look_again(std::uint32_t bit) {
    if (waits_[bit] != 0 || fixed_[bit] != kOpen) return;
    waits_[bit] = 1;
    waiting_.push_back(bit);
  }
  void consider(std::uint32_t bit);
  void fix(std::uint32_t bit, std::int8_t value);
  bool merge();

  const MaxCsp& problem_;
  std::vector<std::int8_t> fixed_;
  std::vector<std::uint32_t> variable_of_;
  std::vector<std::uint32_t> open_in_;  // by variable: open bits
  std::vector<std::uint32_t> occurs_, occurs_ends_;
  std::vector<std::uint32_t>
      left_;  // by clause: open literals; 0 when nothing hangs on it any more
  std::vector<std::int64_t> weight_;
  std::vector<std::array<Wanted, 2>> wanted_;  // by bit and value
  std::vector<std::uint32_t> waiting_;
  std::vector<std::uint8_t> waits_;
};

Reducer::Reducer(const MaxCsp& problem)
    : problem_(problem),
      fixed_(problem.bits(), kOpen),
      variable_of_(problem.bits()),
      open_in_(problem.variables()),
      occurs_ends_(problem.bits() + 1, 0),
      left_(problem.clauses()),
      weight_(problem.clauses()),
      wanted_(problem.bits()),
      waits_(problem.bits(), 0) {
  for (std::uint32_t v = 0; v < problem.variables(); ++v) {
    open_in_[v] = problem.begins()[v + 1] - problem.begins()[v];
    for (auto bit = problem.begins()[v]; bit < problem.begins()[v + 1]; ++bit) {
      variable_of_[bit] = v;
    }
  }
  for (std::size_t c = 0; c < problem.clauses(); ++c) {
    const auto [literals, weight] = problem.clause(c);
    left_[c] = static_cast<std::uint32_t>(literals.size());
    weight_[c] = weight;
    for (const auto literal : literals) ++occurs_ends_[(literal >> 1) + 1];
  }
  std::partial_sum(occurs_ends_.begin(), occurs_ends_.end(), occurs_ends_.begin());
  occurs_.resize(occurs_ends_.back());
  auto next = occurs_ends_;
  for (std::size_t c = 0; c < problem.clauses(); ++c) {
    for (const auto literal : problem.clause(c).literals) {
      occurs_[next[literal >> 1]++] = static_cast<std::uint32_t>(c);
    }
    count(c, 1);
  }
}

// Adds or removes what a clause wants.
void Reducer::count(std::size_t c, std::int64_t times) {
  const std::int64_t amount = times * std::abs(weight_[c]);
  for (const auto literal : problem_.clause(c).literals) {
    const std::uint32_t bit = literal >> 1;
    if (fixed_[bit] != kOpen) continue;
    Wanted& wanted = wanted_[bit][preferred(literal, weight_[c])];
    wanted.most += amount;
    if (left_[c] == 1) wanted.surely += amount;
    look_again(bit);
  }
}

void Reducer::consider(std::uint32_t bit) {
  const std::size_t v = variable_of_[bit];
  const bool may_be_none = problem_.may_be_none(v);
  const auto& [off, on] = wanted_[bit];
  if (!may_be_none && open_in_[v] == 1) {
    fix(bit, 1);
  } else if (off.most == 0 && on.most == 0) {
    return;  // nobody asks
  } else if (may_be_none && off.surely >= on.most) {
    fix(bit, 0);
  } else if (may_be_none && open_in_[v] == 1 && on.surely >= off.most) {
    fix(bit, 1);
  }
}

void Reducer::fix(std::uint32_t bit, std::int8_t value) {
  const std::size_t v = variable_of_[bit];
  fixed_[bit] = value;
  --open_in_[v];
  for (auto at = occurs_ends_[bit]; at < occurs_ends_[bit + 1]; ++at) {
    const auto c = occurs_[at];
    if (!alive(c)) continue;
    bool fulfils = false;
    for (const auto literal : problem_.clause(c).literals) {
      if (literal >> 1 == bit) fulfils = (value == 1) == ((literal & 1U) == 0);
    }
    // With one literal less: open ones are counted anew, as a clause of one bit is sure.
    if (!fulfils) {
      count(c, -1);
      left_[c] = 0;
    } else if (left_[c] == 2) {
      // The bit that was fixed still stood among the two, so the other was not yet sure.
      count(c, -1);
      left_[c] = 1;
      count(c, 1);
    } else {
      --left_[c];
    }
  }
  for (auto other = problem_.begins()[v]; other < problem_.begins()[v + 1]; ++other) {
    if (fixed_[other] != kOpen) continue;
    if (value == 1) {
      fix(other, 0);
    } else {
      look_again(other);
    }
  }
}

// Clauses with the same open literals become one; whether two were that wanted different things.
bool Reducer::merge() {
  std::vector<std::uint32_t> order;
  std::vector<std::vector<std::uint32_t>> literals(problem_.clauses());
  for (std::uint32_t c = 0; c < problem_.clauses(); ++c) {
    if (!alive(c)) continue;
    order.push_back(c);
    open_literals(c, literals[c]);
  }
  std::ranges::sort(order, [&](auto a, auto b) { return literals[a] < literals[b]; });
  bool any = false;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto before = order[i - 1];
    const auto now = order[i];
    if (literals[before] != literals[now]) continue;
    any = any || (weight_[before] > 0) != (weight_[now] > 0);
    const auto left = left_[now];
    count(before, -1);
    count(now, -1);
    left_[before] = 0;
    weight_[now] += weight_[before];
    left_[now] = weight_[now] == 0 ? 0 : left;
    if (weight_[now] != 0) count(now, 1);
  }
  return any;
}

void Reducer::run() {
  do {
    while (!waiting_.empty()) {
      const auto bit = waiting_.back();
      waiting_.pop_back();
      waits_[bit] = 0;
      if (fixed_[bit] == kOpen) consider(bit);
    }
  } while (merge());
}

// Sets of variables that clauses join.
class Groups {
 public:
  explicit Groups(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  std::uint32_t root(std::uint32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void join(std::uint32_t a, std::uint32_t b) { parent_[root(a)] = root(b); }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace

CspReduction::CspReduction(const MaxCsp& problem) : problem_(problem) {
  Reducer reducer(problem);
  reducer.run();

  Groups groups(problem.variables());
  std::vector<std::uint8_t> asked(problem.bits(), 0);
  std::vector<std::uint32_t> literals;
  for (std::size_t c = 0; c < problem.clauses(); ++c) {
    if (!reducer.alive(c)) continue;
    reducer.open_literals(c, literals);
    for (const auto literal : literals) {
      asked[literal >> 1] = 1;
      groups.join(static_cast<std::uint32_t>(reducer.variable_of(literal >> 1)),
                  static_cast<std::uint32_t>(reducer.variable_of(literals.front() >> 1)));
    }
  }

  constexpr auto kNone = static_cast<std::uint32_t>(-1);
  std::vector<std::uint32_t> part_of(problem.variables(), kNone);  // by the root of a group
  std::vector<std::uint32_t> new_bit(problem.bits(), kNone);
  for (std::uint32_t v = 0; v < problem.variables(); ++v) {
    bool others = problem.may_be_none(v);
    bool any = false;
    for (auto bit = problem.begins()[v]; bit < problem.begins()[v + 1]; ++bit) {
      any = any || asked[bit] != 0;
      others = others || (asked[bit] == 0 && reducer.open(bit));
    }
    if (!any) continue;
    auto& number = part_of[groups.root(v)];
    if (number == kNone) {
      number = static_cast<std::uint32_t>(parts_.size());
      parts_.push_back(MaxCsp());
      parts_.back().begins_.push_back(0);
    }
    MaxCsp& part = parts_[number];
    for (auto bit = problem.begins()[v]; bit < problem.begins()[v + 1]; ++bit) {
      if (asked[bit] == 0) continue;
      new_bit[bit] = static_cast<std::uint32_t>(part.indicators_.size());
      part.indicators_.push_back(bit);
    }
    part.begins_.push_back(static_cast<std::uint32_t>(part.indicators_.size()));
    part.may_be_none_.push_back(others ? 1 : 0);
  }
  for (std::size_t c = 0; c < problem.clauses(); ++c) {
    if (!reducer.alive(c)) continue;
    reducer.open_literals(c, literals);
    const auto v = static_cast<std::uint32_t>(reducer.variable_of(literals.front() >> 1));
    MaxCsp& part = parts_[part_of[groups.root(v)]];
    for (const auto literal : literals) {
      part.literals_.push_back(new_bit[literal >> 1] << 1 | (literal & 1U));
    }
    part.ends_.push_back(static_cast<std::uint32_t>(part.literals_.size()));
    part.weights_.push_back(reducer.weight(c));
  }
  for (auto& part : parts_) part.bound();
  fixed_ = reducer.take_fixed();
}

std::vector<std::uint8_t> CspReduction::assemble(std::span<const std::vector<std::uint8_t>> found,
                                                 std::span<const std::uint8_t> start) const {
  check(found.size() == parts_.size(), "each part has its bits");
  std::vector<std::uint8_t> out(problem_.bits(), 0);
  std::vector<std::uint8_t> asked(problem_.bits(), 0);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    for (std::size_t bit = 0; bit < parts_[p].bits(); ++bit) {
      const auto whole = parts_[p].indicators()[bit];
      asked[whole] = 1;
      out[whole] = found[p][bit];
    }
  }
  for (std::size_t v = 0; v < problem_.variables(); ++v) {
    const auto begin = problem_.begins()[v];
    const auto end = problem_.begins()[v + 1];
    bool any = false;
    for (auto bit = begin; bit < end; ++bit) {
      if (fixed_[bit] == 1) out[bit] = 1;
      any = any || out[bit] != 0;
    }
    // What nobody asks for any more: as it was, or the first where there must be one.
    const auto settle = [&](auto&& wish) {
      for (auto bit = begin; bit < end && !any; ++bit) {
        if (fixed_[bit] != kOpen || asked[bit] != 0 || !wish(bit)) continue;
        out[bit] = 1;
        any = true;
      }
    };
    settle([&](auto bit) { return start[bit] != 0; });
    if (!problem_.may_be_none(v)) settle([](auto) { return true; });
  }
  return out;
}

}  // namespace tandem
