// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/score_grid.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/multiversion.h"
#include "tandem/privacy/mutant.h"
#include "tandem/privacy/quick_units.h"
#include "tandem/privacy/sensitivity.h"

namespace tandem {

namespace {

constexpr int kFractionBits = 20;
constexpr std::int64_t kOne = std::int64_t{1} << kFractionBits;
static_assert(static_cast<double>(kOne) == QuickUnits::kUnits);
constexpr std::int64_t kLargestScore = std::int64_t{1} << 61;
constexpr std::size_t kWorthThreads = std::size_t{1} << 18;  // cells

// A public number on the grid of 2^-20.
std::int64_t on_grid(double value, double most, const char* what) {
  if (!(std::abs(value) <= most)) {
    throw InternalError(std::string("A ") + what + " of a score is too large or not a number.");
  }
  return static_cast<std::int64_t>(std::nearbyint(value * static_cast<double>(kOne)));
}

std::int64_t reference_on_grid(double value) { return on_grid(value, 0x1p40, "reference"); }

// A true count on the same grid. Saturating at 2^40 rows is a contraction: it keeps sensitivities.
std::int64_t count_on_grid(double count) {
  return static_cast<std::int64_t>(std::min(count, 0x1p40)) * kOne;
}

// The unit of weights and constants, by its exponent: the largest weight is from 2^29 to 2^30 of
// it. A weight of 2^-30 of the largest then still has 20 bits. Beyond 2^500 and 2^-500 is no use.
class WeightUnit {
 public:
  void include(double weight) {
    if (!(std::abs(weight) <= 0x1p500)) {
      throw InternalError("A weight of a score is too large or not a number.");
    }
    largest_ = std::max(largest_, std::abs(weight));
  }
  int exponent() const {
    if (largest_ < 0x1p-500) return 0;
    int bits = 0;
    std::frexp(largest_, &bits);  // largest_ is from 2^(bits - 1) to 2^bits
    return bits - 30;
  }

