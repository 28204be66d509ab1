// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/tilted_pgm.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "model/pgm/dense_model.h"
#include "support/random_tables.h"
#include "tandem/model/pgm/estimate_pgm.h"

namespace tandem {
namespace {

std::vector<Measurement> any_marginals(const Table& table) {
  std::vector<Measurement> out;
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const auto count = *rc::gen::inRange<std::size_t>(1, 6);
  for (std::size_t i = 0; i < count; ++i) {
    Measurement y;
    y.query = {test::any_clique(table.domain(), 30)};
    y.values = test::brute_force(table, y.query.clique).values;
    y.sigma = Sigma(1.0 + 4.0 * rng.uniform());
    for (double& value : y.values) value += y.sigma.value() * 2.0 * (rng.uniform() - 0.5);
    out.push_back(std::move(y));
  }
  return out;
}

RC_GTEST_PROP(TiltedPgm, IsTheEstimateWithAPrior, ()) {
  const Domain domain = test::any_domain({1, 2, 3}, 4);
  const Table table = test::any_table(domain, 60);
  const auto y = any_marginals(table);
  const auto prior = test::any_potentials(domain, 1.0, 3);
  const double nu = *rc::gen::elementOf(std::vector<double>{0.5, 5.0, 50.0});
  const auto fit = tilt_pgm(domain, y, 60.0, prior, nu, {}, {.tolerance = 1e-8});
  const auto expected = estimate_pgm(domain, y, 60.0, prior, {.tolerance = 1e-9, .prior_rows = nu});
  RC_ASSERT(
      test::near(fit.model.project(domain.all()), expected.model.project(domain.all()), 0.05));
}

RC_GTEST_PROP(TiltedPgm, MultipliersOnAnotherPriorAreAStart, ()) {
  const Domain domain = test::any_domain({2, 3}, 5);
  const Table table = test::any_table(domain, 60);
  auto y = any_marginals(table);
  const TiltOptions exact{.tolerance = 1e-8};
  const auto first =
      tilt_pgm(domain, y, 60.0, test::any_potentials(domain, 1.0, 3), 8.0, {}, exact);
  for (const auto& more : any_marginals(table)) y.push_back(more);
  const auto prior = test::any_potentials(domain, 1.0, 3);
  const auto warm = tilt_pgm(domain, y, 60.0, prior, 8.0, first.multipliers, exact);
  const auto cold = tilt_pgm(domain, y, 60.0, prior, 8.0, {}, exact);
  RC_ASSERT(test::near(warm.model.project(domain.all()), cold.model.project(domain.all()), 0.02));
}

RC_GTEST_PROP(TiltedPgm, IsThePriorTimesItsMultipliers, ()) {
  const Domain domain = test::any_domain({1, 2, 3}, 4);
  const auto y = any_marginals(test::any_table(domain, 60));
  auto prior = test::any_potentials(domain, 1.0, 3);
  const auto fit = tilt_pgm(domain, y, 60.0, prior, 10.0);
  prior.insert(prior.end(), fit.multipliers.begin(), fit.multipliers.end());
  RC_ASSERT(
      test::near(fit.model.project(domain.all()), test::dense_model(domain, prior, 60.0), 1e-3));
}

TEST(TiltedPgm, AWeakPriorLeavesTheMeasurementsAndAStrongOneDoesNotMove) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}});
  Measurement y;
  y.query = {Clique{0, 1}};
  y.values = {1000.0, 10.0, 20.0, 30.0, 40.0, 8900.0};
  y.sigma = Sigma(1.0);
  const std::vector<Measurement> all{y};
  const auto weak = tilt_pgm(domain, all, 10000.0, {}, 0.25);
  EXPECT_TRUE(weak.converged);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(weak.model.project({0, 1}).values[i], y.values[i], 1.0);
  }
  const auto strong = tilt_pgm(domain, all, 10000.0, {}, 1e12);
  for (const double value : strong.model.project({0, 1}).values) {
    EXPECT_NEAR(value, 10000.0 / 6.0, 1.0);
  }
}

TEST(TiltedPgm, NothingMeasuredIsThePrior) {
  const Domain domain({{"a", 2, {}}});
  const std::vector<Factor> prior{{Clique{0}, {0.0, std::log(3.0)}}};
  const auto fit = tilt_pgm(domain, {}, 8.0, prior, 5.0);
  EXPECT_NEAR(fit.model.project({0}).values[1], 6.0, 1e-12);
}

}  // namespace
}  // namespace tandem
