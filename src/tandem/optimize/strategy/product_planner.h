// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kronecker products of column strategies: one for the whole workload (OPT_x), or one for each of
// its widest cliques (OPT_+).
//
//   McKenna, Miklau, Hay, Machanavajjhala. Optimizing error of high-dimensional statistical queries
//   under differential privacy. 2018.

#include "tandem/base/parallel.h"
#include "tandem/optimize/strategy/strategy.h"

namespace tandem {

// One product over all columns that the workload asks about. Each column's strategy is the best for
// what the others leave to it, in turn until nothing is gained. With Gaussian noise and a workload
// of one product, this is the optimum: products of optima are optimal for products.
Strategy plan_product(const PlanningProblem& problem, const Threads& threads);

// Its expected squared error, before its numbers are rounded: also where it is too large to be
// measured.
double error_of_product(const PlanningProblem& problem, const Threads& threads);

// A product for each widest clique, with shares of the sensitivity by their errors.
Strategy plan_products(const PlanningProblem& problem, const Threads& threads);

}  // namespace tandem
