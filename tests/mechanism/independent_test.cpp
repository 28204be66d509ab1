// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "support/entropy_for_tests.h"
#include "support/files.h"
#include "tandem/base/error.h"
#include "tandem/data/csv.h"
#include "tandem/eval/metrics.h"
#include "tandem/mechanism/registry.h"
#include "tandem/model/product_model.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/private_data.h"
#include "tandem/query/counting.h"
#include "tandem/source/memory_source.h"

namespace tandem {
namespace {

Domain small_domain() { return Domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 7, {}}}); }

// Skewed, and with columns that go together.
Table skewed_table(std::size_t rows) {
  Table table(small_domain(), rows);
  for (std::size_t r = 0; r < rows; ++r) {
    table.column(0).set(r, r % 10 == 0 ? 1 : 0);
    table.column(1).set(r, r % 10 < 7 ? 0 : static_cast<Code>(r % 2 + 1));
    table.column(2).set(r, static_cast<Code>(r % 100 < 80 ? 3 : r % 7));
  }
  return table;
}

struct Outcome {
  Release release;
  Filter filter;
};

Outcome run_independent(const Table& table, const Filter& filter, const PrivacyUnit& unit,
                        std::unique_ptr<EntropySource> entropy) {
  Curator curator(PrivateData(memory_source(table), unit), filter, std::move(entropy),
                  memory_transcript(), {.threads = {}, .progress = {}});
  const Problem problem{table.domain(), Workload::all_k_way(table.domain(), 3), {}};
  Rng rng(1);
  Release release = find_mechanism("independent").run(curator, problem, {}, rng);
  return {std::move(release), curator.filter()};
}

Filter moderate() { return Filter::zcdp(rho_of(Epsilon(1.0), Delta(1e-9))); }

constexpr PrivacyUnit kReplaceOne{};
constexpr PrivacyUnit kAddRemove{.neighbors = Neighbors::AddRemove, .rows_per_person = 1};
constexpr PrivacyUnit kThreeRows{.neighbors = Neighbors::ReplaceOne, .rows_per_person = 3};

TEST(Independent, StaysWithinBudgetAndItsChargesAddUp) {
  for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows}) {
    for (const auto& total : {moderate(), Filter::pure(Epsilon(1.0)), Filter::pure(Epsilon(0.1))}) {
      const auto [release, filter] =
          run_independent(skewed_table(200), total, unit, std::make_unique<SystemEntropy>());
      Cost sum;
      for (const auto& charge : filter.charges()) sum = sum + charge.cost;
      EXPECT_EQ(sum, filter.spent());
      EXPECT_LE(filter.spent(), total.total());
      // Three equal shares, each a whole number of grains: at most two grains are left.
      EXPECT_LT(std::stoi(filter.remaining().grains()), 3);
      ASSERT_EQ(filter.charges().size(), 1U);
      EXPECT_EQ(filter.charges().front().what, "measure 3 marginals");
      ASSERT_EQ(release.measurements.size(), 3U);
      for (const auto& measurement : release.measurements) {
        EXPECT_EQ(measurement.noise,
                  filter.currency() == Currency::Zcdp ? NoiseKind::Gaussian : NoiseKind::Laplace);
        EXPECT_GT(measurement.sigma.value(), 0.0);
      }
    }
  }
}

TEST(Independent, AddsTheNoiseItsBudgetSays) {
  // Three marginals at rho/3 each: sigma^2 = squared L2 sensitivity / (2 rho/3).
  const double rho = moderate().total().lower_bound();
  const auto sigma = [](const PrivacyUnit& unit, const Filter& filter) {
    return run_independent(skewed_table(50), filter, unit, std::make_unique<SystemEntropy>())
        .release.measurements.front()
        .sigma.value();
  };
  EXPECT_NEAR(sigma(kReplaceOne, moderate()), std::sqrt(2.0 / (2.0 * rho / 3.0)), 1e-3);
  EXPECT_NEAR(sigma(kAddRemove, moderate()), std::sqrt(1.0 / (2.0 * rho / 3.0)), 1e-3);
  EXPECT_NEAR(sigma(kThreeRows, moderate()), 3.0 * std::sqrt(2.0 / (2.0 * rho / 3.0)), 1e-2);
  const Filter pure = Filter::pure(Epsilon(1.0));
  EXPECT_NEAR(sigma(kReplaceOne, pure), std::sqrt(2.0) * 2.0 * 3.0, 1e-3);
  EXPECT_NEAR(sigma(kAddRemove, pure), std::sqrt(2.0) * 1.0 * 3.0, 1e-3);
}

TEST(Independent, RecoversTheTruthWithoutNoise) {
  const Table table = skewed_table(700);
  const CountedTable truth(table);
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    for (const auto& filter : {moderate(), Filter::pure(Epsilon(1.0))}) {
      const auto [release, spent] =
          run_independent(table, filter, unit, std::make_unique<test::NoNoise>());
      EXPECT_NEAR(release.total, 700.0, 1e-9);
      for (AttributeId id = 0; id < 3; ++id) {
        const auto expected = truth.project({id}).values;
        EXPECT_EQ(release.measurements[id].values, expected);
        const auto found = release.model->project({id}).values;
        for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9);
      }
      Rng rng(2);
      const CountedTable rows(release.model->sample(700, rng));
      for (AttributeId id = 0; id < 3; ++id) {
        const auto expected = truth.project({id}).values;
        const auto found = rows.project({id}).values;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          EXPECT_LE(std::abs(found[i] - expected[i]), 1.0);
        }
      }
    }
  }
}

