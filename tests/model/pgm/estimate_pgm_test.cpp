// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/estimate_pgm.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "model/pgm/dense_model.h"
#include "support/random_tables.h"
#include "tandem/base/error.h"
#include "tandem/query/counting.h"

namespace tandem {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Measurement measured(const LinearQuery& query, std::vector<double> values, double sigma) {
  Measurement out;
  out.query = query;
  out.values = std::move(values);
  out.noise = NoiseKind::Gaussian;
  out.sigma = Sigma(sigma);
  return out;
}

// sum_i |A_i p - b_i|^2 / (2 sigma_i^2) of a dense p, and its gradient.
double dense_loss(const Domain& domain, const Factor& p, std::span<const Measurement> measurements,
                  std::vector<double>& gradient) {
  gradient.assign(p.values.size(), 0.0);
  double loss = 0.0;
  for (const auto& m : measurements) {
    const auto marginal = marginalize(p, domain, m.query.clique);
    auto residual = m.query.map.apply(marginal.values);
    std::vector<double> back(marginal.values.size(), 0.0);
    for (std::size_t i = 0; i < residual.size(); ++i) {
      residual[i] -= m.values[i];
      loss += residual[i] * residual[i] / (2.0 * m.sigma.value() * m.sigma.value());
      const double slope = residual[i] / (m.sigma.value() * m.sigma.value());
      if (m.query.map.is_identity()) {
        back[i] += slope;
      } else {
        for (const auto& entry : m.query.map.row(i)) {
          back[entry.column] += static_cast<double>(entry.coefficient) * m.query.map.unit() * slope;
        }
      }
    }
    for_each_cell(domain, p.clique, m.query.clique,
                  [&](std::size_t cell, std::size_t part) { gradient[cell] += back[part]; });
  }
  return loss;
}

// Exponentiated gradient on every row of the domain: slow, independent, and sure to go downhill.
// Minimises loss + nu KL(p || prior), p summing to `total`.
Factor dense_estimate(const Domain& domain, std::span<const Measurement> measurements,
                      const Factor& prior, double nu, double total, int iterations) {
  Factor p = prior;
  std::vector<double> gradient;
  std::vector<double> scratch;
  const auto objective = [&](const Factor& at, std::vector<double>& g) {
    double value = dense_loss(domain, at, measurements, g);
    for (std::size_t i = 0; i < at.values.size(); ++i) {
      if (at.values[i] <= 0.0) continue;
      const double log_ratio = std::log(at.values[i] / prior.values[i]);
      value += nu / total * at.values[i] * log_ratio;
      g[i] += nu / total * log_ratio;
    }
    return value;
  };
  double value = objective(p, gradient);
  double step = 1.0;
  for (int k = 0, still = 0; k < iterations && still < 20; ++k) {
    Factor next = p;
    double least = kInfinity;
    for (const double g : gradient) least = std::min(least, g);
    double sum = 0.0;
    for (std::size_t i = 0; i < next.values.size(); ++i) {
      sum += next.values[i] *= std::exp(-step * (gradient[i] - least));
    }
    for (double& cell : next.values) cell *= total / sum;
    const double there = objective(next, scratch);
    if (there <= value) {
      still = value - there <= 1e-13 * value ? still + 1 : 0;
      value = there;
      p = std::move(next);
      std::swap(gradient, scratch);
      step *= 1.2;
    } else {
      step *= 0.5;
    }
  }
  return p;
}

// A few marginals (and maps) of a random table, with rough noise.
std::vector<Measurement> any_measurements(const Table& table) {
  const Domain& domain = table.domain();
  std::vector<Measurement> out;
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const auto count = *rc::gen::inRange<std::size_t>(0, 6);
  for (std::size_t i = 0; i < count; ++i) {
    const Clique clique = test::any_clique(domain, 30);
    auto values = test::brute_force(table, clique).values;
    LinearQuery query{clique};
    if (*rc::gen::inRange(0, 4) == 0) {
      std::vector<std::vector<LinearMap::Entry>> rows(2);
      for (auto& row : rows) {
        for (std::size_t c = 0; c < values.size(); ++c) {
          if (rng.below(2) == 0) row.push_back({c, static_cast<std::int64_t>(rng.below(5)) - 2});
        }
      }
      query.map = LinearMap::rows(std::move(rows), values.size());
      values = query.map.apply(values);
    }
    const double sigma = 1.0 + 4.0 * rng.uniform();
    for (double& value : values) value += sigma * 3.0 * (rng.uniform() + rng.uniform() - 1.0);
    out.push_back(measured(query, std::move(values), sigma));
  }
  return out;
}

RC_GTEST_PROP(EstimatePgm, FitsAsWellAsAnySolverDoes, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 4}, 4);
  const Table table = test::any_table(domain, 60);
  const auto measurements = any_measurements(table);
  const auto fit = estimate_pgm(domain, measurements, 60.0, {}, {.tolerance = 1e-6});
  RC_ASSERT(fit.converged);
  const auto uniform = test::dense_model(domain, {}, 60.0);
  const auto dense = dense_estimate(domain, measurements, uniform, 0.0, 60.0, 1500);
  std::vector<double> gradient;
  std::vector<Measurement> marginals = measurements;  // the total is given, not fitted
  std::erase_if(marginals, [](const Measurement& m) { return m.query.clique.empty(); });
  const double best = dense_loss(domain, dense, marginals, gradient);
  RC_ASSERT(fit.loss <= best + 1e-3 * std::max(1.0, best));
  RC_ASSERT(best >= fit.loss - fit.gap - 1e-6);
  // The loss it reports is the loss of the model it gives.
  const double loss = dense_loss(domain, fit.model.project(domain.all()), marginals, gradient);
  RC_ASSERT(std::abs(loss - fit.loss) <= 1e-6 * std::max(1.0, loss));
}