 private:
  double largest_ = 0.0;
};

std::int64_t weight_on_grid(double weight, int exponent) {
  return on_grid(std::ldexp(weight, -exponent), 0x1p30, "weight");
}

// A constant in units of 2^-40. Saturating at 2^124 of them is the saturation of a score: that is
// 2^53 times the largest weight or more, far beyond 2^61 steps.
Int128 constant_on_grid(double constant, int exponent) {
  if (std::isnan(constant)) throw InternalError("A constant of a score is not a number.");
  const double units = std::nearbyint(std::ldexp(constant, 2 * kFractionBits - exponent));
  return static_cast<Int128>(std::clamp(units, -0x1p124, 0x1p124));
}

// What is kept of a sum in units of 2^-20, and of a weighted sum in units of 2^-40. Weights are at
// most 2^50 units, so a weighted term is below 2^124 and nothing overflows. Saturating a term, and
// a running sum after each term, moves no two tables further apart than they were.
constexpr Int128 kMostUnits = static_cast<Int128>(1) << 74;
constexpr Int128 kMostWeighted = static_cast<Int128>(1) << 125;

Int128 saturated(Int128 value, Int128 most) { return std::clamp(value, -most, most); }

std::uint64_t distance(double count, double reference) {
  const std::int64_t difference = count_on_grid(count) - reference_on_grid(reference);
  return static_cast<std::uint64_t>(difference < 0 ? -difference : difference);
}

// How far one row of a person moves what `moved` says all their rows move together. Privacy: whole
// rows scale, so a person with k of their rows in a group moves it by k of these at most.
UInt128 for_one_row(double moved, const PrivacyUnit& unit) {
  const auto rows = static_cast<UInt128>(unit.rows_per_person);
  return (static_cast<UInt128>(std::ceil(moved)) + rows - 1) / rows;
}

// How far one row moves a term of weight one, in counts.
UInt128 term_sensitivity(const Score::Term& term, const Domain& domain, const PrivacyUnit& unit) {
  const auto of_marginal = sensitivity_of({term.reference->clique}, domain, unit);
  return for_one_row(
      term.shape == Score::Shape::L1Error ? of_marginal.l1.value() : of_marginal.largest, unit);
}

UInt128 weight_in_sensitivity(double weight, int exponent) {
  if (mutant(Mutant::IgnoreWeights)) {
    return static_cast<UInt128>(std::ldexp(1.0, kFractionBits - exponent));
  }
  const std::int64_t units = weight_on_grid(weight, exponent);
  return static_cast<UInt128>(units < 0 ? -units : units);
}

// From what one row moves, in units of 2^-40, to a grid of steps. One row moves a floored score by
// at most the next whole number of steps, m rows by at most m times that.
ScoreGrid grid_from(UInt128 units, int exponent, const PrivacyUnit& unit) {
  ScoreGrid grid;
  grid.exponent = exponent;
  int bits = 0;
  for (UInt128 rest = units; rest != 0; rest >>= 1) ++bits;
  grid.shift = std::max(0, bits - (kFractionBits + 1));
  const UInt128 slack = mutant(Mutant::NoSlack) ? 0 : (static_cast<UInt128>(1) << grid.shift) - 1;
  grid.sensitivity = static_cast<std::uint64_t>((units + slack) >> grid.shift) *
                     static_cast<std::uint64_t>(unit.rows_per_person);
  return grid;
}

// The exponent e for which a unit of a map is 2^e units of 2^-20.
int scored_exponent(const LinearMap& map) {
  const int exponent = map.unit_exponent() + kFractionBits;
  if (exponent < 0 || exponent > 2 * kFractionBits) {
    throw UsageError("A scored map has a unit of 2^-20 to 2^20; choose another.");
  }
  return exponent;
}

std::int64_t to_steps(Int128 units, int shift) {
  const Int128 steps = units >> shift;  // floors, also below zero
  return static_cast<std::int64_t>(
      std::clamp<Int128>(steps, -static_cast<Int128>(kLargestScore), kLargestScore));
}

// Sum over cells of |count - reference|. False if QuickUnits is of no use.
TANDEM_MULTIVERSION
bool add_up_quickly(const double* counts, const double* reference, std::size_t cells,
                    UInt128& sum) {
  constexpr std::size_t kBlock = 2048;  // of at most 2^51 each: below 2^63
  QuickUnits quick(1.0, CellScore::Absolute);
  for (std::size_t start = 0; start < cells; start += kBlock) {
    const std::size_t end = std::min(cells, start + kBlock);
    std::uint64_t part = 0;
    for (std::size_t i = start; i < end; ++i) {
      part += static_cast<std::uint64_t>(quick.of(counts[i], reference[i]));
    }
    sum += part;
  }
  return quick.all_within();
}

// In units of 2^-20.
Int128 evaluate_term(const Score::Term& term, const Factor& counts) {
  const auto& reference = term.reference->values;
  check(counts.values.size() == reference.size(), "a score's reference has a value for each cell");
  switch (term.shape) {
    case Score::Shape::L1Error: {
      UInt128 sum = 0;
      if (add_up_quickly(counts.values.data(), reference.data(), reference.size(), sum)) {
        return static_cast<Int128>(sum);
      }
      sum = 0;
      for (std::size_t i = 0; i < reference.size(); ++i) {
        sum += distance(counts.values[i], reference[i]);
      }
      return static_cast<Int128>(sum);
    }
    case Score::Shape::LargestError: {
      std::uint64_t largest = 0;
      for (const auto cell : term.cells) {
        check(cell < reference.size(), "a score names a cell of its marginal");
        largest = std::max(largest, distance(counts.values[cell], reference[cell]));
      }
      return static_cast<Int128>(largest);
    }
    case Score::Shape::AbsoluteError:
    case Score::Shape::SignedError: {
      const std::size_t cell = term.cells.front();
      check(cell < reference.size(), "a score names a cell of its marginal");
      if (term.shape == Score::Shape::AbsoluteError) {
        return static_cast<Int128>(distance(counts.values[cell], reference[cell]));
      }
      return static_cast<Int128>(count_on_grid(counts.values[cell])) -
             reference_on_grid(reference[cell]);
    }
  }
  throw InternalError("A score has an unknown shape.");
}

}  // namespace

ScoreGrid ScoreGrid::of(std::span<const Candidate> candidates, const Domain& domain,
                        const PrivacyUnit& unit) {
  WeightUnit weights;
  for (const auto& candidate : candidates) {
    for (const auto& term : candidate.score.terms()) weights.include(term.weight);
  }
  const int exponent = weights.exponent();
  UInt128 largest = 0;
  for (const auto& candidate : candidates) {
    UInt128 sum = 0;
    for (const auto& term : candidate.score.terms()) {
      const UInt128 moved =
          weight_in_sensitivity(term.weight, exponent) * term_sensitivity(term, domain, unit);
      sum = mutant(Mutant::LargestTermOnly) ? std::max(sum, moved) : sum + moved;
    }
    largest = std::max(largest, sum);
  }
  return grid_from(largest << kFractionBits, exponent, unit);
}

ScoreGrid ScoreGrid::of(std::span<const CellScores> scores, const Domain& domain,
                        const PrivacyUnit& unit) {
  WeightUnit weights;
  for (const auto& cells : scores) weights.include(cells.weight);
  const int weight_exponent = weights.exponent();
  UInt128 largest = 0;
  for (const auto& cells : scores) {
    const auto moved = for_one_row(sensitivity_of(cells.query, domain, unit).largest, unit);
    // A coefficient is at most 2^40, an exponent 40 and a weight 2^50: below 2^128 only together
    // with a bound.
    const int exponent = scored_exponent(cells.query.map);
    if (moved > static_cast<UInt128>(kMostUnits) >> exponent) {
      throw UsageError("The coefficients of a scored map are too large; choose a coarser unit.");
    }
    largest = std::max(largest,
                       weight_in_sensitivity(cells.weight, weight_exponent) * (moved << exponent));
  }
  return grid_from(largest, weight_exponent, unit);
}

double ScoreGrid::rate_for(double epsilon) const {
  const double rate =
      epsilon / (2.0 * static_cast<double>(std::max<std::uint64_t>(sensitivity, 1)));
  if (mutant(Mutant::RateRoundedUp)) return std::nextafter(rate, HUGE_VAL);
  return std::max(0.0, std::nextafter(rate, 0.0));
}

double ScoreGrid::epsilon_for(double rate) const {
  return std::nextafter(rate * step() * 2.0 * static_cast<double>(sensitivity), HUGE_VAL);
}

double ScoreGrid::step() const { return std::ldexp(1.0, exponent + shift - 2 * kFractionBits); }

std::vector<std::int64_t> evaluate(std::span<const Candidate> candidates, const ScoreGrid& grid,
                                   const TrueCounts& counts, Threads threads) {
  // Formulas share terms: JAM's two candidates for a marginal both have the model's error.
  struct Distinct {
    const Score::Term* term;
    const Factor* counts;
    Int128 value;
  };
  std::vector<Distinct> distinct;
  std::vector<std::size_t> terms;  // of one candidate after the other: which it is
  std::unordered_map<const Factor*, std::size_t> l1_errors;  // by reference
  std::size_t cells = 0;
  for (const auto& candidate : candidates) {
    for (const auto& term : candidate.score.terms()) {
      terms.push_back(distinct.size());
      if (term.shape == Score::Shape::L1Error) {
        terms.back() = l1_errors.emplace(term.reference.get(), distinct.size()).first->second;
      }
      if (terms.back() < distinct.size()) continue;
      distinct.push_back({&term, &counts(term.reference->clique), 0});
      cells += term.reference->values.size();
    }
  }
  parallel_for(distinct.size(), cells < kWorthThreads ? Threads{1} : threads, [&](std::size_t i) {
    distinct[i].value = evaluate_term(*distinct[i].term, *distinct[i].counts);
  });

  std::vector<std::int64_t> values;
  values.reserve(candidates.size());
  auto next = terms.begin();
  for (const auto& candidate : candidates) {
    Int128 units = constant_on_grid(candidate.score.constant(), grid.exponent);
    for (const auto& term : candidate.score.terms()) {
      const Int128 value = saturated(distinct[*next++].value, kMostUnits);
      units = saturated(units + weight_on_grid(term.weight, grid.exponent) * value, kMostWeighted);
    }
    values.push_back(to_steps(units, grid.shift));
  }
  return values;
}

namespace {

// For cells of a marginal and a weight of one step. False if QuickUnits is of no use.
TANDEM_MULTIVERSION
bool evaluate_quickly(const CellScores& cells, std::span<const double> counts,
                      std::span<std::int64_t> steps) {
  QuickUnits quick(cells.unit, cells.kind);
  const double* reference = cells.reference.data();
  if (cells.among.empty()) {
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = quick.of(counts[i], reference[i]);
  } else {
    const std::uint32_t* among = cells.among.data();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i] = quick.of(counts[i], reference[among[i]]);
    }
  }
  return quick.all_within();
}

