// SPDX-License-Identifier: Apache-2.0
#pragma once
// Weighted marginals as a strategy (OPT_M), for Laplace and Gaussian noise.
//
//   McKenna, Miklau, Hay, Machanavajjhala. Optimizing error of high-dimensional statistical queries
//   under differential privacy. 2018.

#include "tandem/base/parallel.h"
#include "tandem/optimize/strategy/strategy.h"

namespace tandem {

// Marginals with the weights theta_A that make S^2 sum_R c_R / lambda_R least. With Gaussian noise
// the workload's marginals and their parts are enough, and the search is over a convex function.
// With Laplace noise wider marginals help: all sets of up to 16 columns, beyond that unions of two
// and three; the best of 20 starts.
Strategy plan_marginals(const PlanningProblem& problem, const Threads& threads);

// The same with p-identities for ordered columns: kron_A A_i in the place of the marginal A.
// REQUIRES: Laplace noise. For Gaussian noise residuals are better.
Strategy plan_ordered_marginals(const PlanningProblem& problem, const Threads& threads);

}  // namespace tandem
