// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/max_csp.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/rng.h"
#include "tandem/optimize/csp_reduction.h"

namespace tandem {

// ---- The problem ----

namespace {

struct Weighted {
  std::uint32_t conjunction;
  std::int64_t weight;
};

// Draws of one conjunction are one weight.
std::vector<Weighted> net_weights(std::span<const DrawnConjunction> drawn) {
  std::vector<DrawnConjunction> sorted(drawn.begin(), drawn.end());
  std::ranges::sort(sorted, {}, &DrawnConjunction::conjunction);
  std::vector<Weighted> out;
  for (const auto& [conjunction, negated] : sorted) {
    if (out.empty() || out.back().conjunction != conjunction) out.push_back({conjunction, 0});
    out.back().weight += negated ? -1 : 1;
  }
  std::erase_if(out, [](const Weighted& w) { return w.weight == 0; });
  return out;
}

// The literals of a conjunction without those that follow from others; nothing when no record
// fulfils them all.
bool simplify(const ConjunctionSet& set, std::span<const std::uint32_t> literals,
              std::vector<std::uint32_t>& out) {
  out.clear();
  const auto indicators = set.indicators();
  for (std::size_t i = 0; i < literals.size(); ++i) {
    const auto literal = literals[i];
    const auto& [attribute, code] = indicators[literal >> 1];
    const bool negated = (literal & 1U) != 0;
    if (set.domain()[attribute].size == 1) {
      if (negated) return false;
      continue;
    }
    bool implied = false;
    for (const auto other : literals) {
      if (other == literal) continue;
      if (other >> 1 == literal >> 1) return false;
      const bool same_column = indicators[other >> 1].attribute == attribute;
      if (!same_column || (other & 1U) != 0) continue;
      if (!negated) return false;  // two values at once
      implied = true;
    }
    if (!implied) out.push_back(literal);
  }
  return true;
}

}  // namespace

MaxCsp::MaxCsp(const ConjunctionSet& set, std::span<const DrawnConjunction> drawn)
    : drawn_(static_cast<std::int64_t>(drawn.size())) {
  for (const auto& draw : drawn) {
    check(draw.conjunction < set.size(), "what was drawn is in the set");
    if (draw.negated) ++base_;
  }
  std::vector<std::uint32_t> kept;
  for (const auto& [conjunction, weight] : net_weights(drawn)) {
    if (!simplify(set, set.literals(conjunction), kept)) continue;
    if (kept.empty()) {
      base_ += weight;
      continue;
    }
    literals_.insert(literals_.end(), kept.begin(), kept.end());
    ends_.push_back(static_cast<std::uint32_t>(literals_.size()));
    weights_.push_back(weight);
  }

  // Bits are the indicators that are left, in the set's order; so those of a column are neighbours.
  for (const auto literal : literals_) indicators_.push_back(literal >> 1);
  std::ranges::sort(indicators_);
  indicators_.erase(std::unique(indicators_.begin(), indicators_.end()), indicators_.end());
  for (auto& literal : literals_) {
    const auto at = std::ranges::lower_bound(indicators_, literal >> 1) - indicators_.begin();
    literal = static_cast<std::uint32_t>(at) << 1 | (literal & 1U);
  }
  for (std::size_t bit = 0; bit < indicators_.size(); ++bit) {
    const AttributeId attribute = set.indicators()[indicators_[bit]].attribute;
    const bool joins = bit > 0 && set.indicators()[indicators_[bit - 1]].attribute == attribute;
    if (!joins) begins_.push_back(static_cast<std::uint32_t>(bit));
  }
  begins_.push_back(static_cast<std::uint32_t>(indicators_.size()));
  for (std::size_t v = 0; v + 1 < begins_.size(); ++v) {
    const AttributeId attribute = set.indicators()[indicators_[begins_[v]]].attribute;
    const bool all_named = begins_[v + 1] - begins_[v] == set.domain()[attribute].size;
    may_be_none_.push_back(all_named ? 0 : 1);
  }

  bound();
}

// Two wanted conjunctions that contradict each other in a bit can't both hold: each such pair costs
// the smaller weight. Pairs are matched greedily, and no weight is used twice.
void MaxCsp::bound() {
  most_ = base_;
  for (const auto weight : weights_) most_ += std::max<std::int64_t>(weight, 0);
  std::vector<std::vector<std::uint32_t>> wanting(2 * bits());
  std::vector<std::int64_t> left(weights_);
  for (std::size_t c = 0; c < clauses(); ++c) {
    if (weights_[c] < 0) continue;
    for (const auto literal : clause(c).literals) {
      wanting[literal].push_back(static_cast<std::uint32_t>(c));
    }
  }
  for (std::size_t bit = 0; bit < bits(); ++bit) {
    auto& with = wanting[2 * bit];
    auto& without = wanting[2 * bit + 1];
    while (!with.empty() && !without.empty()) {
      auto& a = left[with.back()];
      auto& b = left[without.back()];
      const std::int64_t lost = std::min(a, b);
      most_ -= lost;
      a -= lost;
      b -= lost;
      if (a == 0) with.pop_back();
      if (b == 0) without.pop_back();
    }
  }
}

std::int64_t MaxCsp::satisfied(std::span<const std::uint8_t> bits) const {
  std::int64_t sum = base_;
  for (std::size_t c = 0; c < clauses(); ++c) {
    const auto [literals, weight] = clause(c);
    if (std::ranges::all_of(literals,
                            [&](auto l) { return (bits[l >> 1] != 0) == ((l & 1U) == 0); })) {
      sum += weight;
    }
  }
  return sum;
}

// ---- Tabu search ----

namespace {

// Variables by the gain of their best move: insertion and removal in constant time.
class GainBuckets {
 public:
  GainBuckets(std::size_t variables, std::int64_t largest)
      : largest_(largest),
        place_(variables, kOut),
        gain_(variables, 0),
        buckets_(static_cast<std::size_t>(2 * largest + 1)),
        occupied_(buckets_.size() / 64 + 1, 0) {}