RC_GTEST_PROP(EstimatePgm, NearAPriorItFindsTheOneAnswer, ()) {
  const Domain domain = test::any_domain({1, 2, 3}, 4);
  const Table table = test::any_table(domain, 60);
  const auto measurements = any_measurements(table);
  const auto prior = test::any_potentials(domain, 1.0, 3);
  const double rows = *rc::gen::elementOf(std::vector<double>{2.0, 20.0});
  const auto fit =
      estimate_pgm(domain, measurements, 60.0, prior, {.tolerance = 1e-9, .prior_rows = rows});
  const auto dense = dense_estimate(domain, measurements, test::dense_model(domain, prior, 60.0),
                                    rows, 60.0, 100'000);
  RC_ASSERT(test::near(fit.model.project(domain.all()), dense, 0.05));
}

RC_GTEST_PROP(EstimatePgm, WithoutNoiseMarginalsAreMatched, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 5}, 6);
  const Table table = test::any_table(domain, 80);
  std::vector<Measurement> measurements;
  for (int i = 0; i < 5; ++i) {
    const Clique clique = test::any_clique(domain, 60);
    measurements.push_back(measured({clique}, test::brute_force(table, clique).values, 0.5));
  }
  const auto fit = estimate_pgm(domain, measurements, 80.0, {}, {.tolerance = 1e-5});
  for (const auto& m : measurements) {
    RC_ASSERT(test::near(fit.model.project(m.query.clique), {m.query.clique, m.values}, 0.02));
  }
}

RC_GTEST_PROP(EstimatePgm, AnEarlierModelOnAnotherTreeIsAStart, ()) {
  const Domain domain = test::any_domain({2, 3}, 5);
  const Table table = test::any_table(domain, 60);
  auto measurements = any_measurements(table);
  const PgmOptions exact{.tolerance = 1e-7};
  const auto first = estimate_pgm(domain, measurements, 60.0, {}, exact);
  for (const auto& more : any_measurements(table)) measurements.push_back(more);
  const auto warm = estimate_pgm(domain, measurements, 60.0, first.model.potentials(), exact);
  const auto cold = estimate_pgm(domain, measurements, 60.0, {}, exact);
  RC_ASSERT(std::abs(warm.loss - cold.loss) <= 5e-3 * std::max(1.0, cold.loss));
}

TEST(EstimatePgm, NothingMeasuredIsUniform) {
  const Domain domain({{"a", 3, {}}, {"b", 1, {}}});
  const auto fit = estimate_pgm(domain, {}, 9.0);
  EXPECT_TRUE(fit.converged);
  EXPECT_EQ(fit.propagations, 0);
  for (const double value : fit.model.project({0, 1}).values) EXPECT_NEAR(value, 3.0, 1e-12);
}

TEST(EstimatePgm, ATotalIsPassedOver) {
  const Domain domain({{"a", 2, {}}});
  const std::vector<Measurement> measurements{measured({Clique{}}, {50.0}, 0.0),
                                              measured({Clique{0}}, {2.0, 6.0}, 1.0)};
  const auto fit = estimate_pgm(domain, measurements, 8.0, {}, {.tolerance = 1e-8});
  EXPECT_NEAR(fit.model.project({0}).values[0], 2.0, 1e-3);
}

