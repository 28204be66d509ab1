// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/discrete_gaussian.h"

#include <algorithm>

#include "tandem/base/check.h"
#include "tandem/privacy/bernoulli_exp.h"

namespace tandem {

namespace {

// A number of 32 sigmas or more in fixed point; w^2/2 is then above 128 even if w is off by 1.
constexpr UInt128 kTooFar = static_cast<UInt128>(32) << 64;

// w^2/2 for w known to lie in [lower, upper] 2^-64, upper < kTooFar.
Fixed half_square(UInt128 lower, UInt128 upper) {
  // In units of 2^-58, so that squares of numbers up to 32 fit: 2^126 at most, units of 2^-116.
  const UInt128 a = lower >> 6;
  const UInt128 b = (upper >> 6) + 1;
  const UInt128 low = (a * a) >> 53;  // w^2/2 in units of 2^-64
  const UInt128 high = ((b * b) >> 53) + 1;
  return {low, static_cast<std::uint64_t>(high - low)};
}

}  // namespace

DiscreteGaussian::DiscreteGaussian(Sigma at_least)
    : sigma_(short_dyadic(at_least.value())),
      t_((sigma_.num >> sigma_.shift) + 1),
      proposal_(t_),
      in_sigmas_({std::uint64_t{1} << sigma_.shift, sigma_.num}),
      // num 2^(64 - shift) / t: num < 2^41, and the quotient is below 2^64 because sigma < t.
      centre_((static_cast<UInt128>(sigma_.num) << (64 - sigma_.shift)) / t_) {}

std::int64_t DiscreteGaussian::sample(EntropySource& entropy) const {
  for (;;) {                                               // about 1.3 times when sigma is large
    const std::uint64_t size = proposal_.sample(entropy);  // a discrete Laplace of scale t ...
    const bool negative = entropy.bit();
    if (negative && size == 0) continue;
    if (!accepts(size, entropy)) continue;  // ... thinned to a Gaussian
    return negative ? -static_cast<std::int64_t>(size) : static_cast<std::int64_t>(size);
  }
}

// True with probability exp(-w^2/2) for w = size/sigma - sigma/t, which is
// exp(-(size - sigma^2/t)^2 / (2 sigma^2)).
//
// Exactly, w = (size t 4^shift - num^2) / (num t 2^shift). No overflow of 128 bits: size < 2^20 t
// (Geometric), and t <= 2^40 + 1. If shift is 0, size t < 2^20 t^2 < 2^101 and num t < 2^82.
// Otherwise num <= 2^24 and t 2^shift <= num + 2^shift <= 2^35, so that size t 4^shift < 2^90 and
// num t 2^shift < 2^59.
bool DiscreteGaussian::accepts(std::uint64_t size, EntropySource& entropy) const {
  const UInt128 plus = static_cast<UInt128>(size) * t_ << (2 * sigma_.shift);
  const UInt128 minus = static_cast<UInt128>(sigma_.num) * sigma_.num;
  const Ratio w{plus > minus ? plus - minus : minus - plus,
                static_cast<UInt128>(sigma_.num) * t_ << sigma_.shift};

  // Bounds: |w| is within `error` of the distance of the two fixed-point numbers. (When `scaled` is
  // beyond kFar only its lower end counts: |w| >= 127.)
  const Fixed scaled = in_sigmas_.of(size);
  const UInt128 distance = scaled.lower > centre_ ? scaled.lower - centre_ : centre_ - scaled.lower;
  const UInt128 error = static_cast<UInt128>(scaled.width) + 1;
  const bool far = distance + error >= kTooFar;
  const Fixed half = far ? Fixed{kFar, ~std::uint64_t{0}}
                         : half_square(distance - std::min(distance, error), distance + error);
  return below_gauss(entropy.word(), exp_bounds(half), w, entropy);
}

void DiscreteGaussian::fill(std::span<std::int64_t> noise, EntropySource& entropy) const {
  for (auto& x : noise) x = sample(entropy);
}

}  // namespace tandem
