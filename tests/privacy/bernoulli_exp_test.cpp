// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/bernoulli_exp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/entropy_for_tests.h"
#include "support/statistics.h"
#include "support/textbook_samplers.h"

namespace tandem {
namespace {

using test::accepted_words;
using test::kAlarm;
using test::ScriptedEntropy;

constexpr std::uint64_t kMost = ~std::uint64_t{0};
const std::vector<Rate> kRates = {
    {0, 1},          {1, 1},        {1, 2},         {355, 113}, {1, 1000},
    {999, 1000},     {2, 1},        {7, 3},         {20, 1},    {43, 1},
    {44, 1},         {45, 1},       {46, 1},        {1, kMost}, {kMost, kMost - 1},
    {1, 1ULL << 40}, {64, 1},       {65, 1},        {1000, 1},  {kMost, 1},
    {kMost, 1000},   {123456, 789}, {1ULL << 63, 3}};

// The words that make the coin fall heads, counted: the whole law to 2^-64, nothing sampled.
TEST(BernoulliExp, AcceptsTheRightNumberOfWords) {
  for (const Rate& rate : kRates) {
    const std::uint64_t num = rate.num;
    const std::uint64_t den = rate.den;
    const long double heads = accepted_words([&](std::uint64_t word) {
      ScriptedEntropy entropy({word});
      return bernoulli_exp(num, den, entropy);
    });
    const long double exact =
        std::ldexp(std::exp(-static_cast<long double>(num) / static_cast<long double>(den)), 64);
    EXPECT_NEAR(static_cast<double>(heads - exact), 0.0, 4.0) << num << "/" << den;
  }
}

// A word that 64 bits do not settle takes the next one: two words give the law to 2^-128.
TEST(BernoulliExp, AnUndecidedWordTakesMoreBits) {
  const auto outcome = [](std::uint64_t first, std::vector<std::uint64_t> more) {
    more.insert(more.begin(), first);
    ScriptedEntropy entropy(more);
    return bernoulli_exp(1, 1, entropy);
  };
  // exp(-1) = 0x0.5e2d58d8b3bcdf1a badec7829054f90d da9805aab56c77333024b9d0a507daedb16400bf...
  constexpr std::uint64_t kFirst = 0x5e2d58d8b3bcdf1aULL;
  constexpr std::uint64_t kSecond = 0xbadec7829054f90dULL;
  EXPECT_TRUE(outcome(kFirst - 1, {}));
  EXPECT_FALSE(outcome(kFirst + 1, {}));
  EXPECT_THROW(outcome(kFirst, {}), test::OutOfWords);
  EXPECT_TRUE(outcome(kFirst, {kSecond - 1}));
  EXPECT_FALSE(outcome(kFirst, {kSecond + 1}));
  EXPECT_THROW(outcome(kFirst, {kSecond}), test::OutOfWords);
  EXPECT_TRUE(outcome(kFirst, {kSecond, 0xda9805aab56c7732ULL}));
  EXPECT_FALSE(outcome(kFirst, {kSecond, 0xda9805aab56c7734ULL}));
}

TEST(BernoulliExp, ExpZeroIsCertain) {
  EXPECT_TRUE(below_exp_exactly(kMost, {0, 1},
                                *std::make_unique<ScriptedEntropy>(std::vector<std::uint64_t>{})));
}

TEST(BernoulliExp, HugeExponentsNeedOnlyAsManyBitsAsAreZero) {
  const UInt128 huge = ~static_cast<UInt128>(0);
  ScriptedEntropy entropy({0, 0, 1, 0, 0, 0, 5});
  EXPECT_FALSE(below_exp_exactly(0, {huge, 1}, entropy));
  EXPECT_FALSE(below_gauss_exactly(0, {huge, 1}, entropy));
}

// Bounds only save time: the outcome is that of exact arithmetic.
TEST(BernoulliExp, FastAndExactAgreeOnTheSameStream) {
  SeededEntropy parameters(21);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const std::uint64_t den = 1 + parameters.below(1'000'000);
    const std::uint64_t num = parameters.below(4 * den);
    const ExpBounds bounds = exp_bounds(Multiples({num, den}).of(1));
    SeededEntropy fast(seed);
    SeededEntropy exact(seed);
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(below_exp(fast.word(), bounds, {num, den}, fast),
                below_exp_exactly(exact.word(), {num, den}, exact));
    }
    EXPECT_EQ(fast.word(), exact.word());
  }
}

TEST(BernoulliExp, AgreesWithTheTextbook) {
  constexpr std::uint64_t kTosses = 20'000;
  std::uint64_t seed = 0;
  for (const auto& [num, den] : kRates) {
    const double p = std::exp(-static_cast<double>(num) / static_cast<double>(den));
    if (num / den > 50) continue;  // the textbook tosses num/den coins
    SeededEntropy entropy(++seed);
    Rng rng(seed);
    std::vector<std::uint64_t> ours(2, 0);
    std::vector<std::uint64_t> theirs(2, 0);
    for (std::uint64_t i = 0; i < kTosses; ++i) ++ours[bernoulli_exp(num, den, entropy) ? 0 : 1];
    for (std::uint64_t i = 0; i < kTosses / 10; ++i) {
      ++theirs[test::textbook_bernoulli_exp(num, den, rng) ? 0 : 1];
    }
    EXPECT_GT(test::chi_square_p(std::vector<double>{p, 1.0 - p}, ours), kAlarm);
    EXPECT_GT(test::chi_square_p(std::vector<double>{p, 1.0 - p}, theirs), kAlarm);
  }
}

}  // namespace
}  // namespace tandem
