// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/selection.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "support/entropy_for_tests.h"
#include "support/statistics.h"
#include "support/textbook_samplers.h"
#include "tandem/base/error.h"
#include "tandem/privacy/bernoulli_exp.h"
#include "tandem/privacy/exp_bounds.h"

namespace tandem {
namespace {

using test::kAlarm;
using test::NoNoise;
using test::OutOfWords;
using test::ScriptedEntropy;
using Scores = std::vector<std::int64_t>;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMost = ~std::uint64_t{0};

struct Case {
  Scores scores;
  Rate rate;
};

Scores ramp(std::int64_t count, std::int64_t step) {
  Scores scores;
  for (std::int64_t i = 0; i < count; ++i) scores.push_back((i * 37 % count) * step);
  return scores;
}

const std::vector<Case> kCases = {
    {{5}, {1, 1}},
    {{3, 3}, {1, 1}},
    {{0, 1}, {1, 1}},
    {{1, 0}, {1, 1}},
    {{0, 1, 2, 3}, {1, 3}},
    {{0, 0, 0, 0, 0}, {7, 2}},
    {{-5, 10, 3, 10, -5}, {1, 4}},
    {{1, 2, 3}, {0, 1}},                  // no sharpness: uniform
    {{100, 0, 100}, {1000, 1}},           // 0 is out of reach
    {{kLeast, kLargest, 0}, {kMost, 1}},  // the widest gap times the largest rate
    {{kLeast, kLargest, 0}, {1, kMost}},  // gaps of 1 and 1/2
    {{kLargest, kLargest - 1}, {1, 1}},
    {{kLeast, kLeast + 1}, {3, 1}},
    {{0, 1'000'000, 999'990}, {1, 10}},
    {{0, 21, 22, 23}, {1, 1}},  // exp(-22) is near one unit of the line
    {ramp(50, 1), {1, 10}},
    {ramp(50, 1000), {1, 2345}},
    {ramp(1000, 1), {1, 100}},
    {ramp(1000, 1), {1, 3}},
    {ramp(20'000, 7), {3, 20'000}},
    {Scores(300, 0), {1, 1}},
    {{0, 4'000'000'000, 8'000'000'000}, {1, 4'000'000'000}},
};

std::vector<double> exponential_law(const Case& c) {
  const auto best = static_cast<long double>(*std::ranges::max_element(c.scores));
  std::vector<double> weights;
  for (const std::int64_t score : c.scores) {
    weights.push_back(
        static_cast<double>(std::exp((static_cast<long double>(score) - best) * c.rate.num /
                                     static_cast<long double>(c.rate.den))));
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (auto& weight : weights) weight /= total;
  return weights;
}

// By summing over all outcomes of all coins; few candidates.
std::vector<double> permute_and_flip_law(const Case& c) {
  auto heads = exponential_law(c);
  const double best = *std::ranges::max_element(heads);
  for (auto& p : heads) p /= best;
  const std::size_t n = heads.size();
  std::vector<double> law(n, 0.0);
  for (std::uint32_t set = 1; set < (1U << n); ++set) {
    double p = 1.0;
    for (std::size_t i = 0; i < n; ++i) p *= (set >> i) & 1U ? heads[i] : 1.0 - heads[i];
    for (std::size_t i = 0; i < n; ++i) {
      if ((set >> i) & 1U) law[i] += p / std::popcount(set);
    }
  }
  return law;
}

std::vector<std::uint64_t> tally(std::span<const std::size_t> draws, std::size_t count) {
  std::vector<std::uint64_t> counts(count, 0);
  for (const std::size_t i : draws) ++counts.at(i);
  return counts;
}

// A point in the unit in which a stretch ends is decided by exp(-x) itself, to the last bit.
TEST(Selection, IsDecidedExactlyWhereAStretchEnds) {
  constexpr std::uint64_t kSmall = (std::uint64_t{1} << 40) + 1;
  int accepted = 0;
  int refused = 0;
  for (const Rate rate : {Rate{1, 1}, Rate{3, 2}, Rate{1, 7}, Rate{12345, 99991}}) {
    const Multiples multiples(rate);
    const Stretches stretches(multiples);
    for (const std::uint64_t gap : {1, 2, 5, 11}) {
      const ExpBounds bounds = exp_bounds(multiples.of(gap));
      const Ratio x{static_cast<UInt128>(gap) * rate.num, rate.den};
      const Scores scores = {10, 10 - static_cast<std::int64_t>(gap)};
      const std::uint64_t line = stretches.of(0) + stretches.of(gap);
      for (std::uint64_t u = bounds.lower - 2; u <= bounds.upper + 2; ++u) {
        // The word that throws the point into that unit, those of its place in it, and small ones,
        // which decide for the best when the point is thrown again.
        const std::uint64_t unit = stretches.of(0) + (u >> 32);
        const auto word = static_cast<std::uint64_t>((static_cast<UInt128>(unit) << 64) / line) + 2;
        std::vector<std::uint64_t> script(40, kSmall);
        ScriptedEntropy digits(script);
        const bool below = below_exp(u, bounds, x, digits);
        (below ? accepted : refused) += 1;
        script[0] = word;
        script[1] = u << 32;
        ScriptedEntropy one(script);
        EXPECT_EQ(exponential_draw(scores, rate, one, {}), below ? 1U : 0U) << gap << " " << u;
        ScriptedEntropy other(script);
        EXPECT_EQ(ExponentialTable(scores, rate).draw(other), below ? 1U : 0U) << gap << " " << u;
      }
    }
  }
  EXPECT_GT(accepted, 40);
  EXPECT_GT(refused, 40);
}

TEST(Selection, ExponentialTableFitsItsLaw) {
  std::uint64_t seed = 500;
  for (const Case& c : kCases) {
    SeededEntropy entropy(++seed);
    std::vector<std::size_t> draws(60'000);
    ExponentialTable(c.scores, c.rate).draw_many(draws, entropy);
    EXPECT_GT(test::chi_square_p(exponential_law(c), tally(draws, c.scores.size())), kAlarm)
        << seed;
  }
}

TEST(Selection, OneDrawAndTheTableAreTheSame) {
  std::uint64_t seed = 600;
  for (const Case& c : kCases) {
    SeededEntropy one(++seed);
    SeededEntropy many(seed);
    const ExponentialTable table(c.scores, c.rate);
    for (int i = 0; i < 30; ++i) {
      ASSERT_EQ(exponential_draw(c.scores, c.rate, one), table.draw(many));
    }
    EXPECT_EQ(one.word(), many.word());
  }
}

TEST(Selection, PermuteAndFlipFitsItsLaw) {
  std::uint64_t seed = 700;
  for (const Case& c : kCases) {
    if (c.scores.size() > 10) continue;
    SeededEntropy entropy(++seed);
    std::vector<std::size_t> draws(60'000);
    for (auto& i : draws) i = permute_and_flip_draw(c.scores, c.rate, entropy);
    EXPECT_GT(test::chi_square_p(permute_and_flip_law(c), tally(draws, c.scores.size())), kAlarm)
        << seed;
  }
}

TEST(Selection, PermuteAndFlipAgreesWithTheTextbook) {
  std::uint64_t seed = 800;
  for (const Case& c :
       {Case{{0, 1, 2, 3}, {1, 3}}, Case{{-5, 10, 3, 10, -5}, {1, 4}}, Case{ramp(30, 1), {1, 5}}}) {
    SeededEntropy entropy(++seed);
    Rng rng(seed);
    std::vector<std::size_t> ours(20'000);
    std::vector<std::size_t> theirs(3'000);
    for (auto& i : ours) i = permute_and_flip_draw(c.scores, c.rate, entropy);
    for (auto& i : theirs) {
      i = test::textbook_permute_and_flip(c.scores, c.rate.num, c.rate.den, rng);
    }
    EXPECT_GT(test::two_sample_p(tally(ours, c.scores.size()), tally(theirs, c.scores.size())),
              kAlarm);
  }
}

// Nothing sampled: the words that lead to each candidate are counted. The second word decides at
// most two units at the end of each stretch, so that its extreme values bracket the probability.
TEST(Selection, ExponentialDrawOwnsTheRightNumberOfWords) {
  for (const Case& c : {Case{{3, 3}, {1, 1}}, Case{{0, 1}, {1, 1}}, Case{{0, 1, 2, 3}, {1, 3}},
                        Case{{-5, 10, 3, 10, -5}, {1, 4}}, Case{{1, 2, 3}, {0, 1}},
                        Case{{kLeast, kLargest, 0}, {1, kMost}}, Case{{9, 0, 4, 7}, {2, 3}}}) {
    const auto law = exponential_law(c);
    const std::size_t n = c.scores.size();
    const auto best =
        static_cast<std::size_t>(std::ranges::max_element(c.scores) - c.scores.begin());
    const auto outcome = [&](std::uint64_t first, std::uint64_t second) {
      ScriptedEntropy entropy({first, second});
      try {
        return exponential_draw(c.scores, c.rate, entropy);
      } catch (const OutOfWords&) {
        return n;  // thrown again
      }
    };
    // The width of the interval of first words around `inside` that give candidate i.
    const auto owned = [&](std::uint64_t inside, std::size_t i, std::uint64_t second) {
      std::uint64_t low = inside;
      std::uint64_t high = inside;
      for (int bit = 63; bit >= 0; --bit) {
        const std::uint64_t step = std::uint64_t{1} << bit;
        if (low >= step && outcome(low - step, second) == i) low -= step;
        if (high <= kMost - step && outcome(high + step, second) == i) high += step;
      }
      return std::ldexp(static_cast<double>(high - low) + 1.0, -64);
    };
    double before = 0.0;
    std::vector<double> least(n);
    std::vector<double> most(n);
    for (std::size_t place = 0; place < n; ++place) {
      const std::size_t i = place == 0 ? best : place == best ? 0 : place;
      // The middle, roughly: below() rejects a few round words.
      const auto inside = static_cast<std::uint64_t>(std::ldexp(before + law[i] / 2.1, 64));
      ASSERT_EQ(outcome(inside, 0), i);
      least[i] = owned(inside, i, kMost);
      most[i] = owned(inside, i, 0);
      before += law[i];
    }
    for (std::size_t i = 0; i < n; ++i) {
      // Of all words that draw anything; three ulps of double for the arithmetic here.
      EXPECT_LE(least[i] / std::accumulate(most.begin(), most.end(), 0.0), law[i] * (1 + 1e-15));
      EXPECT_GE(most[i] / std::accumulate(least.begin(), least.end(), 0.0), law[i] * (1 - 1e-15));
      EXPECT_LE(most[i] - least[i], 0x1p-30);
    }
  }
}

TEST(Selection, DoesNotDependOnThreads) {
  SeededEntropy maker(4);
  Scores scores(100'000);
  for (auto& score : scores) score = static_cast<std::int64_t>(maker.below(5000));
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    const auto all = [&](int threads) {
      SeededEntropy entropy(seed);
      const ExponentialTable table(scores, {1, 100}, {threads});
      return std::vector<std::uint64_t>{
          exponential_draw(scores, {1, 100}, entropy, {threads}), table.draw(entropy),
          permute_and_flip_draw(scores, {1, 100}, entropy, {threads}), entropy.word()};
    };
    EXPECT_EQ(all(1), all(2));
    EXPECT_EQ(all(1), all(3));
  }
}

TEST(Selection, ManyBlocksFitTheirLaw) {
  // 70,000 candidates in groups of one score, the groups spread over all blocks.
  Case c{{}, {1, 2}};
  for (int i = 0; i < 70'000; ++i) c.scores.push_back(i % 7);
  SeededEntropy entropy(9);
  std::vector<std::uint64_t> groups(7, 0);
  std::vector<std::uint64_t> halves(2, 0);
  for (int i = 0; i < 150; ++i) {
    const std::size_t drawn = exponential_draw(c.scores, c.rate, entropy);
    ++groups[drawn % 7];
    ++halves[drawn / 35'000];
  }
  EXPECT_GT(test::chi_square_p(exponential_law({{0, 1, 2, 3, 4, 5, 6}, {1, 2}}), groups), kAlarm);
  EXPECT_GT(test::chi_square_p(std::vector<double>{1, 1}, halves), kAlarm);
}

TEST(Selection, TakesTheFirstBestWithoutNoise) {
  for (const Case& c : kCases) {
    NoNoise entropy;
    const auto best =
        static_cast<std::size_t>(std::ranges::max_element(c.scores) - c.scores.begin());
    EXPECT_EQ(exponential_draw(c.scores, c.rate, entropy), best);
    EXPECT_EQ(ExponentialTable(c.scores, c.rate).draw(entropy), best);
    if (c.rate.num == 0) continue;  // every coin falls heads
    EXPECT_EQ(permute_and_flip_draw(c.scores, c.rate, entropy), best);
  }
}

TEST(Selection, NeedsACandidateAndARate) {
  NoNoise entropy;
  EXPECT_THROW(exponential_draw({}, {1, 1}, entropy), UsageError);
  EXPECT_THROW(permute_and_flip_draw({}, {1, 1}, entropy), UsageError);
  EXPECT_THROW(ExponentialTable({}, {1, 1}), UsageError);
  EXPECT_THROW(exponential_draw(Scores{1}, {1, 0}, entropy), InternalError);
}

RC_GTEST_PROP(Selection, NeverPicksWhatIsOutOfReach,
              (std::vector<std::int64_t> scores, std::uint64_t seed)) {
  RC_PRE(!scores.empty());
  SeededEntropy entropy(seed);
  const std::int64_t best = *std::ranges::max_element(scores);
  const Rate rate{1000, 1};  // exp(-1000) for each point below the best
  RC_ASSERT(scores[exponential_draw(scores, rate, entropy)] == best);
  RC_ASSERT(scores[permute_and_flip_draw(scores, rate, entropy)] == best);
}

RC_GTEST_PROP(Selection, RatesAreRoundedDown, ()) {
  const double mantissa = 1.0 + *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 52) * 0x1p-52;
  const double rate = std::ldexp(mantissa, *rc::gen::inRange(-90, 32));
  const Rate exact = rate_at_most(rate);
  RC_ASSERT(std::has_single_bit(exact.den));
  // num and rate * den are exact in long double (64 bits).
  const long double scaled = static_cast<long double>(rate) * static_cast<long double>(exact.den);
  RC_ASSERT(static_cast<long double>(exact.num) <= scaled);
  RC_ASSERT(static_cast<long double>(exact.num) > scaled - 1.0L);
  if (rate >= 0x1p-10) RC_ASSERT(static_cast<long double>(exact.num) == scaled);
}

TEST(Selection, RatesOutOfRangeAreRefused) {
  EXPECT_EQ(rate_at_most(0.0).num, 0u);
  EXPECT_NO_THROW(rate_at_most(0x1p32));
  for (const double rate : {-1.0, 0x1p33, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(rate_at_most(rate), UsageError);
  }
}

}  // namespace
}  // namespace tandem
