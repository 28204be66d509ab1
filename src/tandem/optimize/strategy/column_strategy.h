// SPDX-License-Identifier: Apache-2.0
#pragma once
// The best strategy for the queries of one column.
//
//   McKenna, Miklau, Hay, Machanavajjhala. Optimizing error of high-dimensional statistical queries
//   under differential privacy. 2018: p-identities (OPT_0).
//   Denisov, McMahan, Rush, Smith, Thakurta. Improved differential privacy for SGD via optimal
//   private linear operators on adaptive streams. 2022: the fixed point for Gaussian noise.

#include <cstddef>
#include <cstdint>

#include "tandem/base/parallel.h"
#include "tandem/optimize/strategy/dense_matrix.h"
#include "tandem/optimize/strategy/strategy.h"
#include "tandem/query/measurement.h"

namespace tandem {

// The X >= 0 with a diagonal of at most 1 and the least tr(G X^+): the Gram matrix of the best
// strategy for Gaussian noise under add-remove. G = W'W may be singular, as where W 1 = 0; X is
// then too, in the same directions. `gap` bounds how far the error is above the optimum, as a
// share.
struct GaussianOptimum {
  DenseMatrix gram;  // X
  double error = 0.0;
  double gap = 0.0;
};
// Costs about 10 n^3 a step, and some tens of steps.
GaussianOptimum best_gaussian_strategy(const DenseMatrix& workload_gram, double tolerance,
                                       const Threads& threads);

// A square root of that X, with a little of the identity: it tells all values apart.
DenseMatrix best_gaussian_map(const DenseMatrix& workload_gram, const Threads& threads);

// [I; Theta] D with p rows Theta >= 0, where the diagonal D makes every column's norm 1 (L1 for
// Laplace, L2 for Gaussian noise): the least tr(G (A'A)^-1) that a search from `starts` seeds
// finds. Costs 2 p n^2 a step.
DenseMatrix best_p_identity(const DenseMatrix& workload_gram, NoiseKind noise, std::size_t p,
                            int starts, std::uint64_t seed, const Threads& threads);

// The same where G = a I + b J: one row of ones and the identity, whose shares are found directly.
DenseMatrix best_identity_and_total(double a, double b, std::size_t n, NoiseKind noise);

// A matrix in whole numbers of about 2^-bits of its largest entry; or of the largest norm of its
// columns (L1 for Laplace, L2 for Gaussian noise), for those that noise follows.
ColumnMap rounded_map(const DenseMatrix& matrix, int bits);
ColumnMap rounded_by_norm(const DenseMatrix& matrix, NoiseKind noise, int bits);

// X^(1/2), symmetric.
DenseMatrix square_root(const DenseMatrix& symmetric);

}  // namespace tandem
