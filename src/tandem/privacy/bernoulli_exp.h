// SPDX-License-Identifier: Apache-2.0
#pragma once
// Coins that fall heads with probability exp(-x), exactly, for rational x.
//
//   Canonne, Kamath, Steinke. The Discrete Gaussian for Differential Privacy. 2020, Algorithm 1.
//
// Their coin tosses a random number of Bernoulli(x/k). The same law here, faster: U is a uniform
// real number whose bits are drawn as they are needed, and the coin is [U < exp(-x)]. 64 bits are
// compared with certified bounds on exp(-x); only if U falls between them (about once in 2^55) is
// exp(-x) enclosed ever more tightly with big integers, and U given more bits, until the answer is
// certain. Since exp(-x) is irrational for rational x > 0 this ends, and no comparison is guessed.

#include <cstdint>

#include "tandem/base/int128.h"
#include "tandem/privacy/entropy.h"
#include "tandem/privacy/exp_bounds.h"

namespace tandem {

struct Ratio {
  UInt128 num = 0;
  UInt128 den = 1;  // > 0
};

// Privacy: true with probability exactly exp(-num/den); den > 0.
bool bernoulli_exp(std::uint64_t num, std::uint64_t den, EntropySource& entropy);

// U < exp(-x), where the first 64 bits of U are `u` and the others are drawn from `entropy`, as
// many as it takes. Privacy: exact for a uniform U, by enclosing exp(-x) in big rational
// arithmetic.
bool below_exp_exactly(std::uint64_t u, const Ratio& x, EntropySource& entropy);

// U < exp(-w^2/2), likewise.
// Privacy: as above.
bool below_gauss_exactly(std::uint64_t u, const Ratio& w, EntropySource& entropy);

// The same, where `bounds` on exp(-x) or exp(-w^2/2) settle the easy cases.
// Privacy: exact for a uniform U; the result is the exact functions', sooner.
inline bool below_exp(std::uint64_t u, ExpBounds bounds, const Ratio& x, EntropySource& entropy) {
  if (u < bounds.lower) return true;
  if (u > bounds.upper) return false;
  return below_exp_exactly(u, x, entropy);
}
inline bool below_gauss(std::uint64_t u, ExpBounds bounds, const Ratio& w, EntropySource& entropy) {
  if (u < bounds.lower) return true;
  if (u > bounds.upper) return false;
  return below_gauss_exactly(u, w, entropy);
}

}  // namespace tandem
