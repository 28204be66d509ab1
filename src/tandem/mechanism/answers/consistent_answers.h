// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers that could be those of a table: no count below zero, or whole numbers, and tables that
// agree with each other. Post-processing: they are nearer to the truth and no longer unbiased.

#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/base/rng.h"
#include "tandem/optimize/strategy/reconstruction.h"

namespace tandem {

enum class Consistency {
  None,         // least squares: unbiased, and perhaps negative
  NonNegative,  // no cell below zero; tables agree to within half a row
  Integer       // whole numbers too, which sum to a whole total in every table
};

class ConsistentAnswers {
 public:
  // The counts of the widest cliques that the problem asks about, nearest to what was measured.
  // Takes up to some hundred times as long as the reconstruction. REQUIRES: a strategy that knows
  // of residual spaces, and a kind that is not None.
  ConsistentAnswers(const PlanningProblem& problem, const Strategy& strategy,
                    const Reconstruction& reconstruction, Consistency kind, Rng& rng,
                    const Threads& threads);
  // As Reconstruction::answer.
  std::vector<double> answer(const ProductQueries& item) const;

 private:
  const PlanningProblem& problem_;
  std::vector<Clique> cliques_;
  std::vector<std::vector<double>> counts_;  // of each clique
};

// Sees a strategy of one product as one of the shape Sets, which it is too, and predicts its errors
// anew. REQUIRES: not several products.
void know_residuals(const PlanningProblem& problem, Strategy& strategy, const Threads& threads);

}  // namespace tandem
