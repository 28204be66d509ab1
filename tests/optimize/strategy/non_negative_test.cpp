// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/non_negative.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/dense_planning.h"
#include "tandem/optimize/strategy/marginals_planner.h"
#include "tandem/optimize/strategy/residual_planner.h"

namespace tandem {
namespace {

// A sparse table over a small domain, and what a strategy would measure of it.
struct Measured {
  PlanningProblem problem;
  Strategy strategy;
  std::vector<double> cells;
  std::vector<std::vector<double>> answers;
  std::vector<Clique> cliques;
};

Measured measured(bool residual, std::uint64_t seed, bool ordered = false) {
  Measured out;
  out.problem = all_k_way_problem({3, 4, 5, 2}, 2, NoiseKind::Gaussian);
  out.problem.unit = {true, true, 1};
  if (ordered) out.problem.workload[0].factors[1].kind = ColumnQueries::Kind::Prefix;
  out.strategy = residual ? plan_residuals(out.problem, {}) : plan_marginals(out.problem, {});
  Rng rng(seed);
  for (std::size_t c = 0; c < 120; ++c) {
    out.cells.push_back(rng.below(12) == 0 ? static_cast<double>(rng.below(40)) : 0.0);
  }
  for (std::size_t k = 0; k < out.strategy.maps.size(); ++k) {
    out.answers.push_back(apply_along(dense_map(out.problem, out.strategy, k), out.cells, 1, 1));
    const double s = out.strategy.sensitivity / out.strategy.maps[k].weight.value();
    for (double& value : out.answers.back()) {
      double noise = -6.0;
      for (int i = 0; i < 12; ++i) noise += rng.uniform();
      value += 2.0 * s * noise;
    }
  }
  for (const auto& item : out.problem.workload) out.cliques.push_back(item.clique);
  return out;
}

double total_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

Reconstruction reconstructed(const Measured& m) {
  return {m.problem, m.strategy,        knowledge_of(m.problem, m.strategy, {}),
          m.answers, total_of(m.cells), {}};
}

TEST(NonNegative, MarginalsAgreeWithEachOtherAndHaveNoNegativeCounts) {
  for (const int kind : {0, 1, 2}) {  // residuals, marginals, and residuals of uneven splits
    const auto m = measured(kind != 1, 4, kind == 2);
    const double total = total_of(m.cells);
    const Reconstruction raw = reconstructed(m);
    const auto fit = fit_non_negative(m.problem, m.strategy, raw, m.cliques, 1e-6, 20'000, {});
    EXPECT_LE(fit.most_negative, 1e-6);
    double raw_error = 0.0;
    double error = 0.0;
    double least = 0.0;
    for (const auto& item : m.problem.workload) {
      const ProductQueries cells{item.clique, std::vector<ColumnQueries>(2), 1.0};
      const auto truth = apply_along(dense_queries(m.problem, cells), m.cells, 1, 1);
      const auto before = raw.marginal(item.clique);
      const auto after = table_from_residuals(raw.profiles(), fit.residuals, item.clique);
      EXPECT_NEAR(total_of(after), total, 1e-6);
      for (std::size_t t = 0; t < truth.size(); ++t) {
        least = std::min(least, before[t]);
        EXPECT_GE(after[t], -1e-5);
        raw_error += (before[t] - truth[t]) * (before[t] - truth[t]);
        error += (after[t] - truth[t]) * (after[t] - truth[t]);
      }
    }
    EXPECT_LT(least, -1.0);  // there was something to do
    EXPECT_LT(error, raw_error);
  }
}

TEST(NonNegative, CountsThatAreFineStayAsTheyAre) {
  auto m = measured(true, 4);
  for (double& cell : m.cells) cell += 50.0;
  for (std::size_t k = 0; k < m.answers.size(); ++k) {
    m.answers[k] = apply_along(dense_map(m.problem, m.strategy, k), m.cells, 1, 1);
  }
  const Reconstruction raw = reconstructed(m);
  const auto fit = fit_non_negative(m.problem, m.strategy, raw, m.cliques, 1e-6, 1000, {});
  EXPECT_EQ(fit.steps, 0);
  EXPECT_EQ(table_from_residuals(raw.profiles(), fit.residuals, m.cliques[0]),
            raw.marginal(m.cliques[0]));
}

// The fit is a projection: no other table without negative counts is nearer to what was measured.
TEST(NonNegative, NoNonNegativeTableIsNearer) {
  const auto m = measured(true, 9);
  const Reconstruction raw = reconstructed(m);
  const auto fit = fit_non_negative(m.problem, m.strategy, raw, m.cliques, 1e-7, 50'000, {});
  const auto known = residual_knowledge(m.problem, m.strategy);
  // At a projection z of r onto a convex set, <r - z, x - z> <= 0 for every x in the set.
  Rng rng(2);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> table(120);
    for (double& cell : table) cell = rng.below(4) == 0 ? rng.uniform() : 0.0;
    const double share = total_of(m.cells) / total_of(table);
    for (double& cell : table) cell *= share;
    double product = 0.0;
    double size = 0.0;
    const auto step = [&](std::size_t i, bool inside, std::span<const double> x,
                          std::size_t outer) {
      const std::size_t n = m.problem.sizes[i];
      std::vector<double> out(x.begin(), x.end());
      const std::size_t inner = x.size() / (outer * n);
      if (!inside) return sum_along(x, outer, n, inner);
      centre_along(out, outer, n, inner);
      return out;
    };
    for_all_parts(m.problem.sizes, Clique{0, 1, 2, 3}, table, step,
                  [&](const Clique& part, std::vector<double> x) {
                    const auto scale = known.scale(part);
                    if (!scale) return;
                    const auto& r = raw.residuals().at(part);
                    const auto& z = fit.residuals.at(part);
                    for (std::size_t t = 0; t < x.size(); ++t) {
                      const double apart = r[t] - z[t];
                      product += apart * (x[t] - z[t]) / *scale;
                      size += std::abs(apart * (x[t] - z[t])) / *scale;
                    }
                  });
    EXPECT_LE(product, 1e-3 * size);
  }
}

TEST(NonNegative, WholeCountsHaveTheTotal) {
  const auto m = measured(true, 5);
  const Reconstruction raw = reconstructed(m);
  const auto fit = fit_non_negative(m.problem, m.strategy, raw, m.cliques, 0.01, 2000, {});
  Rng rng(1);
  for (const auto& clique : m.cliques) {
    const auto counts = whole_counts(raw, fit, clique, 321, rng);
    EXPECT_EQ(total_of(counts), 321.0);
    for (const double count : counts) {
      EXPECT_GE(count, 0.0);
      EXPECT_EQ(count, std::floor(count));
    }
  }
}

}  // namespace
}  // namespace tandem
