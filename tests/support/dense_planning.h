// SPDX-License-Identifier: Apache-2.0
#pragma once
// Planning by brute force: queries and strategies as matrices over a whole, small domain.

#include <cstdint>
#include <span>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/optimize/strategy/strategy.h"

namespace tandem {

// Marginals of all sets of k columns.
PlanningProblem all_k_way_problem(std::vector<std::size_t> sizes, std::size_t k, NoiseKind noise);
// A few products over a domain of at most 200 cells. Without `ordered` only marginals.
PlanningProblem random_problem(Rng& rng, bool ordered);

// One row for each query, one column for each cell of the domain; without the item's weight.
DenseMatrix dense_queries(const PlanningProblem& problem, const ProductQueries& item);
DenseMatrix dense_map(const PlanningProblem& problem, const Strategy& strategy, std::size_t map);

// Sensitivity of a matrix by all of its columns, for one row a person.
double brute_force_sensitivity(const PlanningProblem& problem, const DenseMatrix& matrix);

// All items' queries, each times its weight, as one Gram matrix.
DenseMatrix dense_gram(const PlanningProblem& problem);
// The least squared error that any strategy reaches with Gaussian noise under add-remove, to within
// `tolerance` of itself: by the method of multipliers on the diagonal, with a dual bound.
double least_gaussian_error(const DenseMatrix& workload_gram, double tolerance);

}  // namespace tandem
