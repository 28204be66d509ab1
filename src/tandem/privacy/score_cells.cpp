// SPDX-License-Identifier: Apache-2.0
// Scores of single outputs of a query: millions at once.
#include <algorithm>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/multiversion.h"
#include "tandem/privacy/quick_units.h"
#include "tandem/privacy/score_grid.h"
#include "tandem/privacy/score_units.h"
#include "tandem/privacy/sensitivity.h"

namespace tandem {

using namespace score_units;

namespace {

// The exponent e for which a unit of a map is 2^e units of 2^-20.
int scored_exponent(const LinearMap& map) {
  const int exponent = map.unit_exponent() + kFractionBits;
  if (exponent < 0 || exponent > 2 * kFractionBits) {
    throw UsageError("A scored map has a unit of 2^-20 to 2^20; choose another.");
  }
  return exponent;
}

}  // namespace

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
  parallel_for(scores.size(), values.size() < kWorthThreads ? threads.one() : threads,
               [&](std::size_t i) {
                 evaluate_cells(scores[i], counts[i], grid,
                                std::span(values).subspan(starts[i], starts[i + 1] - starts[i]));
               });
}

}  // namespace tandem
