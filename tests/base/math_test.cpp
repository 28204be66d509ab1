// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/math.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tandem/base/error.h"
#include "tandem/base/rng.h"

namespace tandem {
namespace {

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// ---- project_to_simplex -------------------------------------------------------------------------

std::vector<double> any_values(double scale) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 12);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(scale * *rc::gen::inRange(-1000, 1001) / 100.0);
  }
  return values;
}

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double out = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) out += (a[i] - b[i]) * (a[i] - b[i]);
  return out;
}

// The nearest point by trying every set of entries that stay positive.
std::vector<double> nearest_by_trying(const std::vector<double>& values, double total) {
  std::vector<double> best;
  for (std::size_t support = 1; support < std::size_t{1} << values.size(); ++support) {
    double sum = -total;
    double count = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if ((support >> i & 1U) == 0) continue;
      sum += values[i];
      ++count;
    }
    std::vector<double> point(values.size(), 0.0);
    bool inside = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if ((support >> i & 1U) == 0) continue;
      point[i] = values[i] - sum / count;
      inside = inside && point[i] >= 0.0;
    }
    if (!inside) continue;
    if (best.empty() || squared_distance(point, values) < squared_distance(best, values)) {
      best = point;
    }
  }
  return best;
}

RC_GTEST_PROP(ProjectToSimplex, IsTheNearestPointThatTryingFinds, ()) {
  const auto values = any_values(*rc::gen::element(0.01, 1.0, 1000.0));
  const double total = *rc::gen::element(0.5, 1.0, 7.0, 1e4);
  const auto projected = project_to_simplex(values, total);
  const auto expected = nearest_by_trying(values, total);
  const double scale = 1e-12 * (total + 1e4);
  RC_ASSERT(projected.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    RC_ASSERT(projected[i] >= 0.0);
    RC_ASSERT(std::abs(projected[i] - expected[i]) <= scale);
  }
}

// Karush, Kuhn and Tucker: positive entries moved by one amount, and no zero wanted to be above it.
RC_GTEST_PROP(ProjectToSimplex, MovesPositiveEntriesByOneAmount, ()) {
  const auto values = any_values(*rc::gen::element(1.0, 1e6));
  const double total = *rc::gen::element(1.0, 50.0, 1e9);
  const auto projected = project_to_simplex(values, total);
  const double tolerance = 1e-12 * (total + 1e8);
  RC_ASSERT(std::abs(sum_of(projected) - total) <= tolerance);
  double moved = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (projected[i] > 0.0) moved = values[i] - projected[i];
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (projected[i] > 0.0) RC_ASSERT(std::abs(values[i] - projected[i] - moved) <= tolerance);
    if (projected[i] == 0.0) RC_ASSERT(values[i] <= moved + tolerance);
  }
}

TEST(ProjectToSimplex, LeavesAPointOfTheSimplexWhereItIs) {
  EXPECT_EQ(project_to_simplex(std::vector{1.0, 0.0, 3.0}, 4.0), (std::vector{1.0, 0.0, 3.0}));
  EXPECT_EQ(project_to_simplex(std::vector{-5.0}, 2.0), (std::vector{2.0}));
}

TEST(ProjectToSimplex, KeepsTheTotalAmongNoiseThatDwarfsIt) {
  const auto one = project_to_simplex(std::vector{1e18, -3e18, 2e17}, 5.0);
  EXPECT_EQ(one, (std::vector{5.0, 0.0, 0.0}));
  const auto tie = project_to_simplex(std::vector{1e18, 1e18}, 5.0);
  EXPECT_EQ(tie, (std::vector{2.5, 2.5}));
}

TEST(ProjectToSimplex, NeedsAPositiveTotalAndAValue) {
  EXPECT_THROW(project_to_simplex(std::vector{1.0}, 0.0), InternalError);
  EXPECT_THROW(project_to_simplex(std::vector<double>{}, 1.0), InternalError);
}

// ---- round_to_total -----------------------------------------------------------------------------

RC_GTEST_PROP(RoundToTotal, AddsUpAndStaysWithinOneOfEachShare, ()) {
  auto weights = any_values(1.0);
  for (double& weight : weights) weight = std::max(0.0, weight);
  if (sum_of(weights) == 0.0) weights.back() = 1.0;
  const auto total = *rc::gen::element<std::size_t>(0, 1, 2, 17, 1000, 123'456'789);
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const auto counts = round_to_total(weights, total, rng);
  RC_ASSERT(counts.size() == weights.size());
  RC_ASSERT(std::accumulate(counts.begin(), counts.end(), std::size_t{0}) == total);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double share = weights[i] / sum_of(weights) * static_cast<double>(total);
    const double tolerance = 1e-15 * static_cast<double>(total * weights.size());
    RC_ASSERT(std::abs(static_cast<double>(counts[i]) - share) < 1.0 + tolerance);
    if (weights[i] == 0.0) RC_ASSERT(counts[i] == 0U);
  }
}

TEST(RoundToTotal, KeepsEveryExpectation) {
  const std::vector<double> weights = {0.35, 0.0, 1.3, 0.25, 0.1};  // of 2
  constexpr std::size_t kTotal = 7;
  constexpr int kDraws = 100'000;
  std::vector<double> means(weights.size(), 0.0);
  Rng rng(1);
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto counts = round_to_total(weights, kTotal, rng);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      means[i] += static_cast<double>(counts[i]) / kDraws;
    }
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    // A share's whole part is certain, so a count has a standard deviation of at most 1/2.
    EXPECT_NEAR(means[i], weights[i] / 2.0 * kTotal, 6.0 * 0.5 / std::sqrt(kDraws));
  }
}

TEST(RoundToTotal, GivesWholeSharesExactly) {
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(round_to_total(std::vector{1.0, 2.0, 0.0, 1.0}, 8, rng),
              (std::vector<std::size_t>{2, 4, 0, 2}));
  }
}

TEST(RoundToTotal, GivesZeroWeightsNothingWhereverTheyStand) {
  Rng rng(4);
  const std::vector<double> weights = {0.0, 1e-300, 0.0, 1.0, 1.0 / 3.0, 0.0};
  for (int i = 0; i < 10'000; ++i) {
    const auto counts = round_to_total(weights, 10, rng);
    EXPECT_EQ(counts[0] + counts[2] + counts[5], 0U);
  }
}

TEST(RoundToTotal, NeedsAPositiveFiniteSum) {
  Rng rng(5);
  EXPECT_THROW(round_to_total(std::vector{0.0, 0.0}, 3, rng), InternalError);
  EXPECT_THROW(round_to_total(std::vector{1e308, 1e308}, 3, rng), InternalError);
}

}  // namespace
}  // namespace tandem
