// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/iterative_estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/histogram/small_prior.h"
#include "tandem/base/error.h"
#include "tandem/model/histogram/entropy_fit.h"
#include "tandem/model/histogram/support.h"

namespace tandem {
namespace {

IterativeEstimate estimate(const test::SmallPrior& problem, const IterativeOptions& options = {}) {
  Rng rng(1);
  return estimate_distribution(problem.p, problem.workloads, options, rng);
}

void expect_distribution(std::span<const double> q) {
  double sum = 0.0;
  for (const double weight : q) {
    ASSERT_TRUE(std::isfinite(weight));
    ASSERT_GE(weight, 0.0);
    sum += weight;
  }
  EXPECT_NEAR(sum, 1.0, 1e-9);
}

TEST(IterativeEstimate, ExactMarginalsAreFittedAtTheDefaultStop) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto problem = test::small_prior(seed, 0.0);
    const auto found = estimate(problem);
    expect_distribution(found.q);
    EXPECT_TRUE(found.settled) << seed;
    EXPECT_LT(found.trace.back().misfit, 1e-3) << seed;
  }
}

TEST(IterativeEstimate, ATighterToleranceFitsThemToTheLeastRelativeEntropy) {
  IterativeOptions tight;
  tight.tolerance = 1e-10;
  tight.sweeps = 20'000;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto problem = test::small_prior(seed, 0.0);
    const auto found = estimate(problem, tight);
    const auto best = fit_relative_entropy(problem.p, problem.workloads, {});
    EXPECT_LT(found.trace.back().misfit, 1e-4) << seed;
    EXPECT_NEAR(found.trace.back().kl, best.kl, 1e-3) << seed;
  }
}

TEST(IterativeEstimate, NoisyMarginalsAreMissedByLittleMoreThanTheyMustBe) {
  for (const double noise : {0.003, 0.01, 0.03}) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      const auto problem = test::small_prior(seed, noise);
      const auto best = fit_relative_entropy(problem.p, problem.workloads, {});
      for (const bool dykstra : {false, true}) {
        IterativeOptions options;
        options.corrections = dykstra;
        const auto found = estimate(problem, options);
        expect_distribution(found.q);
        EXPECT_LE(found.trace.back().misfit, 1.5 * best.least_misfit + 1e-3)
            << seed << ' ' << noise << ' ' << dykstra;
      }
    }
  }
}

// Equation (3): q is the prior times the factors of a row's cells, but in rows that were held above
// zero, where it is more.
void expect_factors(std::span<const double> p, std::span<const PartialWorkload> workloads,
                    const IterativeEstimate& found) {
  const auto held = [&](std::size_t r) { return std::ranges::binary_search(found.held, r); };
  std::vector<double> exponents(p.size(), 0.0);
  double most = -HUGE_VAL;
  for (std::size_t r = 0; r < p.size(); ++r) {
    for (std::size_t s = 0; s < workloads.size(); ++s) {
      exponents[r] += found.exponents[s][workloads[s].cell()[r]];
    }
    if (!held(r)) most = std::max(most, exponents[r]);
  }
  if (most == -HUGE_VAL) return;  // all were held
  const auto by_factors = [&](std::size_t r) { return p[r] * std::exp(exponents[r] - most); };
  double sum = 0.0;
  double not_held = 0.0;
  for (std::size_t r = 0; r < p.size(); ++r) {
    if (held(r)) continue;
    sum += by_factors(r);
    not_held += found.q[r];
  }
  for (std::size_t r = 0; r < p.size(); ++r) {
    const double expected = by_factors(r) / sum * not_held;
    if (held(r))
      EXPECT_LE(expected, found.q[r] + 1e-9);
    else
      EXPECT_NEAR(expected, found.q[r], 1e-9);
  }
}

