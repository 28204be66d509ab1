// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/rounds/fit_measurements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/errors.h"
#include "tandem/base/error.h"
#include "tandem/base/rng.h"
#include "tandem/model/pgm/junction_tree.h"
#include "tandem/query/counting.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

constexpr std::size_t kRows = 5000;

Domain domain() { return Domain({{"a", 4, {}}, {"b", 5, {}}, {"c", 6, {}}, {"d", 3, {}}}); }

Table table() {
  Table out(domain(), kRows);
  Rng rng(4);
  for (std::size_t r = 0; r < kRows; ++r) {
    const auto a = static_cast<Code>(rng.below(4));
    const auto b = static_cast<Code>((a + rng.below(2)) % 5);
    out.column(0).set(r, a);
    out.column(1).set(r, b);
    out.column(2).set(r, static_cast<Code>((b + rng.below(3)) % 6));
    out.column(3).set(r, static_cast<Code>(rng.below(10) == 0 ? 1 : 0));
  }
  return out;
}

std::vector<Measurement> measured(const std::vector<Clique>& cliques, double sigma) {
  const CountedTable counts(table());
  std::vector<Measurement> out;
  for (const auto& clique : cliques) {
    Measurement m;
    m.query = {clique};
    m.values = counts.project(clique).values;
    m.noise = NoiseKind::Gaussian;
    m.sigma = Sigma(sigma);
    out.push_back(std::move(m));
  }
  return out;
}

double distance(const Model& model, const Clique& clique) {
  const auto found = model.project(clique);
  const auto truth = CountedTable(table()).project(clique);
  double sum = 0.0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    sum += std::abs(found.values[i] - truth.values[i]);
  }
  return sum / kRows;
}

TEST(FitMeasurements, HasEveryMarginalThatFits) {
  const auto fit = fit_measurements(domain(), measured({{0, 1}, {1, 2}, {3}}, 1.0), kRows, 1.0, {},
                                    {}, Threads{});
  EXPECT_EQ(fit.measured, 3U);
  EXPECT_EQ(fit.cut, 0U);
  EXPECT_TRUE(fit.converged);
  EXPECT_LT(distance(fit.model, {0, 1}), 0.01);
  EXPECT_LT(distance(fit.model, {1, 2}), 0.01);
  EXPECT_LT(distance(fit.model, {3}), 0.01);
}

TEST(FitMeasurements, WithoutRoomAMarginalCountsByItsParts) {
  const std::vector<Clique> cliques = {{0, 1, 2, 3}};  // 360 cells
  const double limit = 400e-6;                         // 50 cells
  const auto fit =
      fit_measurements(domain(), measured(cliques, 1.0), kRows, limit, {}, {}, Threads{});
  EXPECT_EQ(fit.cut, 1U);
  EXPECT_LE(static_cast<double>(model_bytes(fit.model.tree().cells)), limit * 1e6);
  for (AttributeId id = 0; id < 4; ++id) EXPECT_LT(distance(fit.model, Clique{id}), 0.02) << id;
  double pairs = 0.0;  // at least one of the strong pairs is still known
  for (const auto& pair : {Clique{0, 1}, Clique{1, 2}, Clique{0, 3}, Clique{2, 3}}) {
    pairs += distance(fit.model, pair) < 0.02 ? 1.0 : 0.0;
  }
  EXPECT_GE(pairs, 1.0);
}

TEST(FitMeasurements, NoRoomForTheColumnsIsAnError) {
  const auto message = error_of<UsageError>(
      [] { fit_measurements(domain(), measured({{0}}, 1.0), kRows, 50e-6, {}, {}, Threads{}); });
  EXPECT_TRUE(contains(message, "the columns alone take 144 B"));
}

TEST(FitMeasurements, PublicMarginalsCountLikeTheNoisyOnes) {
  auto measurements = measured({{0, 1}, {1, 2}, {3}}, 2.0);
  measurements[1].origin = Origin::Public;
  measurements[1].noise = NoiseKind::None;
  measurements[1].sigma = Sigma(0.0);
  const auto fit = fit_measurements(domain(), measurements, kRows, 1.0, {}, {}, Threads{});
  EXPECT_LT(distance(fit.model, {1, 2}), 0.01);
}

TEST(FitMeasurements, StartsFromTheModelsOwnPotentialsAndKeepsItsZeros) {
  std::vector<Factor> start = {{Clique{0, 1}, std::vector<double>(20, 0.0)}};
  start[0].values[0] = -std::numeric_limits<double>::infinity();
  start.push_back({Clique{0, 3}, std::vector<double>(12, 1.0)});  // of no measured marginal
  const auto fit = fit_measurements(domain(), measured({{0, 1}, {2}, {3}}, 1.0), kRows, 1.0, {},
                                    start, Threads{});
  EXPECT_EQ(fit.model.project({0, 1}).values[0], 0.0);
}

// Whatever was measured: here a cell that noise gave some rows.
TEST(FitMeasurements, WhatRulesExcludeHasNoRows) {
  ImpossibleBox box;
  box.sides.push_back({0, {true, false, false, false}});
  box.sides.push_back({3, {false, true, false}});
  const auto fit = fit_measurements(domain(), measured({{0, 1}, {2}, {0, 3}}, 1.0), kRows, 1.0,
                                    {box}, {}, Threads{});
  EXPECT_EQ(fit.model.project({0, 3}).values[1], 0.0);
  EXPECT_TRUE(fit.warnings.empty());
  // In 60 cells a quarter of the room is not enough for a rule of twelve beside the columns.
  const auto small =
      fit_measurements(domain(), measured({{0}, {3}}, 1.0), kRows, 480e-6, {box}, {}, Threads{});
  EXPECT_EQ(small.warnings.size(), 1U);
}

TEST(FitMeasurements, PassesOverTheTotal) {
  auto measurements = measured({{}, {0}, {1}}, 1.0);
  const auto fit = fit_measurements(domain(), measurements, 100.0, 1.0, {}, {}, Threads{});
  EXPECT_EQ(fit.measured, 2U);
  EXPECT_NEAR(total(fit.model.project({})), 100.0, 1e-9);
}

}  // namespace
}  // namespace tandem
