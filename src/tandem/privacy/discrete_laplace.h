// SPDX-License-Identifier: Apache-2.0
#pragma once
// The discrete Laplace distribution, sampled exactly: Pr[x] proportional to exp(-|x| / scale).
//
//   Canonne, Kamath, Steinke. The Discrete Gaussian for Differential Privacy. 2020, Algorithm 2.
//
// Only integers lie between the random bits and the noise.

#include <cstdint>
#include <span>

#include "tandem/base/units.h"
#include "tandem/privacy/dyadic.h"
#include "tandem/privacy/entropy.h"
#include "tandem/privacy/exp_bounds.h"

namespace tandem {

// The geometric distribution on 0, 1, 2, ...: Pr[x] proportional to exp(-x / t), 1 <= t < 2^42.
class Geometric {
 public:
  explicit Geometric(std::uint64_t t);

  // Privacy: exact, as in Algorithm 2: x = u + t v, where u has Pr proportional to
  // exp(-u/t) on 0 .. t-1 by rejection and v counts heads of Bernoulli(exp(-1)). Below 2^62: a
  // run of 2^20 heads, of probability exp(-2^20), is an InternalError.
  std::uint64_t sample(EntropySource& entropy) const;

 private:
  std::uint64_t t_;
  Multiples inverse_;  // k / t
  ExpBounds one_;      // exp(-1)
};

class DiscreteLaplace {
 public:
  // The scale is rounded up to a short binary fraction; UsageError unless in (0, 2^40].
  explicit DiscreteLaplace(Scale at_least);

  Scale scale() const { return Scale(scale_.value()); }  // exact, and not below the one asked for

  // Privacy: exactly the discrete Laplace distribution of `scale()`. Added to integers of L1
  // sensitivity D it is (D / scale)-differentially private (Ghosh, Roughgarden, Sundararajan 2009).
  std::int64_t sample(EntropySource& entropy) const;
  void fill(std::span<std::int64_t> noise, EntropySource& entropy) const;  // independent samples

 private:
  Dyadic scale_;
  Geometric geometric_;
};

}  // namespace tandem
