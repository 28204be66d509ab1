// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/score_grid.h"

#include <algorithm>
#include <cmath>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/privacy/mutant.h"
#include "tandem/privacy/sensitivity.h"

namespace tandem {

namespace {

constexpr int kFractionBits = 20;
constexpr std::int64_t kOne = std::int64_t{1} << kFractionBits;
constexpr std::int64_t kLargestScore = std::int64_t{1} << 61;

// A public number on the grid of 2^-20.
std::int64_t on_grid(double value, double most, const char* what) {
  if (!(std::abs(value) <= most)) {
    throw InternalError(std::string("A ") + what + " of a score is too large or not a number.");
  }
  return static_cast<std::int64_t>(std::nearbyint(value * static_cast<double>(kOne)));
}

std::int64_t weight_on_grid(double weight) { return on_grid(weight, 0x1p30, "weight"); }
std::int64_t reference_on_grid(double value) { return on_grid(value, 0x1p40, "reference"); }

// A true count on the same grid. Counts are below 2^32 rows, times 2^20.
std::int64_t count_on_grid(double count) { return static_cast<std::int64_t>(count) * kOne; }

std::uint64_t distance(double count, double reference) {
  const std::int64_t difference = count_on_grid(count) - reference_on_grid(reference);
  return static_cast<std::uint64_t>(difference < 0 ? -difference : difference);
}

// How far one person moves a term of weight one, in counts.
UInt128 term_sensitivity(const Score::Term& term, const Domain& domain, const PrivacyUnit& unit) {
  const auto of_marginal = sensitivity_of({term.reference->clique}, domain, unit);
  const double moved =
      term.shape == Score::Shape::L1Error ? of_marginal.l1.value() : of_marginal.largest;
  return static_cast<UInt128>(std::ceil(moved));
}

// Weights times term sensitivities, in units of 2^-20 (weights) counts; to a grid of steps.
ScoreGrid grid_from(UInt128 weighted_sensitivity) {
  ScoreGrid grid;
  UInt128 units = weighted_sensitivity << kFractionBits;  // in units of 2^-40
  int bits = 0;
  for (UInt128 rest = units; rest != 0; rest >>= 1) ++bits;
  grid.shift = std::max(0, bits - (kFractionBits + 1));
  const UInt128 step = static_cast<UInt128>(1) << grid.shift;
  grid.sensitivity = static_cast<std::uint64_t>((units + step - 1) >> grid.shift);
  return grid;
}

std::int64_t to_steps(Int128 units, int shift) {
  const Int128 steps = units >> shift;  // floors, also below zero
  return static_cast<std::int64_t>(
      std::clamp<Int128>(steps, -static_cast<Int128>(kLargestScore), kLargestScore));
}

// In units of 2^-20.
Int128 evaluate_term(const Score::Term& term, const Factor& counts) {
  const auto& reference = term.reference->values;
  check(counts.values.size() == reference.size(), "a score's reference has a value for each cell");
  switch (term.shape) {
    case Score::Shape::L1Error: {
      UInt128 sum = 0;
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
  UInt128 largest = 0;
  for (const auto& candidate : candidates) {
    UInt128 sum = 0;
    for (const auto& term : candidate.score.terms()) {
      const std::int64_t weight = weight_on_grid(term.weight);
      sum += static_cast<UInt128>(weight < 0 ? -weight : weight) *
             term_sensitivity(term, domain, unit);
    }
    largest = std::max(largest, sum);
  }
  return grid_from(largest);
}

ScoreGrid ScoreGrid::of(std::span<const CellScores> scores, const Domain& domain,
                        const PrivacyUnit& unit) {
  UInt128 largest = 0;
  for (const auto& cells : scores) {
    const std::int64_t weight = weight_on_grid(cells.weight);
    const auto sensitivity = sensitivity_of(cells.query, domain, unit);
    const double moved =
        std::ceil(std::ldexp(sensitivity.largest, cells.query.map.unit_exponent()));
    largest = std::max(
        largest, static_cast<UInt128>(weight < 0 ? -weight : weight) * static_cast<UInt128>(moved));
  }
  return grid_from(largest);
}

double ScoreGrid::rate_for(double epsilon) const {
  const double rate =
      epsilon / (2.0 * static_cast<double>(std::max<std::uint64_t>(sensitivity, 1)));
  return std::max(0.0, std::nextafter(rate, 0.0));
}

double ScoreGrid::epsilon_for(double rate) const {
  return std::nextafter(rate / step() * 2.0 * static_cast<double>(sensitivity), HUGE_VAL);
}

double ScoreGrid::step() const { return std::ldexp(1.0, shift - 2 * kFractionBits); }

std::vector<std::int64_t> evaluate(std::span<const Candidate> candidates, const ScoreGrid& grid,
                                   const TrueCounts& counts) {
  std::vector<std::int64_t> values;
  values.reserve(candidates.size());
  for (const auto& candidate : candidates) {
    Int128 units =
        static_cast<Int128>(on_grid(candidate.score.constant(), 0x1p42, "constant")) * kOne;
    for (const auto& term : candidate.score.terms()) {
      units += weight_on_grid(term.weight) * evaluate_term(term, counts(term.reference->clique));
    }
    values.push_back(to_steps(units, grid.shift));
  }
  return values;
}

std::vector<std::int64_t> evaluate(std::span<const CellScores> scores, const ScoreGrid& grid,
                                   const TrueCounts& counts) {
  std::vector<std::int64_t> values;
  for (const auto& cells : scores) {
    const Int128 weight = weight_on_grid(cells.weight);
    const Factor& marginal = counts(cells.query.clique);
    const auto add = [&](Int128 answer, double reference) {  // answer in units of 2^-20
      Int128 units = answer - reference_on_grid(reference);
      if (cells.kind == CellScore::Absolute && units < 0) units = -units;
      values.push_back(to_steps(weight * units, grid.shift));
    };
    const std::size_t outputs = cells.query.map.outputs(marginal.values.size());
    check(cells.reference.size() == outputs, "cell scores have a reference for each output");
    if (cells.query.map.is_identity()) {
      for (std::size_t i = 0; i < outputs; ++i) {
        add(count_on_grid(marginal.values[i]), cells.reference[i]);
      }
      continue;
    }
    const int exponent = cells.query.map.unit_exponent() + kFractionBits;
    check(exponent >= 0, "the unit of a scored map is at least 2^-20");
    for (std::size_t i = 0; i < outputs; ++i) {
      Int128 sum = 0;
      for (const auto& [column, coefficient] : cells.query.map.row(i)) {
        sum +=
            static_cast<Int128>(coefficient) * static_cast<std::int64_t>(marginal.values[column]);
      }
      add(sum << exponent, cells.reference[i]);
    }
  }
  return values;
}

}  // namespace tandem
