// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scores as whole numbers on a public grid: the arithmetic behind selection. Inside the gate only.
//
// Weights and constants are first divided by a power of two, the same for all formulas of one
// selection, that brings the largest weight to between 2^29 and 2^30: so weights like 1/n and
// weights like n keep their digits. A reference or a weight is then rounded to a multiple of 2^-20,
// a constant to one of 2^-40. Counts are whole. So a score is exactly a whole number of units of
// 2^-40, computed in integers. It is then floored to a coarser grid, chosen from the sensitivity
// alone so that one row moves a score by 2^20 to 2^21 steps: flooring moves two scores at most to
// the next whole step apart, which the sensitivity in steps includes, row by row: k rows move a
// score by at most k/m of what m rows are declared to.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tandem/base/int128.h"
#include "tandem/base/parallel.h"
#include "tandem/privacy/exp_bounds.h"
#include "tandem/privacy/privacy_unit.h"
#include "tandem/privacy/score.h"

namespace tandem {

// True counts of a marginal, from the gate's own cache.
using TrueCounts = std::function<const Factor&(const Clique&)>;

// How fine the scores of one selection are, and what one person can do to them.
struct ScoreGrid {
  int exponent = 0;               // weights and constants are in units of 2^exponent
  int shift = 0;                  // one step is 2^shift units of 2^-40
  std::uint64_t sensitivity = 0;  // in steps, rounded up for each row of a person

  // Privacy: depends on formulas, domain and privacy unit, not on data.
  static ScoreGrid of(std::span<const Candidate> candidates, const Domain& domain,
                      const PrivacyUnit& unit);
  static ScoreGrid of(std::span<const CellScores> scores, const Domain& domain,
                      const PrivacyUnit& unit);

  // The rate per step at which a selection with parameter epsilon draws: epsilon / (2 sensitivity).
  // Privacy: rounded down.
  double rate_for(double epsilon) const;
  // The parameter epsilon of a draw at `rate` per 1 of score. Privacy: rounded up.
  double epsilon_for(double rate) const;
  double step() const;  // size of a step, in units of the score
};

// Privacy: each score's value on the grid. Exact, saturating at 2^61 steps, at counts of 2^40 and
// at terms of 2^54 (which, being contractions, keep the sensitivity). The factors that `counts`
// gives are held until the end.
std::vector<std::int64_t> evaluate(std::span<const Candidate> candidates, const ScoreGrid& grid,
                                   const TrueCounts& counts, Threads threads = {});
std::vector<std::int64_t> evaluate(std::span<const CellScores> scores, const ScoreGrid& grid,
                                   const TrueCounts& counts, Threads threads = {});

// The same from counts at hand, for each of the scores: of a marginal those of the outputs that can
// be chosen, of any other query those of all cells of its marginal.
void evaluate(std::span<const CellScores> scores, const ScoreGrid& grid,
              std::span<const std::span<const double>> counts, Threads threads,
              std::vector<std::int64_t>& values);
// The counts that takes, out of the marginal's: themselves, or gathered into `room`.
std::span<const double> counts_to_evaluate(const CellScores& cells, const Factor& marginal,
                                           std::vector<double>& room);

}  // namespace tandem