void evaluate_cells(const CellScores& cells, std::span<const double> counts, const ScoreGrid& grid,
                    std::span<std::int64_t> steps) {
  const Int128 weight = weight_on_grid(cells.weight, grid.exponent);
  const auto step_of = [&](Int128 answer, double reference) {  // answer in units of 2^-20
    Int128 units = answer - reference_on_grid(reference * cells.unit);
    if (cells.kind == CellScore::Absolute && units < 0) units = -units;
    return to_steps(weight * units, grid.shift);
  };
  const auto output = [&](std::size_t i) { return cells.among.empty() ? i : cells.among[i]; };
  if (cells.query.map.is_identity()) {
    if (weight == static_cast<Int128>(1) << grid.shift && evaluate_quickly(cells, counts, steps)) {
      return;
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i] = step_of(count_on_grid(counts[i]), cells.reference[output(i)]);
    }
    return;
  }
  const int exponent = scored_exponent(cells.query.map);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Int128 sum = 0;
    for (const auto& [column, coefficient] : cells.query.map.row(output(i))) {
      sum += static_cast<Int128>(coefficient) * static_cast<std::int64_t>(counts[column]);
    }
    steps[i] =
        step_of(saturated(sum, kMostUnits >> exponent) * (static_cast<Int128>(1) << exponent),
                cells.reference[output(i)]);
  }
}

}  // namespace

