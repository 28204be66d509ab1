// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/projection_routes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

namespace tandem {
namespace {

// Of the cliques where a marginal could be put together, so many are weighed against each other, if
// their tables have at least so many cells; otherwise the weighing would cost more than it saves.
constexpr std::size_t kWeighed = 8;
constexpr std::size_t kWorthWeighing = 4096;
// A cell of a product is written, put in order and read again: as much as so many multiplications.
constexpr double kWritingCell = 16.0;

}  // namespace

ProjectionRoutes::ProjectionRoutes(const GraphicalModel& model)
    : model_(model), attributes_(model.domain().size()), words_((model.domain().size() + 63) / 64) {
  const auto& tree = model.tree();
  const std::size_t count = tree.cliques.size();
  std::vector<std::vector<std::size_t>> neighbours(count);
  for (std::size_t c = 1; c < count; ++c) {
    neighbours[c].push_back(tree.parent[c]);
    neighbours[tree.parent[c]].push_back(c);
  }
  const auto nowhere = static_cast<std::uint32_t>(count);
  toward_.assign(count * attributes_, nowhere);
  std::vector<std::pair<std::size_t, std::size_t>> stack;  // a clique, and where from
  for (std::size_t c = 0; c < count; ++c) {
    std::uint32_t* mine = toward_.data() + c * attributes_;
    for (const auto id : tree.cliques[c]) mine[id] = static_cast<std::uint32_t>(c);
    for (const auto neighbour : neighbours[c]) {
      stack.assign(1, {neighbour, c});
      while (!stack.empty()) {
        const auto [at, from] = stack.back();
        stack.pop_back();
        for (const auto id : tree.cliques[at]) {
          if (mine[id] == nowhere) mine[id] = static_cast<std::uint32_t>(neighbour);
        }
        for (const auto next : neighbours[at]) {
          if (next != from) stack.emplace_back(next, at);
        }
      }
    }
  }

  std::vector<std::size_t> by_width(count);
  for (std::size_t c = 0; c < count; ++c) by_width[c] = c;
  const auto& separators = tree.separators;
  std::ranges::sort(by_width, [&](std::size_t a, std::size_t b) {
    const std::size_t wide_a = model.domain().cells(separators[a]);
    const std::size_t wide_b = model.domain().cells(separators[b]);
    return wide_a != wide_b ? wide_a > wide_b : separators[a] < separators[b];
  });
  class_of_.assign(count, 0);
  for (std::size_t i = 1; i < count; ++i) {
    const bool same = separators[by_width[i]] == separators[by_width[i - 1]];
    class_of_[by_width[i]] = class_of_[by_width[i - 1]] + (same ? 0 : 1);
  }

  bits_.assign(count * words_, 0);
  for (std::size_t c = 0; c < count; ++c) {
    for (const auto id : separators[c]) {
      bits_[c * words_ + id / 64] |= std::uint64_t{1} << (id % 64);
    }
    if (c > 0 && separators[c].size() == 1) {
      narrow_.push_back(edge(c, tree.parent[c]));
      narrow_.push_back(edge(tree.parent[c], c));
    }
  }
}

std::vector<ProjectionRoutes::StandIn> ProjectionRoutes::stand_ins(const Clique& clique) const {
  std::vector<StandIn> out;
  for (const auto edge : narrow_) {
    const std::size_t from = from_of(edge);
    const std::size_t to = to_of(edge);
    const auto is_beyond = [&](AttributeId id) { return toward(to, id) == from; };
    if (std::ranges::count_if(clique, is_beyond) != 1) continue;
    out.push_back({*std::ranges::find_if(clique, is_beyond), separator(from, to)[0]});
  }
  return out;
}

ProjectionRoutes::Route ProjectionRoutes::from(std::size_t meet,
                                               std::span<const AttributeId> ids) const {
  Route out;
  out.meet = meet;
  std::vector<AttributeId> here;
  for (const auto id : ids) {
    const std::size_t side = toward(meet, id);
    if (side == meet) {
      here.push_back(id);
      continue;
    }
    auto at = std::ranges::find(out.branches, side, &Branch::side);
    if (at == out.branches.end()) at = out.branches.insert(at, {side, {}});
    at->ids.push_back(id);
  }
  out.here = Clique(std::move(here));
  std::ranges::sort(out.branches, {}, [&](const Branch& branch) {
    return std::pair(width_class(meet, branch.side), branch.ids.front());
  });
  std::vector<std::uint64_t> keep(words_, 0);
  for (const auto id : out.here) keep[id / 64] |= std::uint64_t{1} << (id % 64);
  std::vector<std::size_t> sides;
  for (const auto& branch : out.branches) sides.push_back(branch.side);
  for (auto branch = out.branches.begin(); sides.size() > 1; ++branch) {
    const auto next = static_cast<std::ptrdiff_t>(next_side(meet, sides, keep).first);
    sides.erase(sides.begin() + next);
    std::rotate(branch, branch + next, branch + next + 1);
  }
  return out;
}

double ProjectionRoutes::cells(std::size_t word, std::uint64_t set) const {
  double out = 1.0;
  for (; set != 0; set &= set - 1) {
    const auto id = word * 64 + static_cast<std::size_t>(std::countr_zero(set));
    out *= model_.domain()[static_cast<AttributeId>(id)].size;
  }
  return out;
}

// The side whose product sums most out, so that those after it are small; and how many cells.
std::pair<std::size_t, double> ProjectionRoutes::next_side(
    std::size_t meet, std::span<const std::size_t> sides,
    std::span<const std::uint64_t> keep) const {
  std::pair<std::size_t, double> out{0, 0.0};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    double summed = 1.0;
    for (std::size_t w = 0; w < words_; ++w) {
      std::uint64_t set = separator_bits(meet, sides[i])[w] & ~keep[w];
      for (std::size_t j = 0; j < sides.size() && set != 0; ++j) {
        if (j != i) set &= ~separator_bits(meet, sides[j])[w];
      }
      summed *= cells(w, set);
    }
    if (summed > out.second) out = {i, summed};
  }
  return out;
}