TEST(IterativeEstimate, TheEstimateIsThePriorTimesItsCellsFactors) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const double noise : {0.0, 0.003, 0.03}) {
      const auto problem = test::small_prior(seed, noise);
      for (const bool dykstra : {false, true}) {
        IterativeOptions options;
        options.corrections = dykstra;
        expect_factors(problem.p, problem.workloads, estimate(problem, options));
      }
    }
  }
}

// One marginal brings a row to nothing and another brings it back, in every sweep.
TEST(IterativeEstimate, TellsOfRowsThatWereHeldAboveZero) {
  const Table rows = whole_domain(Domain({{"a", 2, {}}, {"b", 2, {}}})).rows;
  const std::vector<double> p(4, 0.25);
  const std::vector<PartialWorkload> contradict = {
      PartialWorkload(rows, {0}, std::vector<double>{1.0, 0.0}),
      PartialWorkload(rows, {0, 1}, std::vector<double>{0.2, 0.3, 0.4, 0.1})};
  Rng rng(1);
  bool any = false;
  for (int run = 0; run < 10; ++run) {
    IterativeOptions options;
    options.sweeps = 7;
    options.damping = false;
    const auto found = estimate_distribution(p, contradict, options, rng);
    EXPECT_EQ(found.held, (std::vector<std::uint32_t>{2, 3}));
    expect_factors(p, contradict, found);
    any = any || found.q[2] > 0.1;
  }
  EXPECT_TRUE(any);
}

// Undamped steps go round in a cycle; damped ones have a limit.
TEST(IterativeEstimate, DampingGivesSweepsALimit) {
  const auto problem = test::small_prior(2, 0.03);
  IterativeOptions options;
  options.sweeps = 5000;
  options.tolerance = 1e-5;
  EXPECT_TRUE(estimate(problem, options).settled);
  options.damping = false;
  EXPECT_FALSE(estimate(problem, options).settled);
}

// The contest's setting: T = 2 M steps, each with a marginal drawn at random.
TEST(IterativeEstimate, TwoRandomSweepsAreThePapersRunAndLowerTheMisfit) {
  IterativeOptions contest;
  contest.order = SweepOrder::Random;
  contest.sweeps = 2;
  contest.damping = false;
  contest.tolerance = 0.0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto found = estimate(test::small_prior(seed, 0.0), contest);
    EXPECT_EQ(found.trace.back().sweep, 2);
    EXPECT_LT(found.trace.back().misfit, found.trace.front().misfit) << seed;
    EXPECT_FALSE(found.settled);
  }
}

TEST(IterativeEstimate, TellsOfSweepsOneTwoFourAndTheLast) {
  IterativeOptions options;
  options.sweeps = 11;
  options.tolerance = 0.0;
  const auto found = estimate(test::small_prior(1, 0.05), options);
  std::vector<int> told;
  for (const auto& report : found.trace) told.push_back(report.sweep);
  EXPECT_EQ(told, (std::vector<int>{0, 1, 2, 4, 8, 11}));
  EXPECT_EQ(found.trace.front().kl, 0.0);
}

// Definition 3.1, case by case, on the four rows of two columns.
class Update : public testing::Test {
 protected:
  Domain domain_{{{"a", 2, {}}, {"b", 2, {}}}};
  Table rows_ = whole_domain(domain_).rows;

  std::vector<double> once(const std::vector<double>& p, const PartialWorkload& W) {
    IterativeOptions options;
    options.sweeps = 1;
    Rng rng(1);
    return estimate_distribution(p, std::span(&W, 1), options, rng).q;
  }
};

void expect_near(std::span<const double> found, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9) << i;
}

TEST_F(Update, RowsOfACellKeepTheirProportions) {
  const PartialWorkload W(rows_, {0}, std::vector<double>{0.8, 0.2});
  expect_near(once({0.1, 0.3, 0.3, 0.3}, W), {0.2, 0.6, 0.1, 0.1});
}

