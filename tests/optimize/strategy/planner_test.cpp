// SPDX-License-Identifier: Apache-2.0
// How good plans are: against published errors, against each other, and against the optimum.
#include "tandem/optimize/strategy/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "support/dense_planning.h"
#include "tandem/optimize/strategy/column_strategy.h"
#include "tandem/optimize/strategy/column_workload.h"
#include "tandem/optimize/strategy/marginals_planner.h"
#include "tandem/optimize/strategy/product_planner.h"
#include "tandem/optimize/strategy/residual_planner.h"

namespace tandem {
namespace {

using Kind = ColumnQueries::Kind;

// ADULT as MW-Pub's authors use it: 13 columns, 286 marginals of three, 334,128 cells.
PlanningProblem adult(NoiseKind noise) {
  return all_k_way_problem({2, 2, 5, 6, 7, 9, 15, 16, 42, 16, 6, 10, 10}, 3, noise);
}

PlanningProblem ranges(std::vector<std::size_t> sizes, NoiseKind noise) {
  PlanningProblem out;
  std::vector<AttributeId> ids;
  for (std::size_t i = 0; i < sizes.size(); ++i) ids.push_back(static_cast<AttributeId>(i));
  out.workload.push_back(
      {Clique(ids), std::vector<ColumnQueries>(sizes.size(), {Kind::Ranges, {}}), 1.0});
  out.sizes = std::move(sizes);
  out.noise = noise;
  return out;
}

double loss(const Strategy& strategy) {
  return strategy.squared_error / strategy.planned_squared_error - 1.0;
}

TEST(ResidualPlanner, ReachesThePublishedOptimumOnAdult) {
  const auto problem = adult(NoiseKind::Gaussian);
  ASSERT_EQ(problem.queries(), 334'128.0);
  const auto strategy = plan_residuals(problem, {});
  EXPECT_NEAR(unit_rmse(problem, strategy), 10.75, 0.005);
  EXPECT_LT(loss(strategy), 1e-3);
}

TEST(ResidualPlanner, WeightsForReplacedRowsCostLessThanThoseForAddedOnes) {
  auto problem = adult(NoiseKind::Gaussian);
  const double add_remove = plan_residuals(problem, {}).squared_error;
  problem.unit = {true, true, 1};
  // Weights that are best under add-remove cost 2.012 times the variance.
  EXPECT_LT(plan_residuals(problem, {}).squared_error / add_remove, 2.0105);
}

TEST(ResidualPlanner, AFreeTotalCostsNothingWhereAPersonMayBeAbsent) {
  auto problem = adult(NoiseKind::Gaussian);
  problem.unit = {true, true, 1};
  const double known = plan_residuals(problem, {}).squared_error;
  problem.unit = {true, false, 1};
  const double measured = plan_residuals(problem, {}).squared_error;
  EXPECT_GE(measured, known);
  EXPECT_LT(measured, 1.001 * known);
}

TEST(MarginalsPlanner, IsBelowPublishedErrorsOnAdult) {
  const auto gaussian = adult(NoiseKind::Gaussian);
  const auto plan = plan_marginals(gaussian, {});
  EXPECT_LT(unit_rmse(gaussian, plan), 11.67);
  EXPECT_GT(unit_rmse(gaussian, plan), 10.75);
  const auto laplace = adult(NoiseKind::Laplace);
  const auto wide = plan_marginals(laplace, Threads::all());
  EXPECT_LT(unit_rmse(laplace, wide), 158.0);
  EXPECT_LT(loss(wide), 1e-3);
}

TEST(ProductPlanner, IsBelowPublishedErrors) {
  const auto marginals = adult(NoiseKind::Laplace);
  // By itself it can't be measured, and the plan says what it would have been.
  const auto plan = plan_strategy(marginals, Threads::all());
  for (const auto& result : plan.results) {
    if (result.planner != "product") continue;
    EXPECT_NE(result.left_out, "");
    EXPECT_GT(result.squared_error, plan.strategy.squared_error);
    EXPECT_LT(std::sqrt(result.squared_error / marginals.queries()), 738.0);
    RecordProperty("rmse", std::to_string(std::sqrt(result.squared_error / marginals.queries())));
  }
  const auto line = ranges({256}, NoiseKind::Laplace);
  const auto strategy = plan_product(line, Threads::all());
  EXPECT_LT(unit_rmse(line, strategy), 5.74);
  EXPECT_LT(loss(strategy), 1e-3);
}

TEST(ProductPlanner, IsTheOptimumForRangesWithGaussianNoise) {
  const auto line = ranges({256}, NoiseKind::Gaussian);
  const auto strategy = plan_product(line, Threads::all());
  EXPECT_LT(unit_rmse(line, strategy), 2.95);
  EXPECT_LT(loss(strategy), 1e-3);
  // A product of optima is the optimum for a product.
  const auto plane = ranges({8, 12}, NoiseKind::Gaussian);
  const double least = least_gaussian_error(dense_gram(plane), 1e-3);
  EXPECT_LT(plan_product(plane, {}).squared_error, 1.005 * least);
  EXPECT_LT(plan_residuals(plane, {}).squared_error, 1.005 * least);
}

TEST(Planner, AllRangesOfAPlaneAreBelowPublishedErrors) {
  for (const auto& [noise, published] :
       {std::pair(NoiseKind::Laplace, 33.0), std::pair(NoiseKind::Gaussian, 8.7)}) {
    const auto plane = ranges({256, 256}, noise);
    ASSERT_EQ(plane.queries(), 32'896.0 * 32'896.0);
    const auto plan = plan_strategy(plane, Threads::all());
    EXPECT_LT(unit_rmse(plane, plan.strategy), published);
    EXPECT_LT(loss(plan.strategy), 2e-3);
    RecordProperty(noise == NoiseKind::Laplace ? "laplace" : "gaussian",
                   std::to_string(unit_rmse(plane, plan.strategy)));
  }
}

TEST(MarginalsPlanner, OrderedMarginalsAreBestForOverlappingRangesWithLaplaceNoise) {
  auto problem = all_k_way_problem({64, 64, 64}, 2, NoiseKind::Laplace);
  for (auto& item : problem.workload) item.factors.assign(2, {Kind::Ranges, {}});
  const auto plan = plan_strategy(problem, Threads::all());
  EXPECT_EQ(plan.strategy.planner, "ordered-marginals");
  EXPECT_LT(loss(plan.strategy), 3e-3);  // eight bits for each of three columns
  for (const auto& result : plan.results) {
    if (result.planner == "marginals" || result.planner == "products") {
      EXPECT_GT(result.squared_error, 1.1 * plan.strategy.squared_error) << result.planner;
    }
  }
}

TEST(ColumnStrategy, AFixedPointIsWithinItsGapOfTheOptimum) {
  for (const auto kind : {Kind::Prefix, Kind::Ranges, Kind::Identity}) {
    const DenseMatrix g = gram_of(ColumnQueries{kind, {}}, 20);
    const auto best = best_gaussian_strategy(g, 1e-4, {});
    EXPECT_LE(best.gap, 1e-4);
    for (std::size_t j = 0; j < 20; ++j) EXPECT_LE(best.gram(j, j), 1.0 + 1e-9);
    EXPECT_NEAR(trace_of_product(g, inverse(best.gram)), best.error, 1e-6 * best.error);
    const double p_identity =
        trace_of_product(g, inverse(gram(best_p_identity(g, NoiseKind::Gaussian, 8, 2, 0, {}))));
    EXPECT_GE(p_identity, best.error * (1.0 - 1e-4));
  }
}

// Few of the values are asked about, some a million times as much as others.
TEST(ColumnStrategy, TellsAllValuesApartWhateverIsAsked) {
  for (const auto& rows : {std::vector<std::int64_t>{2, 999'999, 999'999, 1, 0},
                           std::vector<std::int64_t>{1, 1, 1, 0, 0},
                           std::vector<std::int64_t>{1, -1, 0, 0, 0, 1'000'000, 0, 0, 0, 0}}) {
    ColumnWorkload asked;
    asked.add({Kind::Given, rows}, 1.0);
    const DenseMatrix g = asked.gram(5);
    for (const auto noise : {NoiseKind::Gaussian, NoiseKind::Laplace}) {
      const DenseMatrix a = noise == NoiseKind::Gaussian ? best_gaussian_map(g, {})
                                                         : best_p_identity(g, noise, 4, 2, 0, {});
      for (const int bits : {7, 13}) {
        const DenseMatrix k = inverse(gram(rounded_by_norm(a, noise, bits).matrix()));
        EXPECT_LT(trace_of_product(g, k), 1.2 * static_cast<double>(5 * rows.size()));
      }
    }
  }
}

TEST(ColumnStrategy, ColumnsOfAPIdentityHaveNormOne) {
  const DenseMatrix g = gram_of(ColumnQueries{Kind::Ranges, {}}, 12);
  for (const auto noise : {NoiseKind::Laplace, NoiseKind::Gaussian}) {
    for (const auto& a :
         {best_p_identity(g, noise, 3, 2, 0, {}), best_identity_and_total(1.0, 0.5, 12, noise)}) {
      for (std::size_t c = 0; c < 12; ++c) {
        double norm = 0.0;
        for (std::size_t r = 0; r < a.rows; ++r) {
          EXPECT_GE(a(r, c), 0.0);
          norm += noise == NoiseKind::Laplace ? a(r, c) : a(r, c) * a(r, c);
        }
        EXPECT_NEAR(norm, 1.0, 1e-9);
      }
    }
  }
}

TEST(ColumnStrategy, RoundedEntriesHaveFewBits) {
  const DenseMatrix g = gram_of(ColumnQueries{Kind::Prefix, {}}, 30);
  const DenseMatrix a = square_root(best_gaussian_strategy(g, 1e-3, {}).gram);
  const auto map = rounded_map(a, 8);
  const DenseMatrix rounded = map.matrix();
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    EXPECT_LE(std::abs(map.entries[i]), 256);
    EXPECT_NEAR(rounded.values[i], a.values[i], std::ldexp(0.5, map.exponent));
  }
}

TEST(ColumnSplit, TellsTheTotalApartFromTheRest) {
  Rng rng(6);
  DenseMatrix m(9, 6);
  for (double& value : m.values) value = rng.uniform();
  for (const bool singular : {false, true}) {
    if (singular) {
      for (std::size_t r = 0; r < m.rows; ++r) m(r, 5) = m(r, 0) - m(r, 1) - m(r, 2) - m(r, 3);
    }
    const DenseMatrix x = gram(m);
    const ColumnSplit split = split_by(x);
    double sum = 0.0;
    for (const double share : split.profile) sum += share;
    EXPECT_NEAR(sum, 1.0, 1e-9);
    // X pi = c 1, and K X is the projection to sums of zero along pi.
    for (const double value : apply_along(x, split.profile, 1, 1)) {
      EXPECT_NEAR(value, split.shared, 1e-9);
    }
    const DenseMatrix product = multiply(split.within, x);
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 6; ++j) {
        EXPECT_NEAR(product(i, j), (i == j ? 1.0 : 0.0) - split.profile[i], 1e-7);
      }
    }
  }
}

// The optimum by its dual bound, over the whole domain. Weights and maps are rounded ones.
TEST(Planner, IsWithinOnePercentOfTheOptimumOnMarginals) {
  Rng rng(11);
  double worst = 1.0;
  for (int round = 0; round < 40; ++round) {
    const auto problem = random_problem(rng, false);
    const double least = least_gaussian_error(dense_gram(problem), 1e-3);
    const double found = plan_strategy(problem, {}).strategy.squared_error;
    EXPECT_LT(found, 1.01 * least) << round;
    worst = std::max(worst, found / least);
  }
  RecordProperty("worst", std::to_string(worst));
}

TEST(Planner, IsWithinFivePercentOfTheOptimumOnRanges) {
  Rng rng(12);
  double worst = 1.0;
  for (int round = 0; round < 40; ++round) {
    const auto problem = random_problem(rng, true);
    const double least = least_gaussian_error(dense_gram(problem), 1e-3);
    const auto plan = plan_strategy(problem, {});
    EXPECT_LT(plan.strategy.squared_error, 1.05 * least) << round << plan.strategy.planner;
    worst = std::max(worst, plan.strategy.squared_error / least);
  }
  RecordProperty("worst", std::to_string(worst));
}

}  // namespace
}  // namespace tandem