// Multiplications that the products take, and a share of the sum that they start from.
double ProjectionRoutes::work(std::size_t from, std::size_t to,
                              std::span<const AttributeId> ids) const {
  std::vector<std::uint64_t> keep(words_, 0);
  const auto add_separator = [&](std::size_t neighbour, std::vector<std::uint64_t>& set) {
    for (std::size_t w = 0; w < words_; ++w) set[w] |= separator_bits(from, neighbour)[w];
  };
  if (to != from) add_separator(to, keep);
  for (const auto id : ids) {
    if (toward(from, id) == from) keep[id / 64] |= std::uint64_t{1} << (id % 64);
  }
  constexpr double kShareOfSum = 1.0 / 16.0;  // sums are quick, and shared
  double cost = kShareOfSum * static_cast<double>(model_.belief(from).size());
  auto needed = keep;
  std::vector<std::size_t> sides;
  std::vector<double> codes;  // of what they bring
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t side = toward(from, ids[i]);
    if (side == from || std::ranges::find(sides, side) != sides.end()) continue;
    add_separator(side, needed);
    sides.push_back(side);
    codes.push_back(1.0);
    std::vector<AttributeId> with;
    for (const auto id : ids.subspan(i)) {
      if (toward(from, id) != side) continue;
      codes.back() *= model_.domain()[id].size;
      with.push_back(id);
    }
    if (with.size() > 1) cost += work(side, from, with);
  }
  double table = 1.0;
  for (std::size_t w = 0; w < words_; ++w) table *= cells(w, needed[w]);
  while (!sides.empty()) {
    const auto [next, summed] = next_side(from, sides, keep);
    cost += table * codes[next] * (1.0 + kWritingCell / summed);
    table *= codes[next] / summed;
    sides.erase(sides.begin() + static_cast<std::ptrdiff_t>(next));
    codes.erase(codes.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return cost;
}

ProjectionRoutes::Route ProjectionRoutes::route(const Clique& clique) const {
  const std::size_t count = model_.tree().cliques.size();
  // Promising is where no side brings more attributes than it must, few are outside, and the table
  // is small.
  using Promise = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
  std::array<Promise, kWeighed> promising;  // the best so far, in order
  std::size_t found = 0;
  for (std::size_t c = 0; c < count; ++c) {
    const std::uint32_t* sides = toward_.data() + c * attributes_;
    std::size_t most = 0;
    std::size_t outside = 0;
    for (std::size_t i = 0; i < clique.size(); ++i) {
      const std::uint32_t side = sides[clique[i]];
      if (side == c) continue;
      ++outside;
      std::size_t brought = 1;
      for (std::size_t j = 0; j < i; ++j) brought += sides[clique[j]] == side ? 1 : 0;
      most = std::max(most, brought);
    }
    const Promise mine{most, outside, model_.belief(c).size(), c};
    if (found == kWeighed && promising.back() < mine) continue;
    std::size_t at = found < kWeighed ? found++ : kWeighed - 1;
    for (; at > 0 && mine < promising[at - 1]; --at) promising[at] = promising[at - 1];
    promising[at] = mine;
  }
  const auto [most, outside, cells, first] = promising.front();
  std::size_t meet = first;
  double least = 0.0;
  if (outside > 0 && cells >= kWorthWeighing) {
    least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < found; ++i) {
      const std::size_t c = std::get<3>(promising[i]);
      const double cost = work(c, c, clique.ids());
      if (cost < least) std::tie(least, meet) = std::pair(cost, c);
    }
  }
  Route out = from(meet, clique.ids());
  out.work = least;
  return out;
}

}  // namespace tandem