TEST_F(Update, ACellThatHadNothingIsFilledEvenly) {
  const PartialWorkload W(rows_, {0}, std::vector<double>{0.6, 0.4});
  expect_near(once({0.25, 0.75, 0.0, 0.0}, W), {0.15, 0.45, 0.2, 0.2});
}

TEST_F(Update, RowsOutsideAllCellsShareTheRestByTheirWeights) {
  const std::vector<std::size_t> cells = {0};  // the first row
  const PartialWorkload W(rows_, {0, 1}, cells, std::vector<double>{0.4});
  expect_near(once({0.1, 0.3, 0.3, 0.3}, W), {0.4, 0.2, 0.2, 0.2});
}

TEST_F(Update, RowsOutsideAllCellsThatHadNothingShareTheRestEvenly) {
  const std::vector<std::size_t> cells = {0};
  const PartialWorkload W(rows_, {0, 1}, cells, std::vector<double>{0.4});
  expect_near(once({1.0, 0.0, 0.0, 0.0}, W), {0.4, 0.2, 0.2, 0.2});
}

TEST_F(Update, ARowThatWasTakenAwayCanComeBack) {
  const std::vector<PartialWorkload> both = {
      PartialWorkload(rows_, {0}, std::vector<double>{1.0, 0.0}),
      PartialWorkload(rows_, {0}, std::vector<double>{0.5, 0.5})};
  Rng rng(1);
  const std::vector<double> p(4, 0.25);
  const auto found = estimate_distribution(p, both, {}, rng);
  EXPECT_GT(found.q[2], 1e-3);
  expect_distribution(found.q);
}

TEST_F(Update, OddAnswersAreDefined) {
  const std::vector<double> p = {0.1, 0.2, 0.3, 0.4};
  for (const auto& shares : {std::vector<double>{-1.0, -2.0}, std::vector<double>{0.0, 0.0},
                             std::vector<double>{1e12, -1e12}, std::vector<double>{1e300, 1e300}}) {
    const std::vector<PartialWorkload> odd = {
        PartialWorkload(rows_, {0}, shares),
        PartialWorkload(rows_, {}, std::vector<double>{shares.front()}),
        PartialWorkload(rows_, {1}, std::vector<double>{0.3, 0.7})};
    for (const Tie tie : {Tie::Prior, Tie::Scaled}) {
      for (const bool corrections : {false, true}) {
        if (corrections && tie == Tie::Scaled) continue;
        Rng rng(1);
        IterativeOptions options;
        options.tie = tie;
        options.corrections = corrections;
        options.sweeps = 200;
        expect_distribution(estimate_distribution(p, odd, options, rng).q);
      }
    }
  }
}

TEST_F(Update, AWorkloadWithoutARowIsPassedOver) {
  const Table one = rows_.select(std::vector<std::size_t>{0});
  const std::vector<std::size_t> cells = {3};
  const PartialWorkload W(one, {0, 1}, cells, std::vector<double>{0.4});
  EXPECT_EQ(W.answered(), 0U);
  expect_near(once({1.0}, W), {1.0});
}

TEST_F(Update, OneRowStaysOneRow) {
  const Table one = rows_.select(std::vector<std::size_t>{2});
  const PartialWorkload W(one, {0}, std::vector<double>{0.9, 0.1});
  expect_near(once({5.0}, W), {1.0});
}

TEST(IterativeEstimate, NothingMeasuredLeavesThePrior) {
  Rng rng(1);
  const std::vector<double> p = {1.0, 3.0};
  const auto found = estimate_distribution(p, {}, {}, rng);
  EXPECT_TRUE(found.settled);
  expect_near(found.q, {0.25, 0.75});
}

TEST(IterativeEstimate, StopsWhenAsked) {
  const auto problem = test::small_prior(1, 0.0);
  IterativeOptions options;
  options.threads.cancel = Cancel::token();
  options.threads.cancel.request();
  EXPECT_THROW(estimate(problem, options), Cancelled);
}

}  // namespace
}  // namespace tandem
