// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/discrete_gaussian.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "support/entropy_for_tests.h"
#include "support/statistics.h"
#include "support/textbook_samplers.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::accepted_words;
using test::kAlarm;
using test::ScriptedEntropy;
using Real = boost::multiprecision::cpp_bin_float_50;

const std::vector<double> kSigmas = {
    0x1p-12, 0.05, 0.2,   0.4,   0.5, 0.7,  1.0, 1.1,    1.5, 2.0,   3.3, 5.0,    10.0, 17.7,
    30.0,    64.0, 100.0, 250.3, 1e3, 4096, 1e4, 99999., 1e6, 123e6, 1e9, 0x1p36, 1e12, 0x1p40};

std::vector<std::int64_t> draw(const DiscreteGaussian& gaussian, std::size_t count,
                               std::uint64_t seed) {
  SeededEntropy entropy(seed);
  std::vector<std::int64_t> samples(count);
  gaussian.fill(samples, entropy);
  return samples;
}

TEST(DiscreteGaussian, FitsItsLawAtEverySigma) {
  std::uint64_t seed = 300;
  for (const double sigma : kSigmas) {
    const DiscreteGaussian gaussian{Sigma(sigma)};
    const auto samples = draw(gaussian, 60'000, ++seed);
    EXPECT_GT(test::fit_p(test::gaussian_law(gaussian.sigma().value()), samples), kAlarm) << sigma;
  }
}

TEST(DiscreteGaussian, TestsWouldNoticeOnePercent) {
  // The yardstick is sharp: noise one or two percent too small does not pass.
  for (const double sigma : {1.0, 30.0, 1e6}) {
    const auto samples = draw(DiscreteGaussian(Sigma(0.98 * sigma)), 60'000, 1);
    EXPECT_LT(test::fit_p(test::gaussian_law(sigma), samples), 1e-6) << sigma;
  }
}

TEST(DiscreteGaussian, AgreesWithTheTextbook) {
  std::uint64_t seed = 400;
  for (const double sigma : {0.2, 0.5, 0.7, 1.0, 1.1, 2.0, 3.3, 10.0, 30.0}) {
    const Dyadic exact = short_dyadic(sigma);
    const auto ours = draw(DiscreteGaussian(Sigma(sigma)), 60'000, ++seed);
    Rng rng(seed);
    std::vector<std::uint64_t> a(401, 0);
    std::vector<std::uint64_t> b(401, 0);
    for (const auto x : ours)
      ++a[static_cast<std::size_t>(std::clamp<std::int64_t>(x + 200, 0, 400))];
    for (int i = 0; i < 5'000; ++i) {
      const auto x = test::textbook_gaussian(exact.num, exact.shift, rng);
      ++b[static_cast<std::size_t>(std::clamp<std::int64_t>(x + 200, 0, 400))];
    }
    EXPECT_GT(test::two_sample_p(a, b), kAlarm) << sigma;
  }
}

// The probability with which each proposed size is accepted, counted in words against 50 digits:
// with the proposal's own test (Geometric) this fixes the law to 2^-60, nothing sampled.
TEST(DiscreteGaussian, AcceptsTheRightNumberOfWords) {
  for (const double asked : {0x1p-10, 0.3, 0.5, 1.0, 1.1, 3.7, 10.0, 1000.5, 1e6, 1e9, 0x1p40}) {
    const DiscreteGaussian gaussian{Sigma(asked)};
    const Real sigma = gaussian.sigma().value();
    const auto t = static_cast<std::uint64_t>(gaussian.sigma().value()) + 1;
    const long double step = static_cast<long double>(0x1p64) / static_cast<long double>(t);
    for (const std::uint64_t u : {std::uint64_t{0}, t / 3, t - 1}) {
      for (const std::uint64_t v : {0U, 1U, 2U, 5U, 9U, 40U}) {
        // The words for u, its acceptance, v, the sign; the last one is to be varied.
        std::vector<std::uint64_t> words = {
            static_cast<std::uint64_t>((static_cast<long double>(u) + 0.5L) * step), 0};
        words.insert(words.end(), v, ~0ULL);
        words.insert(words.end(), {0, 0, 0});
        const std::uint64_t size = u + t * v;
        const long double heads = accepted_words([&](std::uint64_t word) {
          words.back() = word;
          ScriptedEntropy entropy(words);
          return gaussian.sample(entropy) == static_cast<std::int64_t>(size);
        });
        const Real distance = Real(size) - sigma * sigma / t;
        const Real exact = pow(Real(2), 64) * exp(-distance * distance / (2 * sigma * sigma));
        EXPECT_LE(abs(Real(heads) - exact), 4) << asked << " " << size;
      }
    }
  }
}

TEST(DiscreteGaussian, TheSignIsTheWordsTopBit) {
  const DiscreteGaussian gaussian{Sigma(1.0)};
  ScriptedEntropy minus_two({0, 0, ~0ULL, 0, 1ULL << 63, 0});  // u = 0, v = 1, minus, accepted
  EXPECT_EQ(gaussian.sample(minus_two), -2);
  ScriptedEntropy minus_zero({0, 0, 0, 1ULL << 63});
  EXPECT_THROW(gaussian.sample(minus_zero), test::OutOfWords);  // drawn again
}

TEST(DiscreteGaussian, NeverRoundsSigmaDown) {
  for (const double sigma : kSigmas) {
    const double rounded = DiscreteGaussian(Sigma(sigma)).sigma().value();
    EXPECT_GE(rounded, sigma);
    EXPECT_LE(rounded, std::max(sigma, kLeastNoise) * (1.0 + 0x1p-23));
  }
  EXPECT_EQ(DiscreteGaussian(Sigma(1.0)).sigma(), Sigma(1.0));
  EXPECT_EQ(DiscreteGaussian(Sigma(0.75)).sigma(), Sigma(0.75));
}

TEST(DiscreteGaussian, RefusesSigmasOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double sigma : {0.0, -1.0, 0x1p40 * (1 + 0x1p-52), infinity, nan}) {
    EXPECT_THROW(DiscreteGaussian{Sigma(sigma)}, UsageError) << sigma;
  }
}

TEST(DiscreteGaussian, IsZeroWithoutNoise) {
  test::NoNoise entropy;
  for (const double sigma : kSigmas) EXPECT_EQ(DiscreteGaussian(Sigma(sigma)).sample(entropy), 0);
}

}  // namespace
}  // namespace tandem