TEST(Independent, KnowsTheRowsWhereTheyArePublicAndEstimatesThemElsewhere) {
  const Table table = skewed_table(900);
  const auto total = [&](const PrivacyUnit& unit) {
    return run_independent(table, moderate(), unit, std::make_unique<SeededEntropy>(5))
        .release.total;
  };
  EXPECT_EQ(total(kReplaceOne), 900.0);
  EXPECT_NE(total(kAddRemove), 900.0);
  EXPECT_NEAR(total(kAddRemove), 900.0, 200.0);
  EXPECT_NE(total(kThreeRows), 900.0);
}

TEST(Independent, SurvivesNoiseThatDwarfsTheTable) {
  const auto [release, filter] = run_independent(skewed_table(3), Filter::pure(Epsilon(1e-6)),
                                                 kAddRemove, std::make_unique<SeededEntropy>(1));
  EXPECT_GE(release.total, 1.0);
  EXPECT_TRUE(std::isfinite(release.total));
  for (AttributeId id = 0; id < 3; ++id) {
    EXPECT_NEAR(total(release.model->project({id})), release.total, 1e-6 * release.total);
  }
}

TEST(Independent, RefusesAnEmptyTableWhereItsSizeIsPublic) {
  EXPECT_THROW(
      run_independent(skewed_table(0), moderate(), kReplaceOne, std::make_unique<SystemEntropy>()),
      UsageError);
  EXPECT_NO_THROW(
      run_independent(skewed_table(0), moderate(), kAddRemove, std::make_unique<SystemEntropy>()));
}

TEST(Independent, GoldenRun) {
  const auto [release, filter] = run_independent(skewed_table(60), moderate(), kReplaceOne,
                                                 std::make_unique<SeededEntropy>(7));
  EXPECT_EQ(release.total, 60.0);
  ASSERT_EQ(release.measurements.size(), 3U);
  EXPECT_EQ(release.measurements[0].values, (std::vector<double>{52, 0}));
  EXPECT_EQ(release.measurements[1].values, (std::vector<double>{48, -8, 2}));
  EXPECT_EQ(release.measurements[2].values, (std::vector<double>{18, 7, 4, 42, -10, -8, 11}));
  Rng rng(7);
  const CountedTable rows(release.model->sample(60, rng));
  EXPECT_EQ(rows.project({0}).values, (std::vector<double>{56, 4}));
  EXPECT_EQ(rows.project({0, 1}).values, (std::vector<double>{49, 0, 7, 4, 0, 0}));
}

TEST(Independent, BeatsGuessingThatAllIsUniform) {
  const Table table = skewed_table(2000);
  const CountedTable truth(table);
  const auto workload = Workload::all_k_way(table.domain(), 3);
  const ProductModel uniform(table.domain(), {{1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1, 1}}, 2000.0);
  const double baseline = evaluate(workload, truth, uniform).avg_workload_error;
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    for (const auto& filter : {moderate(), Filter::pure(Epsilon(1.0))}) {
      const auto [release, spent] =
          run_independent(table, filter, unit, std::make_unique<SeededEntropy>(3));
      EXPECT_LT(evaluate(workload, truth, *release.model).avg_workload_error, baseline / 3.0);
    }
  }
}

TEST(Independent, PlansWithoutData) {
  const Curator curator(PrivateData(memory_source(Table(small_domain(), 0)), PrivacyUnit{}),
                        moderate(), std::make_unique<SystemEntropy>(), memory_transcript(), {});
  const Problem problem{small_domain(), Workload::all_k_way(small_domain(), 3), {}};
  const auto lines = find_mechanism("independent").plan(curator, problem, {}, 0.0);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(
      lines[0].sentence.find("Measures 3 one-way marginals, each count with noise of standard "),
      0U);
  EXPECT_TRUE(curator.filter().charges().empty());
}

TEST(IndependentRealData, HasTheKnownErrorOnAdult) {
  TANDEM_REAL_DATA(folder, "jam/adult_pub025");
  const Schema schema = Schema::read(folder + "/domain.json");
  const Table table = read_csv(folder + "/priv.csv", schema).table;
  const CountedTable truth(table, Threads::all());
  const auto workload = Workload::all_k_way(table.domain(), 3);
  double model_error = 0.0;
  double rows_error = 0.0;
  constexpr int kSeeds = 5;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto [release, filter] =
        run_independent(table, moderate(), kReplaceOne,
                        std::make_unique<SeededEntropy>(static_cast<std::uint64_t>(seed)));
    Rng rng(static_cast<std::uint64_t>(seed));
    const CountedTable rows(release.model->sample(table.rows(), rng), Threads::all());
    model_error += evaluate_workload(workload, truth, *release.model).avg_workload_error / kSeeds;
    rows_error += evaluate_workload(workload, truth, rows).avg_workload_error / kSeeds;
  }
  EXPECT_NEAR(model_error, 0.351, 0.005);
  EXPECT_NEAR(rows_error, 0.359, 0.008);
}

}  // namespace
}  // namespace tandem
