// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small numerical helpers shared by models and mechanisms.

#include <cstddef>
#include <span>
#include <vector>

namespace tandem {

class Rng;

// The nearest point (in L2) with non-negative entries that sum to `total` > 0.
std::vector<double> project_to_simplex(std::span<const double> values, double total);

// Whole numbers that sum to `total`, each within one of its share of the weights: the whole part,
// and for the fractions systematic sampling, which keeps every expectation and adds little
// variance. Weights are non-negative with a positive sum.
std::vector<std::size_t> round_to_total(std::span<const double> weights, std::size_t total,
                                        Rng& rng);

}  // namespace tandem
