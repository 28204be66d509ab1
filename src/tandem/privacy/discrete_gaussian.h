// SPDX-License-Identifier: Apache-2.0
#pragma once
// The discrete Gaussian distribution, sampled exactly: Pr[x] proportional to
// exp(-x^2 / (2 sigma^2)) on the integers.
//
//   Canonne, Kamath, Steinke. The Discrete Gaussian for Differential Privacy. 2020, Algorithm 3.
//
// Only integers lie between the random bits and the noise. About 0.1 microseconds a sample.

#include <cstdint>
#include <span>

#include "tandem/base/units.h"
#include "tandem/privacy/discrete_laplace.h"
#include "tandem/privacy/dyadic.h"
#include "tandem/privacy/entropy.h"
#include "tandem/privacy/exp_bounds.h"

namespace tandem {

class DiscreteGaussian {
 public:
  // Sigma is rounded up to a short binary fraction; UsageError unless in (0, 2^40].
  explicit DiscreteGaussian(Sigma at_least);

  Sigma sigma() const { return Sigma(sigma_.value()); }  // exact, and not below the one asked for

  // Privacy: exactly the discrete Gaussian distribution of parameter `sigma()`. Added to integers
  // of L2 sensitivity D it is D^2 / (2 sigma^2)-zCDP (Canonne, Kamath, Steinke 2020, Theorem 4).
  std::int64_t sample(EntropySource& entropy) const;
  void fill(std::span<std::int64_t> noise, EntropySource& entropy) const;  // independent samples

 private:
  bool accepts(std::uint64_t size, EntropySource& entropy) const;

  Dyadic sigma_;
  std::uint64_t t_;  // floor(sigma) + 1, the scale of the proposal
  Geometric proposal_;
  Multiples in_sigmas_;  // k / sigma
  UInt128 centre_;       // floor(2^64 sigma / t)
};

}  // namespace tandem
