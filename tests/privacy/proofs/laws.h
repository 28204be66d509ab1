// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exact output distributions of the gate's primitives, computed slowly and without its samplers,
// and how far apart two of them are. Extended precision: right to about 1e-16 of a logarithm.

#include <cstdint>
#include <span>
#include <vector>

#include "tandem/privacy/exp_bounds.h"
#include "tandem/query/measurement.h"

namespace tandem::proofs {

using FiniteLaw = std::vector<long double>;  // logarithms of probabilities

// The exponential mechanism and permute-and-flip on these scores.
FiniteLaw exponential_law(std::span<const std::int64_t> scores, Rate rate);
FiniteLaw permute_and_flip_law(std::span<const std::int64_t> scores, Rate rate);

std::vector<double> probabilities(const FiniteLaw& law);

// The largest logarithm of a ratio of probabilities, and Renyi's divergence.
long double log_ratio(const FiniteLaw& a, const FiniteLaw& b);
long double renyi(const FiniteLaw& a, const FiniteLaw& b, long double alpha);

// The same for discrete noise of this scale (sigma of a Gaussian) and the same noise moved by
// `shift`. Sums over the support out to where terms are below 1e-25 of the largest; the rest is
// bounded by a geometric series and added. Noise has independent cells: divergences of cells add.
long double log_ratio(NoiseKind kind, double scale, std::int64_t shift);  // infinite for a Gaussian
long double renyi(NoiseKind kind, double scale, std::int64_t shift, long double alpha);

// Orders at which divergences are compared with alpha * rho.
std::span<const long double> orders();

}  // namespace tandem::proofs
