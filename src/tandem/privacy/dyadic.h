// SPDX-License-Identifier: Apache-2.0
#pragma once
// Noise parameters as exact binary fractions with few bits.

#include <cstdint>

namespace tandem {

// num / 2^shift.
struct Dyadic {
  std::uint64_t num = 1;
  int shift = 0;
  double value() const;  // exact
};

// What the samplers accept; 2^-10 is already no noise to speak of, and 2^40 leaves the proofs of
// no overflow plenty of room.
constexpr double kLeastNoise = 0x1p-10;
constexpr double kMostNoise = 0x1p40;

// The least fraction that is not below `at_least` nor below kLeastNoise and has at most 24
// significant bits: at most 2^-23 of it above. So num < 2^41 and shift <= 34, and num <= 2^24
// unless shift is 0. UsageError unless 0 < at_least <= 2^40. Privacy: a parameter of noise is only
// ever rounded up, towards more noise.
Dyadic short_dyadic(double at_least);

}  // namespace tandem
