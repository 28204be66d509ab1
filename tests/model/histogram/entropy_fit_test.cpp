// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/entropy_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "model/histogram/small_prior.h"
#include "tandem/base/error.h"
#include "tandem/model/histogram/support.h"
#include "tandem/optimize/least_l1.h"

namespace tandem {
namespace {

EntropyFit fit(const test::SmallPrior& problem, bool linear_solver = true) {
  return fit_relative_entropy(problem.p, problem.workloads, {.linear_solver = linear_solver});
}

TEST(EntropyFit, ItsCertificateIsBelowAMillionth) {
  for (const double noise : {0.0, 0.003, 0.01, 0.03}) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      const auto problem = test::small_prior(seed, noise);
      const auto found = fit(problem);
      EXPECT_TRUE(found.settled) << seed << ' ' << noise;
      EXPECT_LE(found.gap, 1e-6) << seed << ' ' << noise;
      EXPECT_LE(found.misfit - found.least_misfit, 1e-6) << seed << ' ' << noise;
      EXPECT_GE(found.misfit - found.least_misfit, -1e-7) << seed << ' ' << noise;
      EXPECT_NEAR(std::accumulate(found.q.begin(), found.q.end(), 0.0), 1.0, 1e-9);
      EXPECT_NEAR(found.misfit,
                  misfit_of(problem.workloads, found.q) + out_of_reach(problem.workloads), 1e-9);
    }
  }
}

TEST(EntropyFit, TheLinearProgrammeAndTheDualAgree) {
  if (!has_linear_solver()) GTEST_SKIP() << "this build has no linear solver";
  for (const double noise : {0.0, 0.01, 0.05}) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      const auto problem = test::small_prior(seed, noise);
      const auto exact = fit(problem);
      const auto bounded = fit(problem, false);
      EXPECT_TRUE(exact.exact);
      EXPECT_FALSE(bounded.exact);
      EXPECT_LE(bounded.least_misfit, exact.least_misfit + 1e-7) << seed << ' ' << noise;
      EXPECT_NEAR(bounded.least_misfit, exact.least_misfit, 2e-6) << seed << ' ' << noise;
      EXPECT_NEAR(bounded.misfit, exact.misfit, 2e-6) << seed << ' ' << noise;
      EXPECT_NEAR(bounded.kl, exact.kl, 1e-4) << seed << ' ' << noise;
    }
  }
}

// Others that fit as well, from the same rows: none is nearer to the prior.
TEST(EntropyFit, NothingThatFitsAsWellIsNearerToThePrior) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto problem = test::small_prior(seed, 0.0);
    const auto found = fit(problem);
    EXPECT_LE(found.kl, relative_entropy(problem.truth, problem.p) + 1e-6) << seed;
    std::vector<double> between(problem.p.size());
    for (std::size_t i = 0; i < between.size(); ++i) {
      between[i] = 0.5 * (found.q[i] + problem.truth[i]);
    }
    EXPECT_LE(found.kl, relative_entropy(between, problem.p) + 1e-6) << seed;
  }
}

// Two rows, one column: what fits best is known.
TEST(EntropyFit, OneMarginalIsFittedByHand) {
  const Table rows = whole_domain(Domain({{"a", 2, {}}})).rows;
  const std::vector<double> p = {0.5, 0.5};
  const auto solve = [&](const std::vector<double>& shares) {
    const PartialWorkload W(rows, {0}, shares);
    return fit_relative_entropy(p, std::span(&W, 1), {});
  };
  const auto exact = solve({0.2, 0.8});
  EXPECT_NEAR(exact.q[0], 0.2, 1e-6);
  EXPECT_NEAR(exact.least_misfit, 0.0, 1e-6);
  // Any share from .4 to .7 of the first misses by .1: the nearest to the prior is its own.
  const auto loose = solve({0.7, 0.6});
  EXPECT_NEAR(loose.least_misfit, 0.3, 1e-6);
  EXPECT_NEAR(loose.q[0], 0.5, 1e-6);
  const auto negative = solve({-0.4, -0.4});
  EXPECT_NEAR(negative.q[0], 0.5, 1e-6);
  EXPECT_NEAR(negative.misfit, 1.8, 1e-6);
}

TEST(EntropyFit, OddAnswersAreDefined) {
  const Table rows = whole_domain(Domain({{"a", 2, {}}, {"b", 2, {}}})).rows;
  const std::vector<double> p = {0.1, 0.2, 0.3, 0.4};
  for (const auto& shares : {std::vector<double>{-1.0, -2.0}, std::vector<double>{1e12, -1e12},
                             std::vector<double>{1.0, 0.0}, std::vector<double>{1e300, 1e300}}) {
    const std::vector<PartialWorkload> odd = {
        PartialWorkload(rows, {0}, shares),
        PartialWorkload(rows, {}, std::vector<double>{shares.front()}),
        PartialWorkload(rows, {0}, std::vector<double>{0.0, 1.0})};
    for (const bool linear : {true, false}) {
      const auto found = fit_relative_entropy(p, odd, {.linear_solver = linear});
      double sum = 0.0;
      for (const double weight : found.q) {
        ASSERT_TRUE(std::isfinite(weight));
        sum += weight;
      }
      EXPECT_NEAR(sum, 1.0, 1e-9);
      EXPECT_TRUE(std::isfinite(found.misfit) && std::isfinite(found.kl));
    }
  }
}

TEST(EntropyFit, OneRowStaysOneRow) {
  const Table row = whole_domain(Domain({{"a", 1, {}}})).rows;
  const PartialWorkload W(row, {0}, std::vector<double>{0.4});
  const auto found = fit_relative_entropy(std::vector<double>{3.0}, std::span(&W, 1), {});
  EXPECT_NEAR(found.q[0], 1.0, 1e-12);
  EXPECT_NEAR(found.least_misfit, 0.6, 1e-6);
}

TEST(EntropyFit, NothingMeasuredLeavesThePrior) {
  const auto found = fit_relative_entropy(std::vector<double>{1.0, 3.0}, {}, {});
  EXPECT_TRUE(found.settled);
  EXPECT_NEAR(found.q[0], 0.25, 1e-12);
}

TEST(EntropyFit, StopsWhenAsked) {
  const auto problem = test::small_prior(1, 0.01);
  for (const bool linear : {true, false}) {
    EntropyFitOptions options;
    options.linear_solver = linear;
    options.threads.cancel = Cancel::token();
    options.threads.cancel.request();
    EXPECT_THROW(fit_relative_entropy(problem.p, problem.workloads, options), Cancelled);
  }
}

}  // namespace
}  // namespace tandem
