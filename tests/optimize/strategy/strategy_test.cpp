// SPDX-License-Identifier: Apache-2.0
// Every planner against matrices over the whole domain: what it predicts, and what it reconstructs.
#include "tandem/optimize/strategy/strategy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/dense_planning.h"
#include "tandem/optimize/strategy/marginals_planner.h"
#include "tandem/optimize/strategy/planner.h"
#include "tandem/optimize/strategy/product_planner.h"
#include "tandem/optimize/strategy/reconstruction.h"
#include "tandem/optimize/strategy/residual_planner.h"

namespace tandem {
namespace {

using Kind = ColumnQueries::Kind;

// Weight of a public total, in the largest of the others: as good as exact.
constexpr double kPublic = 1e3;

// The pseudo-inverse of a symmetric matrix.
DenseMatrix pseudo_inverse(const DenseMatrix& symmetric) {
  const SymmetricEigen parts = eigen(symmetric);
  const double largest = *std::ranges::max_element(parts.values);
  DenseMatrix out(symmetric.rows, symmetric.rows);
  for (std::size_t k = 0; k < symmetric.rows; ++k) {
    if (parts.values[k] < 1e-13 * largest) continue;
    for (std::size_t i = 0; i < symmetric.rows; ++i) {
      for (std::size_t j = 0; j < symmetric.rows; ++j) {
        out(i, j) += parts.vectors(k, i) * parts.vectors(k, j) / parts.values[k];
      }
    }
  }
  return out;
}

// The rows of `more`, times `weight`, below those of `stack`.
void append(DenseMatrix& stack, const DenseMatrix& more, double weight) {
  stack.columns = more.columns;
  stack.rows += more.rows;
  for (const double value : more.values) stack.values.push_back(weight * value);
}

void expect_as_by_brute_force(const PlanningProblem& problem, const Strategy& strategy) {
  SCOPED_TRACE(strategy.planner);
  Rng rng(5);
  // Everything measured, each map with its weight, and answers with any noise.
  DenseMatrix everything;
  std::vector<std::vector<double>> answers;
  std::vector<double> cells;
  for (std::size_t k = 0; k < strategy.maps.size(); ++k) {
    const DenseMatrix m = dense_map(problem, strategy, k);
    if (cells.empty()) {
      for (std::size_t c = 0; c < m.columns; ++c) {
        cells.push_back(static_cast<double>(rng.below(20)));
      }
    }
    append(everything, m, strategy.maps[k].weight.value());
    answers.push_back(apply_along(m, cells, 1, 1));
    for (double& value : answers.back()) value += rng.uniform() - 0.5;
  }
  double total = 0.0;
  for (const double cell : cells) total += cell;
  double largest = 0.0;
  for (const double entry : everything.values) largest = std::max(largest, std::abs(entry));

  const double found = brute_force_sensitivity(problem, everything) *
                       static_cast<double>(problem.unit.rows_per_person);
  EXPECT_GE(strategy.sensitivity, found * (1.0 - 1e-9));
  const bool exact = strategy.planner == "residual" || strategy.planner == "marginals";
  if (exact) {
    EXPECT_LE(strategy.sensitivity, found * (1.0 + 1e-9));
  }

  const double squared = strategy.sensitivity * strategy.sensitivity;
  const StrategyKnowledge known = knowledge_of(problem, strategy, {});
  const Reconstruction reconstruction(problem, strategy, known, answers, total, {});
  double error = 0.0;
  for (std::size_t t = 0; t < problem.workload.size(); ++t) {
    const auto& item = problem.workload[t];
    // What the item's answers come from: all maps, or the one product that holds it.
    DenseMatrix used;
    std::vector<double> values;
    for (std::size_t k = 0; k < strategy.maps.size(); ++k) {
      if (strategy.shape == Strategy::Shape::Products &&
          strategy.map_for(asked_columns(problem, item)) != k) {
        continue;
      }
      const double weight = strategy.maps[k].weight.value();
      append(used, dense_map(problem, strategy, k), weight);
      for (const double value : answers[k]) values.push_back(weight * value);
    }
    if (problem.unit.total_is_public && strategy.shape != Strategy::Shape::Products) {
      DenseMatrix ones(1, used.columns);
      std::ranges::fill(ones.values, 1.0);
      append(used, ones, kPublic * largest);
      values.push_back(kPublic * largest * total);
    }
    const DenseMatrix covariance = pseudo_inverse(gram(used));
    const DenseMatrix w = dense_queries(problem, item);
    const auto estimate =
        apply_along(multiply(w, multiply_transposed(covariance, used)), values, 1, 1);
    const auto got = reconstruction.answer(item);
    const QueryVariances variances(problem, strategy, known, item);
    const auto all = variances.all();
    ASSERT_EQ(got.size(), w.rows);
    ASSERT_EQ(all.size(), w.rows);
    const DenseMatrix spread = multiply_transposed(multiply(w, covariance), w);
    double sum = 0.0;
    for (std::size_t q = 0; q < w.rows; ++q) {
      const auto row = w.row(q);
      const bool counts_rows =
          std::ranges::all_of(row, [&](double entry) { return entry == row[0]; });
      if (counts_rows && problem.unit.total_is_public) {  // all shapes answer it from the total
        ASSERT_NEAR(got[q], row[0] * total, 1e-9 * (1.0 + std::abs(row[0] * total)));
        ASSERT_EQ(all[q], 0.0);
        continue;
      }
      ASSERT_NEAR(got[q], estimate[q], 1e-4 * (1.0 + std::abs(estimate[q]))) << t << " " << q;
      ASSERT_NEAR(all[q], squared * spread(q, q), 1e-5 * squared * (spread(q, q) + 1.0));
      sum += all[q];
    }
    EXPECT_NEAR(variances.sum(), sum, 1e-9 * sum);
    EXPECT_NEAR(strategy.item_errors[t], item.weight * item.weight * sum, 1e-6 * (sum + 1e-9));
    error += strategy.item_errors[t];
  }
  EXPECT_NEAR(strategy.squared_error, error, 1e-9 * error);
  // A product of four columns, of persons of three rows, has seven bits for each.
  EXPECT_LT(strategy.squared_error, 1.005 * strategy.planned_squared_error);
}

PlanningProblem mixed_problem() {
  PlanningProblem out;
  out.sizes = {3, 1, 4, 2};
  out.workload = {{{0, 2}, {{}, {Kind::Ranges, {}}}, 1.0},
                  {{2}, {{Kind::Prefix, {}}}, 2.0},
                  {{0, 1, 3}, {{}, {}, {}}, 0.5},
                  {{0, 3}, {{Kind::Given, {1, 2, 0, 0, -1, 1}}, {Kind::Total, {}}}, 1.5},
                  {{}, {}, 1.0}};
  return out;
}

class UnitTest : public testing::TestWithParam<PlanningUnit> {};

TEST_P(UnitTest, MarginalsByGaussianNoiseAreAsByBruteForce) {
  auto problem = all_k_way_problem({2, 3, 4, 2}, 2, NoiseKind::Gaussian);
  problem.unit = GetParam();
  problem.workload[1].weight = 3.0;
  expect_as_by_brute_force(problem, plan_residuals(problem, {}));
  expect_as_by_brute_force(problem, plan_marginals(problem, {}));
  expect_as_by_brute_force(problem, plan_product(problem, {}));
}

TEST_P(UnitTest, MarginalsByLaplaceNoiseAreAsByBruteForce) {
  auto problem = all_k_way_problem({2, 3, 4, 2}, 2, NoiseKind::Laplace);
  problem.unit = GetParam();
  problem.workload[2].weight = 0.2;
  expect_as_by_brute_force(problem, plan_marginals(problem, {}));
  expect_as_by_brute_force(problem, plan_product(problem, {}));
  expect_as_by_brute_force(problem, plan_products(problem, {}));
}

TEST_P(UnitTest, ProductsOfManyKindsAreAsByBruteForce) {
  for (const auto noise : {NoiseKind::Gaussian, NoiseKind::Laplace}) {
    auto problem = mixed_problem();
    problem.noise = noise;
    problem.unit = GetParam();
    expect_as_by_brute_force(problem, noise == NoiseKind::Gaussian
                                          ? plan_residuals(problem, {})
                                          : plan_ordered_marginals(problem, {}));
    expect_as_by_brute_force(problem, plan_marginals(problem, {}));
    expect_as_by_brute_force(problem, plan_product(problem, {}));
    expect_as_by_brute_force(problem, plan_products(problem, {}));
  }
}

TEST_P(UnitTest, RowsThatLeaveDifferencesOutAreAsByBruteForce) {
  PlanningProblem problem;
  problem.sizes = {8, 3};
  problem.workload = {
      {{0}, {{Kind::Given, {1, 1, 1, 0, 0, 0, 0, 0}}}, 1.0},
      {{0, 1}, {{Kind::Given, {1, -1, 0, 0, 0, 0, 1'000'000, -2}}, {Kind::Prefix, {}}}, 2.0}};
  problem.unit = GetParam();
  for (const auto noise : {NoiseKind::Gaussian, NoiseKind::Laplace}) {
    problem.noise = noise;
    expect_as_by_brute_force(problem, noise == NoiseKind::Gaussian
                                          ? plan_residuals(problem, {})
                                          : plan_ordered_marginals(problem, {}));
    expect_as_by_brute_force(problem, plan_marginals(problem, {}));
    expect_as_by_brute_force(problem, plan_product(problem, {}));
  }
}

// Whole numbers that are nearly alike ask for little more than the total, and not for nothing more.
TEST_P(UnitTest, NearlyAlikeRowsAreNotCertain) {
  PlanningProblem problem;
  problem.sizes = {2};
  problem.workload = {{{0}, {{Kind::Given, {1'000'000, 1'000'000, 1'000'000, 999'999}}}, 1.0}};
  problem.unit = GetParam();
  for (const auto& strategy : {plan_residuals(problem, {}), plan_marginals(problem, {})}) {
    SCOPED_TRACE(strategy.planner);
    EXPECT_EQ(asked_columns(problem, problem.workload[0]), Clique{0});
    const StrategyKnowledge known = knowledge_of(problem, strategy, {});
    const auto variances = QueryVariances(problem, strategy, known, problem.workload[0]).all();
    // (1e6, 999,999) is the total times 999,999.5 and half the difference of the two values.
    const QueryVariances halves(problem, strategy, known, {{0}, {{Kind::Given, {1, -1}}}, 1.0});
    const double total = QueryVariances(problem, strategy, known, {{}, {}, 1.0}).sum();
    EXPECT_NEAR(variances[0], 1e12 * total, 1e3 * total);
    EXPECT_NEAR(variances[1] - 999'999.5 * 999'999.5 * total, 0.25 * halves.sum(),
                1e-3 * (total + halves.sum()));
    EXPECT_GT(halves.sum(), 0.0);
    EXPECT_NEAR(strategy.squared_error, variances[0] + variances[1], 1e-9 * strategy.squared_error);
  }
}

INSTANTIATE_TEST_SUITE_P(Strategy, UnitTest,
                         testing::Values(PlanningUnit{false, false, 1}, PlanningUnit{true, true, 1},
                                         PlanningUnit{true, false, 1},
                                         PlanningUnit{true, false, 3}));

TEST(Strategy, GivesTheSameAtAnyNumberOfThreads) {
  const auto problem = all_k_way_problem({2, 3, 4, 5, 3}, 3, NoiseKind::Laplace);
  const auto one = plan_marginals(problem, {1});
  const auto two = plan_marginals(problem, {2});
  ASSERT_EQ(one.maps.size(), two.maps.size());
  EXPECT_EQ(one.squared_error, two.squared_error);
  for (std::size_t k = 0; k < one.maps.size(); ++k) {
    EXPECT_EQ(one.maps[k].weight.mantissa, two.maps[k].weight.mantissa);
  }
}

TEST(Strategy, TheLowestExpectedErrorWins) {
  auto problem = mixed_problem();
  const auto plan = plan_strategy(problem, {});
  ASSERT_EQ(plan.results.size(), 5U);
  EXPECT_EQ(plan.results[0].planner, plan.strategy.planner);
  EXPECT_EQ(plan.results[0].squared_error, plan.strategy.squared_error);
  EXPECT_EQ(plan.results.back().planner, "ordered-marginals");
  EXPECT_NE(plan.results.back().left_out, "");
  for (const auto& result : plan.results) {
    if (!result.left_out.empty()) continue;
    EXPECT_GE(result.squared_error, plan.strategy.squared_error);
  }
  problem.noise = NoiseKind::Laplace;
  const auto pure = plan_strategy(problem, {});
  EXPECT_EQ(pure.results.back().planner, "residual");
  EXPECT_NE(pure.results.back().left_out, "");
}

TEST(Strategy, APublicTotalAloneNeedsNoNoise) {
  PlanningProblem problem;
  problem.sizes = {4};
  problem.workload = {{{}, {}, 1.0}};
  problem.unit = {true, true, 1};
  for (const auto& strategy :
       {plan_residuals(problem, {}), plan_marginals(problem, {}), plan_product(problem, {})}) {
    EXPECT_EQ(strategy.squared_error, 0.0);
    const Reconstruction found(problem, strategy, knowledge_of(problem, strategy, {}), {{3.0}},
                               17.0, {});
    EXPECT_EQ(found.answer(problem.workload[0]), std::vector<double>{17.0});
  }
}

TEST(DyadicWeight, HasAsManyBitsAsAskedFor) {
  EXPECT_EQ(DyadicWeight::nearest(0.75, 8).mantissa, 3);
  EXPECT_EQ(DyadicWeight::nearest(0.75, 8).exponent, -2);
  EXPECT_EQ(DyadicWeight::nearest(1.0, 4).mantissa, 1);
  for (const double value : {1e-7, 0.3, 1.0 / 3.0, 12345.678}) {
    const auto near = DyadicWeight::nearest(value, 8);
    EXPECT_LT(near.mantissa, 257);
    EXPECT_NEAR(near.value(), value, value / 256.0);
  }
}

}  // namespace
}  // namespace tandem
