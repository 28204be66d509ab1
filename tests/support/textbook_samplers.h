// SPDX-License-Identifier: Apache-2.0
#pragma once
// The algorithms of Canonne, Kamath and Steinke (2020) as printed, in big rationals, sharing no
// code with the samplers they are compared with. Slow; randomness is the ordinary Rng.

#include <cstddef>
#include <cstdint>
#include <span>

#include "tandem/base/rng.h"

namespace tandem::test {

// Parameters are exact binary fractions num / 2^shift.
bool textbook_bernoulli_exp(std::uint64_t num, std::uint64_t den, Rng& rng);  // Algorithm 1
std::int64_t textbook_laplace(std::uint64_t num, int shift, Rng& rng);        // Algorithm 2
std::int64_t textbook_gaussian(std::uint64_t num, int shift, Rng& rng);       // Algorithm 3
std::size_t textbook_permute_and_flip(std::span<const std::int64_t> scores, std::uint64_t num,
                                      std::uint64_t den, Rng& rng);

}  // namespace tandem::test