  void put(std::uint32_t variable, std::int64_t gain) {
    if (place_[variable] != kOut) {
      if (gain_[variable] == gain) return;
      take_out(variable);
    }
    const auto b = static_cast<std::size_t>(gain + largest_);
    gain_[variable] = gain;
    place_[variable] = static_cast<std::uint32_t>(buckets_[b].size());
    buckets_[b].push_back(variable);
    occupied_[b / 64] |= std::uint64_t{1} << b % 64;
    highest_ = std::max(highest_, b / 64);
  }

  void take_out(std::uint32_t variable) {
    if (place_[variable] == kOut) return;
    const auto b = static_cast<std::size_t>(gain_[variable] + largest_);
    const std::uint32_t last = buckets_[b].back();
    buckets_[b][place_[variable]] = last;
    place_[last] = place_[variable];
    buckets_[b].pop_back();
    place_[variable] = kOut;
    if (buckets_[b].empty()) occupied_[b / 64] &= ~(std::uint64_t{1} << b % 64);
  }

  // Those of the highest gain; none when nothing is in.
  std::span<const std::uint32_t> best() {
    while (occupied_[highest_] == 0) {
      if (highest_ == 0) return {};
      --highest_;
    }
    const auto bit = 63 - static_cast<std::size_t>(std::countl_zero(occupied_[highest_]));
    return buckets_[64 * highest_ + bit];
  }

 private:
  static constexpr auto kOut = static_cast<std::uint32_t>(-1);
  std::int64_t largest_;
  std::vector<std::uint32_t> place_;
  std::vector<std::int64_t> gain_;
  std::vector<std::vector<std::uint32_t>> buckets_;
  std::vector<std::uint64_t> occupied_;
  std::size_t highest_ = 0;
};

class TabuSearch {
 public:
  TabuSearch(const MaxCsp& problem, std::span<const std::uint8_t> start, std::uint64_t seed);
  CspSolution run(std::uint64_t moves, const Threads& threads);

 private:
  static constexpr auto kNone = static_cast<std::uint32_t>(-1);
  static constexpr std::size_t kLeastTenure = 10;
  static constexpr std::size_t kTenureSpread = 10;
  static constexpr std::size_t kRing = kLeastTenure + kTenureSpread + 1;
  // Moves without a new best, before chance changes up to a third of the variables: of the best
  // record so far half of the time, otherwise of the one at hand.
  static constexpr std::uint64_t kPatience = 100;
  static constexpr std::uint64_t kPatiencePerBit = 5;
  static constexpr std::size_t kKick = 3;

  struct Move {
    std::int64_t gain;
    std::uint32_t to;  // a bit, or none of the variable's
  };
  struct Change {
    std::uint32_t variable;
    std::uint32_t from;
  };

