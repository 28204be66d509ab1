// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/discrete_laplace.h"

#include <gtest/gtest.h>

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

const std::vector<double> kScales = {0x1p-12, 0.05,   0.1,    0.3,  0.5, 0.9, 1.0,    1.25,
                                     2.0,     3.3,    5.0,    10.0, 30., 100, 777.7,  1e3,
                                     4096.0,  12345., 65536., 1e5,  1e6, 1e9, 3.3e10, 0x1p40};

std::vector<std::int64_t> draw(const DiscreteLaplace& laplace, std::size_t count,
                               std::uint64_t seed) {
  SeededEntropy entropy(seed);
  std::vector<std::int64_t> samples(count);
  laplace.fill(samples, entropy);
  return samples;
}

TEST(DiscreteLaplace, FitsItsLawAtEveryScale) {
  std::uint64_t seed = 100;
  for (const double scale : kScales) {
    const DiscreteLaplace laplace{Scale(scale)};
    const auto samples = draw(laplace, 60'000, ++seed);
    EXPECT_GT(test::fit_p(test::laplace_law(laplace.scale().value()), samples), kAlarm) << scale;
  }
}

TEST(DiscreteLaplace, AgreesWithTheTextbook) {
  std::uint64_t seed = 200;
  for (const double scale : {0.3, 1.0, 1.25, 3.3, 10.0}) {
    const Dyadic exact = short_dyadic(scale);
    const auto ours = draw(DiscreteLaplace(Scale(scale)), 60'000, ++seed);
    Rng rng(seed);
    std::vector<std::uint64_t> a(401, 0);
    std::vector<std::uint64_t> b(401, 0);
    for (const auto x : ours)
      ++a[static_cast<std::size_t>(std::clamp<std::int64_t>(x + 200, 0, 400))];
    for (int i = 0; i < 6'000; ++i) {
      const auto x = test::textbook_laplace(exact.num, exact.shift, rng);
      ++b[static_cast<std::size_t>(std::clamp<std::int64_t>(x + 200, 0, 400))];
    }
    EXPECT_GT(test::two_sample_p(a, b), kAlarm) << scale;
  }
}

// Words that lead to u, v and a sign; see Geometric::sample for the order.
std::vector<std::uint64_t> script(std::uint64_t t, std::uint64_t u, std::uint64_t v) {
  const auto step = static_cast<long double>(0x1p64) / static_cast<long double>(t);
  std::vector<std::uint64_t> words = {
      static_cast<std::uint64_t>((static_cast<long double>(u) + 0.5L) * step), 0};
  words.insert(words.end(), v, ~0ULL);
  words.push_back(0);
  return words;
}

// Every decision of the sampler, its probability counted in words.
TEST(Geometric, AcceptsTheRightNumberOfWords) {
  for (const std::uint64_t t : {1ULL, 2ULL, 3ULL, 10ULL, 1000ULL, (1ULL << 41) - 1}) {
    const Geometric geometric(t);
    for (const std::uint64_t u : {std::uint64_t{0}, t / 3, t / 2, t - 1}) {
      auto words = script(t, u, 2);
      const long double heads = accepted_words([&](std::uint64_t word) {
        words[1] = word;
        ScriptedEntropy entropy(words);
        return geometric.sample(entropy) == u + 2 * t;
      });
      const long double exact =
          std::ldexp(std::exp(-static_cast<long double>(u) / static_cast<long double>(t)), 64);
      EXPECT_NEAR(static_cast<double>(heads - exact), 0.0, 4.0) << u << "/" << t;
    }
    auto words = script(t, 0, 1);
    const long double longer = accepted_words([&](std::uint64_t word) {
      words[2] = ~word;
      ScriptedEntropy entropy(words);
      return geometric.sample(entropy) == t;
    });
    EXPECT_NEAR(static_cast<double>(longer - std::ldexp(std::exp(-1.0L), 64)), 0.0, 4.0);
  }
}

TEST(DiscreteLaplace, NeverRoundsTheScaleDown) {
  for (const double scale : kScales) {
    const double rounded = DiscreteLaplace(Scale(scale)).scale().value();
    EXPECT_GE(rounded, scale);
    EXPECT_LE(rounded, std::max(scale, kLeastNoise) * (1.0 + 0x1p-23));
  }
}

TEST(DiscreteLaplace, RefusesScalesOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double scale : {0.0, -1.0, 0x1p40 * (1 + 0x1p-52), infinity, nan}) {
    EXPECT_THROW(DiscreteLaplace{Scale(scale)}, UsageError) << scale;
  }
}

TEST(DiscreteLaplace, IsZeroWithoutNoise) {
  test::NoNoise entropy;
  for (const double scale : kScales) EXPECT_EQ(DiscreteLaplace(Scale(scale)).sample(entropy), 0);
}

TEST(Geometric, ABrokenGeneratorIsFoundOut) {
  class AllOnes final : public EntropySource {
   public:
    bool seeded() const override { return true; }

   private:
    bool first_ = true;
    std::size_t produce(std::span<std::uint64_t> words) override {
      std::ranges::fill(words, ~0ULL);
      if (first_) words[0] = words[1] = 0;  // so that u = 0 is accepted
      first_ = false;
      return words.size();
    }
  } entropy;
  EXPECT_THROW(Geometric(1).sample(entropy), InternalError);
  EXPECT_THROW(Geometric(1ULL << 42), InternalError);
}

}  // namespace
}  // namespace tandem
