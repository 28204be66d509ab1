// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gaussian noise on residuals: the closed form for marginals, and its extension to ordered columns.
//
//   Xiao, He, Zhang, Kifer. An optimal and scalable matrix mechanism for noisy marginals under
//   convex loss functions. 2023 (ResidualPlanner); and its extension to range and prefix queries
//   (ResidualPlanner+).

#include "tandem/base/parallel.h"
#include "tandem/optimize/strategy/strategy.h"

namespace tandem {

// For each residual space A of the workload one map kron_A M_i, with the weights that make the sum
// of squared errors least. M_i = n I - J for columns whose values count alike. For others M_i is
// the best strategy for the column's own queries without what it tells of the total, and the
// residual spaces are those of its split: so for a workload of one product, this too is the
// optimum. REQUIRES: Gaussian noise.
Strategy plan_residuals(const PlanningProblem& problem, const Threads& threads);

}  // namespace tandem
