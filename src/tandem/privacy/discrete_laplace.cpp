// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/discrete_laplace.h"

#include "tandem/base/check.h"
#include "tandem/privacy/bernoulli_exp.h"

namespace tandem {

namespace {

constexpr std::uint64_t kLongestRun = std::uint64_t{1} << 20;

}  // namespace

Geometric::Geometric(std::uint64_t t)
    : t_(t), inverse_({1, t}), one_(exp_bounds(Multiples({1, 1}).of(1))) {
  check(t < std::uint64_t{1} << 42, "a geometric distribution is too wide");
}

std::uint64_t Geometric::sample(EntropySource& entropy) const {
  std::uint64_t u = 0;
  do {
    u = entropy.below(t_);
  } while (!below_exp(entropy.word(), exp_bounds(inverse_.of(u)), {u, t_}, entropy));
  // A fair word read from the other end (~) is fair too; so read, the smallest words give the
  // smallest sample, and tests can switch noise off.
  std::uint64_t v = 0;
  while (below_exp(~entropy.word(), one_, {1, 1}, entropy)) {
    ++v;
    check(v < kLongestRun, "noise of impossible size: the random generator is broken");
  }
  return u + t_ * v;  // < 2^42 (1 + 2^20)
}

DiscreteLaplace::DiscreteLaplace(Scale at_least)
    : scale_(short_dyadic(at_least.value())), geometric_(scale_.num) {}

// With scale = num / 2^shift: floor(geometric(num) / 2^shift) has Pr proportional to
// exp(-x 2^shift / num) on 0, 1, 2, ...; a random sign follows, and "minus zero" is drawn again so
// that zero isn't counted twice.
std::int64_t DiscreteLaplace::sample(EntropySource& entropy) const {
  for (;;) {
    const auto size = static_cast<std::int64_t>(geometric_.sample(entropy) >> scale_.shift);
    if (!entropy.bit()) return size;
    if (size != 0) return -size;
  }
}

void DiscreteLaplace::fill(std::span<std::int64_t> noise, EntropySource& entropy) const {
  for (auto& x : noise) x = sample(entropy);
}

}  // namespace tandem
