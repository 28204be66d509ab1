// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many rounds, at what price each: from public data at first, then from answers released.
//
// A selection among cells can see errors of a few times its own noise. So rounds start cheap, which
// is enough to find what is badly wrong; and as soon as what was selected turns out to be no larger
// than the noise that selected it, the next rounds cost twice as much. Good public data ends in a
// few dear rounds, bad public data in many cheap ones first. The filter keeps any such course
// within the budget.

#include <span>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/mechanism/weights/multiplicative_weights.h"
#include "tandem/privacy/curator.h"

namespace tandem {

// In counts: a cell whose error is smaller by this much is 1/e times as likely to be selected.
double selection_noise(const Curator& curator, std::span<const CellScores> errors, Cost cost,
                       Selection how);

// The largest error, in counts of n rows, that public data of its size leaves by chance if it is a
// sample of the same population: from the difference between two random halves of it.
double sampling_error(const PublicData& data, const Workload& workload, double n, Threads threads);

struct RoundPlan {
  double first_share = 0.0;  // of the budget, for the first round; 0: no round is worth it
  double seen_error = 0.0;   // the smallest error that the first selection can see, in counts
};

// Privacy: public values only.
RoundPlan plan_rounds(const Curator& curator, std::span<const CellScores> errors,
                      double expected_error, double n, double select_share, Selection how);

struct RoundOptions {
  double prior_rows = 1.0;  // what A_0 counts as
  double select_share = 0.5;
  // Cells to select from hold at least this many times a selection's noise in A; 0: as they are.
  double smallest = 0.0;
  Selection selection = Selection::Exponential;
};

// Selects, measures and fits, until the budget is spent.
std::vector<Measurement> adaptive_rounds(Curator& curator, MultiplicativeWeights& A,
                                         const RoundPlan& plan, const RoundOptions& options);

}  // namespace tandem
