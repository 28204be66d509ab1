// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers made consistent: marginals without negative counts that agree with each other. It is
// post-processing, and no longer unbiased: error bars are those of the unprojected answers.
//
//   Mullins, Fuentes, Xiao, Kifer, Musco, Sheldon. Efficient and private marginal reconstruction
//   with local non-negativity. 2024 (GReM-LNN).

#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/base/rng.h"
#include "tandem/optimize/strategy/reconstruction.h"

namespace tandem {

struct NonNegativeFit {
  ResidualTables residuals;
  double most_negative = 0.0;  // how far the least count of any clique is below zero
  int steps = 0;
};

// The residuals nearest to the reconstructed ones, each measured by its own covariance, for which
// no marginal of `cliques` has a count below -`tolerance`; or the nearest after `steps` steps. Dual
// ascent: one multiplier for each cell, and every step splits and joins each marginal once.
// REQUIRES: a strategy of the shape Sets.
NonNegativeFit fit_non_negative(const PlanningProblem& problem, const Strategy& strategy,
                                const Reconstruction& reconstruction,
                                std::span<const Clique> cliques, double tolerance, int steps,
                                const Threads& threads);

// A marginal of the fit as whole numbers, none below zero, that sum to `total`.
std::vector<double> whole_counts(const Reconstruction& reconstruction, const NonNegativeFit& fit,
                                 const Clique& clique, std::size_t total, Rng& rng);

}  // namespace tandem