  void start_from(std::span<const std::uint8_t> start);
  bool holds(std::uint32_t literal) const {
    return (bits_[literal >> 1] != 0) == ((literal & 1U) == 0);
  }
  // Adds `times` what a clause contributes to the gains of its bits.
  void contribute(std::size_t c, std::int64_t times);
  void flip(std::uint32_t bit);
  Move best_move(std::uint32_t variable) const;
  void refresh();  // gains of variables whose bits were touched
  void change(std::uint32_t variable, std::uint32_t to);
  void kick(std::vector<Change>& journal);
  std::uint32_t best_value(std::uint32_t variable);
  void rest(std::uint32_t variable);  // it was just changed

  const MaxCsp& problem_;
  Rng rng_;
  std::vector<std::uint32_t> variable_of_;           // by bit
  std::vector<std::uint32_t> occurs_, occurs_ends_;  // clauses of each bit
  std::vector<std::uint8_t> bits_;
  std::vector<std::uint32_t> value_;    // by variable: the bit that holds, or none
  std::vector<std::uint32_t> failing_;  // literals of each clause that don't hold
  std::vector<std::int64_t> gain_;      // by bit: of flipping it alone
  std::int64_t now_ = 0;
  std::uint64_t move_ = 0;
  std::vector<std::uint32_t> dirty_;
  std::vector<std::uint8_t> is_dirty_;
  std::vector<std::uint8_t> tabu_;
  std::vector<std::vector<std::uint32_t>> ring_;  // variables that are free again, by move
  std::vector<std::uint32_t> tabu_list_;
  std::vector<GainBuckets> buckets_;  // one, made when the largest gain is known
};

TabuSearch::TabuSearch(const MaxCsp& problem, std::span<const std::uint8_t> start,
                       std::uint64_t seed)
    : problem_(problem),
      rng_(seed),
      variable_of_(problem.bits()),
      occurs_ends_(problem.bits() + 1, 0),
      bits_(problem.bits(), 0),
      value_(problem.variables(), kNone),
      failing_(problem.clauses(), 0),
      gain_(problem.bits(), 0),
      is_dirty_(problem.variables(), 0),
      tabu_(problem.variables(), 0),
      ring_(kRing) {
  for (std::uint32_t v = 0; v < problem.variables(); ++v) {
    for (auto bit = problem.begins()[v]; bit < problem.begins()[v + 1]; ++bit) {
      variable_of_[bit] = v;
    }
  }
  std::vector<std::int64_t> at_stake(problem.bits(), 0);
  for (std::size_t c = 0; c < problem.clauses(); ++c) {
    const auto [literals, weight] = problem.clause(c);
    for (const auto literal : literals) {
      ++occurs_ends_[(literal >> 1) + 1];
      at_stake[literal >> 1] += std::abs(weight);
    }
  }
  for (std::size_t bit = 0; bit < problem.bits(); ++bit) occurs_ends_[bit + 1] += occurs_ends_[bit];
  occurs_.resize(occurs_ends_.back());
  auto next = occurs_ends_;
  for (std::size_t c = 0; c < problem.clauses(); ++c) {
    for (const auto literal : problem.clause(c).literals) {
      occurs_[next[literal >> 1]++] = static_cast<std::uint32_t>(c);
    }
  }
  const std::int64_t most = at_stake.empty() ? 0 : std::ranges::max(at_stake);
  buckets_.emplace_back(problem.variables(), 2 * most);
  start_from(start);
}

void TabuSearch::start_from(std::span<const std::uint8_t> start) {
  for (std::uint32_t v = 0; v < problem_.variables(); ++v) {
    const auto begin = problem_.begins()[v];
    for (auto bit = begin; bit < problem_.begins()[v + 1] && value_[v] == kNone; ++bit) {
      if (start[bit] != 0) value_[v] = bit;
    }
    if (value_[v] == kNone && !problem_.may_be_none(v)) value_[v] = begin;
    if (value_[v] != kNone) bits_[value_[v]] = 1;
  }
  now_ = problem_.base();
  for (std::size_t c = 0; c < problem_.clauses(); ++c) {
    const auto [literals, weight] = problem_.clause(c);
    for (const auto literal : literals) failing_[c] += holds(literal) ? 0 : 1;
    if (failing_[c] == 0) now_ += weight;
    if (failing_[c] <= 1) contribute(c, 1);
  }
  for (std::uint32_t v = 0; v < problem_.variables(); ++v) buckets_[0].put(v, best_move(v).gain);
  for (const auto v : dirty_) is_dirty_[v] = 0;
  dirty_.clear();
}

void TabuSearch::contribute(std::size_t c, std::int64_t times) {
  const auto [literals, weight] = problem_.clause(c);
  for (const auto literal : literals) {
    // A clause that holds is lost with any of its bits; one that fails by one bit is won with it.
    if (failing_[c] == 0) {
      gain_[literal >> 1] -= times * weight;
    } else if (!holds(literal)) {
      gain_[literal >> 1] += times * weight;
    } else {
      continue;
    }
    const auto v = variable_of_[literal >> 1];
    if (is_dirty_[v] == 0) {
      is_dirty_[v] = 1;
      dirty_.push_back(v);
    }
  }
}

void TabuSearch::flip(std::uint32_t bit) {
  now_ += gain_[bit];
  for (auto at = occurs_ends_[bit]; at < occurs_ends_[bit + 1]; ++at) {
    const auto c = occurs_[at];
    if (failing_[c] <= 1) contribute(c, -1);
  }
  bits_[bit] ^= 1;
  for (auto at = occurs_ends_[bit]; at < occurs_ends_[bit + 1]; ++at) {
    const auto c = occurs_[at];
    // A clause has a bit once, so the literal that changed is found by its bit.
    for (const auto literal : problem_.clause(c).literals) {
      if (literal >> 1 == bit) failing_[c] += holds(literal) ? -1U : 1U;
    }
    if (failing_[c] <= 1) contribute(c, 1);
  }
}

TabuSearch::Move TabuSearch::best_move(std::uint32_t variable) const {
  const auto now = value_[variable];
  const std::int64_t leaving = now == kNone ? 0 : gain_[now];
  Move best{0, kNone};
  bool any = now != kNone && problem_.may_be_none(variable);
  for (auto bit = problem_.begins()[variable]; bit < problem_.begins()[variable + 1]; ++bit) {
    if (bit == now || (any && gain_[bit] <= best.gain)) continue;
    best = {gain_[bit], bit};
    any = true;
  }
  if (!any) return {0, now};
  return {leaving + best.gain, best.to};
}

void TabuSearch::refresh() {
  for (const auto v : dirty_) {
    is_dirty_[v] = 0;
    if (tabu_[v] == 0) buckets_[0].put(v, best_move(v).gain);
  }
  dirty_.clear();
}

void TabuSearch::change(std::uint32_t variable, std::uint32_t to) {
  if (value_[variable] != kNone) flip(value_[variable]);
  if (to != kNone) flip(to);
  value_[variable] = to;
}

void TabuSearch::kick(std::vector<Change>& journal) {
  if (rng_.below(2) == 0) {
    while (!journal.empty()) {
      const auto [variable, from] = journal.back();
      journal.pop_back();
      if (value_[variable] != from) change(variable, from);
    }
  }
  const std::size_t variables = problem_.variables();
  const std::size_t changes = std::min(variables, kKick + rng_.below(1 + variables / kKick));
  for (std::size_t i = 0; i < changes; ++i) {
    const auto v = static_cast<std::uint32_t>(rng_.below(variables));
    const auto begin = problem_.begins()[v];
    const std::uint64_t bits = problem_.begins()[v + 1] - begin;
    const std::uint64_t drawn = rng_.below(bits + (problem_.may_be_none(v) ? 1 : 0));
    const auto to = drawn == bits ? kNone : begin + static_cast<std::uint32_t>(drawn);
    if (to == value_[v]) continue;
    journal.push_back({v, value_[v]});
    change(v, to);
  }
  refresh();
}

// Of the best moves of a variable, any: the first alone would lead round in circles where many
// values are as good.
std::uint32_t TabuSearch::best_value(std::uint32_t variable) {
  const auto now = value_[variable];
  const Move best = best_move(variable);
  const std::int64_t wanted = best.gain - (now == kNone ? 0 : gain_[now]);
  std::uint32_t out = best.to;
  std::uint64_t seen = 0;
  if (now != kNone && problem_.may_be_none(variable) && wanted == 0) {
    out = kNone;
    seen = 1;
  }
  for (auto bit = problem_.begins()[variable]; bit < problem_.begins()[variable + 1]; ++bit) {
    if (bit != now && gain_[bit] == wanted && rng_.below(++seen) == 0) out = bit;
  }
  return out;
}

void TabuSearch::rest(std::uint32_t variable) {
  if (tabu_[variable] != 0) return;
  const std::size_t tenure =
      std::min(kLeastTenure + rng_.below(kTenureSpread), problem_.variables() / 2);
  if (tenure == 0) return;
  tabu_[variable] = 1;
  buckets_[0].take_out(variable);
  tabu_list_.push_back(variable);
  ring_[(move_ + tenure) % kRing].push_back(variable);
}

CspSolution TabuSearch::run(std::uint64_t moves, const Threads& threads) {
  constexpr std::uint64_t kMovesBetweenChecks = 4096;
  const std::size_t variables = problem_.variables();
  std::int64_t best = now_;
  std::vector<Change> since_best;
  std::uint64_t patience_ends = 0;
  const auto be_patient = [&] {
    patience_ends = move_ + kPatience + kPatiencePerBit * problem_.bits();
  };
  be_patient();
  for (; move_ < moves && best < problem_.most() && variables > 0; ++move_) {
    if (move_ % kMovesBetweenChecks == 0) threads.check();
    auto& free_again = ring_[move_ % kRing];
    for (const auto v : free_again) {
      tabu_[v] = 0;
      buckets_[0].put(v, best_move(v).gain);
      std::erase(tabu_list_, v);
    }
    free_again.clear();

    // A variable that was just changed rests, unless its move leads to the best so far.
    std::uint32_t chosen = kNone;
    for (const auto v : tabu_list_) {
      if (now_ + best_move(v).gain > best) chosen = v;
    }
    if (chosen == kNone) {
      const auto candidates = buckets_[0].best();
      if (candidates.empty()) continue;
      chosen = candidates[rng_.below(candidates.size())];
    }
    since_best.push_back({chosen, value_[chosen]});
    change(chosen, best_value(chosen));
    rest(chosen);
    refresh();
    if (move_ >= patience_ends) {
      kick(since_best);
      be_patient();
    }
    if (now_ > best) {
      best = now_;
      since_best.clear();
      be_patient();
    }
  }
  for (std::size_t i = since_best.size(); i-- > 0;) {
    const auto [variable, from] = since_best[i];
    if (value_[variable] != kNone) bits_[value_[variable]] = 0;
    if (from != kNone) bits_[from] = 1;
    value_[variable] = from;
  }
  return {std::move(bits_), best, best == problem_.most(), move_};
}

// A small problem gets more, for its moves are cheap; one of a few bits does not need them.
std::uint64_t moves_for(const MaxCsp& part, const TabuOptions& options) {
  constexpr std::size_t kMovesPerBit = 500;
  constexpr std::size_t kFewClauses = 1000;
  constexpr std::size_t kMostTimes = 4;
  const std::size_t times = std::clamp(kFewClauses / std::max<std::size_t>(part.clauses(), 1),
                                       std::size_t{1}, kMostTimes);
  return std::max(options.moves_per_bit * part.bits(),
                  std::min(options.least_moves * times, kMovesPerBit * part.bits()));
}

}  // namespace

CspSolution search_tabu(const MaxCsp& problem, std::span<const std::uint8_t> start,
                        const TabuOptions& options, const Threads& threads) {
  check(start.size() == problem.bits(), "a search starts from a value for each bit");
  const CspReduction reduction(problem);
  CspSolution out;
  std::vector<std::vector<std::uint8_t>> found;
  std::int64_t missing = 0;  // at most so much more could be satisfied
  Rng seeds(options.seed);
  for (const MaxCsp& part : reduction.parts()) {
    std::vector<std::uint8_t> from;
    for (const auto bit : part.indicators()) from.push_back(start[bit]);
    const std::uint64_t moves = moves_for(part, options);
    auto solution = TabuSearch(part, from, seeds.next()).run(moves, threads);
    missing += part.most() - solution.satisfied;
    out.moves += solution.moves;
    found.push_back(std::move(solution.bits));
  }
  out.bits = reduction.assemble(found, start);
  out.satisfied = problem.satisfied(out.bits);
  out.optimal = missing == 0;
  return out;
}

// ---- Best responses ----

namespace {

// Calls f(attribute, begin, end) with the range of a set's indicators that each column has.
template <class F>
void for_each_column(std::span<const Indicator> indicators, F&& f) {
  for (std::size_t begin = 0; begin < indicators.size();) {
    std::size_t end = begin;
    while (end < indicators.size() && indicators[end].attribute == indicators[begin].attribute) {
      ++end;
    }
    f(indicators[begin].attribute, begin, end);
    begin = end;
  }
}

// The least code that is not in this ascending list; the column's size when all are.
template <class CodeAt>
Code least_other(std::size_t listed, const CodeAt& code_at) {
  Code code = 0;
  for (std::size_t i = 0; i < listed && code_at(i) == code; ++i) ++code;
  return code;
}

// Lets every column that took part have one value: the one that was found; otherwise the one that
// it had, if that took no part; otherwise the least that took no part.
void settle_columns(const ConjunctionSet& set, std::span<const std::uint32_t> touched,
                    std::span<const std::uint8_t> start, std::span<std::uint8_t> holds) {
  const auto indicators = set.indicators();
  std::size_t at = 0;
  for_each_column(indicators, [&](AttributeId, std::size_t begin, std::size_t end) {
    const std::size_t first = at;
    while (at < touched.size() && touched[at] < end) ++at;
    const auto mine = touched.subspan(first, at - first);
    if (mine.empty()) return;
    const bool found = std::ranges::any_of(mine, [&](auto i) { return holds[i] != 0; });
    const bool left = std::ranges::any_of(mine, [&](auto i) { return start[i] != 0; });
    if (!found && !left) return;
    for (std::size_t i = begin; i < end; ++i) {
      if (!std::ranges::binary_search(mine, i)) holds[i] = 0;
    }
    if (found) return;
    const Code code =
        least_other(mine.size(), [&](std::size_t i) { return indicators[mine[i]].code; });
    for (std::size_t i = begin; i < end; ++i) holds[i] = indicators[i].code == code ? 1 : 0;
  });
}

}  // namespace

BestResponse best_response(const ConjunctionSet& set, std::span<const DrawnConjunction> drawn,
                           std::span<const std::uint8_t> start, const BestResponseOptions& options,
                           const Threads& threads) {
  check(start.size() == set.indicators().size(), "a record has a truth for each indicator");
  const MaxCsp problem(set, drawn);
  std::vector<std::uint8_t> from(problem.bits());
  for (std::size_t bit = 0; bit < from.size(); ++bit) from[bit] = start[problem.indicators()[bit]];
  CspSolution solution = search_tabu(problem, from, options.tabu, threads);
  if (options.solver == CspSolver::Exact && !solution.optimal) {
    solution = solve_exactly(problem, solution.bits, options.exact, threads);
  } else if (options.solver == CspSolver::Auto && !solution.optimal &&
             has_exact_solver(options.exact) && problem.drawn() <= kMostCertifiedDraws) {
    const CspSolution exact = solve_exactly(problem, solution.bits, options.exact, threads);
    solution.failed = exact.failed;
    solution.optimal = exact.optimal && exact.satisfied == solution.satisfied;
  }

  BestResponse out;
  out.holds.assign(start.begin(), start.end());
  out.satisfied = solution.satisfied;
  out.drawn = problem.drawn();
  out.optimal = solution.optimal;
  out.failed = solution.failed;
  out.touched.assign(problem.indicators().begin(), problem.indicators().end());
  for (std::size_t bit = 0; bit < problem.bits(); ++bit) {
    out.holds[problem.indicators()[bit]] = solution.bits[bit];
  }
  settle_columns(set, out.touched, start, out.holds);
  return out;
}

std::vector<std::uint8_t> indicators_of_record(const ConjunctionSet& set,
                                               std::span<const Code> record) {
  std::vector<std::uint8_t> out;
  out.reserve(set.indicators().size());
  for (const auto& [attribute, code] : set.indicators()) {
    out.push_back(record[attribute] == code ? 1 : 0);
  }
  return out;
}

void put_indicators(const ConjunctionSet& set, const BestResponse& answer, std::span<Code> record) {
  const auto indicators = set.indicators();
  std::vector<Code> taken;  // codes that are known not to hold
  for_each_column(indicators, [&](AttributeId attribute, std::size_t begin, std::size_t end) {
    taken.clear();
    const bool all_named = end - begin == set.domain()[attribute].size;
    for (std::size_t i = begin; i < end; ++i) {
      if (answer.holds[i] != 0) {
        record[attribute] = indicators[i].code;
        return;
      }
      if (!all_named || std::ranges::binary_search(answer.touched, i)) {
        taken.push_back(indicators[i].code);
      }
    }
    if (!std::ranges::binary_search(taken, record[attribute])) return;
    const Code code = least_other(taken.size(), [&](std::size_t i) { return taken[i]; });
    if (code < set.domain()[attribute].size) record[attribute] = code;
  });
}

}  // namespace tandem
