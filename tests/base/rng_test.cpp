// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/rng.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "tandem/base/error.h"

namespace tandem {
namespace {

// Pearson's statistic of counts against a uniform distribution.
double chi_square(const std::vector<std::uint64_t>& counts) {
  const auto draws = static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0ULL));
  const double expected = draws / static_cast<double>(counts.size());
  double sum = 0.0;
  for (const auto count : counts) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

TEST(Rng, GivesTheKnownAnswersOfXoshiro256StarStar) {
  const auto first_four = [](std::uint64_t seed) {
    Rng rng(seed);
    std::vector<std::uint64_t> out(4);
    std::ranges::generate(out, [&] { return rng.next(); });
    return out;
  };
  using Words = std::vector<std::uint64_t>;
  EXPECT_EQ(first_four(0), (Words{0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0,
                                  0x6aa594f1262d2d2c}));
  EXPECT_EQ(first_four(12345), (Words{0xbe6a36374160d49b, 0x214aaa0637a688c6, 0xf69d16de9954d388,
                                      0x0c60048c4e96e033}));
  EXPECT_EQ(
      first_four(std::numeric_limits<std::uint64_t>::max()),
      (Words{0x8f5520d52a7ead08, 0xc476a018caa1802d, 0x81de31c0d260469e, 0xbf658d7e065f3c2f}));
}

TEST(Rng, BelowIsUniform) {
  // The 0.9999 quantiles of chi-square with 1, 2, 6, 99 and 999 degrees of freedom.
  const struct {
    std::uint64_t bound;
    double quantile;
  } cases[] = {{2, 15.14}, {3, 18.42}, {7, 27.86}, {100, 160.1}, {1000, 1175.0}};
  for (const auto& [bound, quantile] : cases) {
    Rng rng(bound);
    std::vector<std::uint64_t> counts(bound, 0);
    for (int i = 0; i < 200'000; ++i) ++counts[rng.below(bound)];
    EXPECT_LT(chi_square(counts), quantile) << bound;
  }
}

TEST(Rng, BelowIsUniformWhereARemainderWouldNotBe) {
  // Of a bound of 3/4 of the range, remainders would make the lowest third twice as likely.
  constexpr std::uint64_t kBound = 3ULL << 62;
  Rng rng(1);
  std::vector<std::uint64_t> thirds(3, 0);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t drawn = rng.below(kBound);
    ASSERT_LT(drawn, kBound);
    ++thirds[drawn >> 62];
  }
  EXPECT_LT(chi_square(thirds), 18.42);
}

TEST(Rng, BelowOneIsZeroAndBelowZeroIsRefused) {
  Rng rng(1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(rng.below(1), 0U);
  EXPECT_THROW(rng.below(0), InternalError);
}

RC_GTEST_PROP(Rng, BelowIsBelow, (std::uint64_t seed, std::uint64_t bits)) {
  const std::uint64_t bound = std::max<std::uint64_t>(1, bits >> *rc::gen::inRange(0, 64));
  Rng rng(seed);
  for (int i = 0; i < 20; ++i) RC_ASSERT(rng.below(bound) < bound);
}

TEST(Rng, UniformLiesInItsRangeAndIsUniform) {
  Rng rng(7);
  std::vector<std::uint64_t> counts(100, 0);
  double sum = 0.0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = rng.uniform();
    ASSERT_GE(drawn, 0.0);
    ASSERT_LT(drawn, 1.0);
    ++counts[static_cast<std::size_t>(drawn * 100.0)];
    sum += drawn;
  }
  EXPECT_LT(chi_square(counts), 160.1);
  EXPECT_NEAR(sum / kDraws, 0.5, 0.003);
}

TEST(Rng, ShuffleDrawsEveryOrderEquallyOften) {
  Rng rng(3);
  std::vector<std::uint64_t> counts(24, 0);
  for (int i = 0; i < 48'000; ++i) {
    std::vector<int> items = {0, 1, 2, 3};
    rng.shuffle(std::span(items));
    std::size_t rank = 0;
    for (std::size_t a = 0; a < 4; ++a) {
      std::size_t smaller = 0;
      for (std::size_t b = a + 1; b < 4; ++b) smaller += items[b] < items[a] ? 1 : 0;
      rank = rank * (4 - a) + smaller;
    }
    ++counts[rank];
  }
  EXPECT_LT(chi_square(counts), 56.2);  // 0.9999 quantile, 23 degrees of freedom
}

TEST(Rng, ShuffleKeepsItsItems) {
  std::vector<int> items(1000);
  std::iota(items.begin(), items.end(), 0);
  Rng(9).shuffle(std::span(items));
  EXPECT_FALSE(std::ranges::is_sorted(items));
  EXPECT_EQ(std::set<int>(items.begin(), items.end()).size(), 1000U);
  Rng(9).shuffle(std::span<int>());
}

}  // namespace
}  // namespace tandem