std::vector<std::int64_t> evaluate(std::span<const CellScores> scores, const ScoreGrid& grid,
                                   const TrueCounts& counts, Threads threads) {
  std::vector<std::vector<double>> rooms(scores.size());
  std::vector<std::span<const double>> at_hand;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    at_hand.push_back(counts_to_evaluate(scores[i], counts(scores[i].query.clique), rooms[i]));
  }
  std::vector<std::int64_t> values;
  evaluate(scores, grid, at_hand, threads, values);
  return values;
}

std::span<const double> counts_to_evaluate(const CellScores& cells, const Factor& marginal,
                                           std::vector<double>& room) {
  const std::size_t outputs = cells.query.map.outputs(marginal.values.size());
  check(cells.reference.size() == outputs, "cell scores have a reference for each output");
  check(cells.among.empty() || cells.among.back() < outputs, "a cell to choose is an output");
  if (cells.among.empty() || !cells.query.map.is_identity()) return marginal.values;
  room.resize(cells.among.size());
  for (std::size_t i = 0; i < room.size(); ++i) room[i] = marginal.values[cells.among[i]];
  return room;
}

void evaluate(std::span<const CellScores> scores, const ScoreGrid& grid,
              std::span<const std::span<const double>> counts, Threads threads,
              std::vector<std::int64_t>& values) {
  std::vector<std::size_t> starts = {0};
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const CellScores& cells = scores[i];
    starts.push_back(starts.back() +
                     (cells.among.empty() ? cells.reference.size() : cells.among.size()));
    check(!cells.query.map.is_identity() || counts[i].size() == starts[i + 1] - starts[i],
          "each cell to choose has its count");
  }
  values.resize(starts.back());
  parallel_for(scores.size(), values.size() < kWorthThreads ? Threads{1} : threads,
               [&](std::size_t i) {
                 evaluate_cells(scores[i], counts[i], grid,
                                std::span(values).subspan(starts[i], starts[i + 1] - starts[i]));
               });
}

}  // namespace tandem