TEST(EstimatePgm, MeasurementsOfOneMarginalCountByTheirPrecision) {
  const Domain domain({{"a", 2, {}}});
  const std::vector<Measurement> measurements{measured({Clique{0}}, {10.0, 90.0}, 1.0),
                                              measured({Clique{0}}, {20.0, 80.0}, 2.0)};
  const auto fit = estimate_pgm(domain, measurements, 100.0, {}, {.tolerance = 1e-9});
  EXPECT_NEAR(fit.model.project({0}).values[0], 12.0, 1e-3);  // 4 to 1
  EXPECT_NEAR(fit.loss, 0.5 * (2.0 * 4.0 / 1.0 + 2.0 * 64.0 / 4.0), 1e-3);
}

TEST(EstimatePgm, NegativeAnswersLeaveNothingThereAndCanBeTakenBack) {
  const Domain domain({{"a", 3, {}}, {"b", 2, {}}});
  std::vector<Measurement> measurements{
      measured({Clique{0, 1}}, {-400.0, 300.0, 200.0, 100.0, 200.0, 100.0}, 50.0)};
  std::vector<Factor> start;
  for (int round = 0; round < 30; ++round) {  // many warm starts: the cell is pushed down each time
    const auto fit = estimate_pgm(domain, measurements, 900.0, start);
    start.assign(fit.model.potentials().begin(), fit.model.potentials().end());
    EXPECT_LT(fit.model.project({0, 1}).values[0], 1e-3);
  }
  measurements.push_back(measured({Clique{0, 1}}, {100.0, 200.0, 150.0, 150.0, 150.0, 150.0}, 1.0));
  const auto fit = estimate_pgm(domain, measurements, 900.0, start);
  EXPECT_NEAR(fit.model.project({0, 1}).values[0], 100.0, 1.0);
}

TEST(EstimatePgm, StructuralZerosStayWhateverTheAnswersSay) {
  const Domain domain({{"a", 2, {}}, {"b", 2, {}}, {"c", 3, {}}});
  const Factor mask{{0, 1}, {0.0, -kInfinity, 0.0, 0.0}};
  const std::vector<Measurement> measurements{
      measured({Clique{0, 1}}, {40.0, 30.0, 20.0, 10.0}, 5.0),
      measured({Clique{1, 2}}, {20.0, 20.0, 20.0, 10.0, 20.0, 10.0}, 5.0)};
  const auto fit = estimate_pgm(domain, measurements, 100.0, {{mask}});
  EXPECT_TRUE(fit.converged);
  EXPECT_EQ(fit.model.project({0, 1}).values[1], 0.0);
  const auto again = estimate_pgm(domain, measurements, 100.0, fit.model.potentials());
  EXPECT_EQ(again.model.project({0, 1}).values[1], 0.0);
  EXPECT_NEAR(again.loss, fit.loss, 1e-2);
}

TEST(EstimatePgm, SaysWhenTheLimitCameFirst) {
  const Domain domain({{"a", 9, {}}, {"b", 9, {}}});
  std::vector<double> values(81, 0.0);
  for (std::size_t i = 0; i < 9; ++i) values[i * 10] = 1000.0;
  const std::vector<Measurement> measurements{measured({Clique{0, 1}}, values, 1.0)};
  const auto fit = estimate_pgm(domain, measurements, 9000.0, {}, {.max_propagations = 3});
  EXPECT_FALSE(fit.converged);
  EXPECT_LE(fit.propagations, 4);
  EXPECT_TRUE(estimate_pgm(domain, measurements, 9000.0).converged);
}

TEST(EstimatePgm, AModelTooLargeToHoldIsRefusedByName) {
  std::vector<Attribute> attributes;
  std::vector<Measurement> measurements;
  for (int i = 0; i < 8; ++i) attributes.push_back({"c" + std::to_string(i), 100, {}});
  const Domain domain(attributes);
  for (AttributeId a = 0; a < 8; ++a) {
    for (AttributeId b = a + 1; b < 8; ++b) {
      measurements.push_back(measured({Clique{a, b}}, std::vector<double>(10'000, 1.0), 1.0));
    }
  }
  try {
    estimate_pgm(domain, measurements, 100.0);
    FAIL() << "a model of 10^16 cells was accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("'c0'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tandem
