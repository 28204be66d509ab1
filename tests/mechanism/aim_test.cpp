// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "support/entropy_for_tests.h"
#include "support/files.h"
#include "tandem/data/csv.h"
#include "tandem/eval/metrics.h"
#include "tandem/mechanism/registry.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/private_data.h"
#include "tandem/query/counting.h"
#include "tandem/source/memory_source.h"

namespace tandem {
namespace {

Domain small_domain() { return Domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 4, {}}, {"d", 2, {}}}); }

// A chain: each column goes with the one before.
Table chained_table(std::size_t rows) {
  Table table(small_domain(), rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const Code a = r % 3 == 0 ? 1 : 0;
    const Code b = r % 5 == 0 ? 2 : a;
    table.column(0).set(r, a);
    table.column(1).set(r, b);
    table.column(2).set(r, r % 7 == 0 ? 3 : b);
    table.column(3).set(r, r % 11 == 0 ? 1 - a : a);
  }
  return table;
}

struct Outcome {
  Release release;
  Filter filter;
};

Outcome run_aim(const Table& table, const Filter& filter, const PrivacyUnit& unit,
                std::unique_ptr<EntropySource> entropy, const Parameters& parameters = {}) {
  Curator curator(PrivateData(memory_source(table), unit), filter, std::move(entropy),
                  memory_transcript(), {.threads = {}, .progress = {}});
  const Problem problem{table.domain(), Workload::all_k_way(table.domain(), 3), {}};
  Rng rng(1);
  Release release = find_mechanism("aim").run(curator, problem, parameters, rng);
  return {std::move(release), curator.filter()};
}

Filter moderate() { return Filter::zcdp(rho_of(Epsilon(1.0), Delta(1e-9))); }

constexpr PrivacyUnit kReplaceOne{};
constexpr PrivacyUnit kAddRemove{.neighbors = Neighbors::AddRemove, .rows_per_person = 1};
constexpr PrivacyUnit kThreeRows{.neighbors = Neighbors::ReplaceOne, .rows_per_person = 3};

TEST(Aim, SpendsTheBudgetToTheLastGrainAndItsChargesAddUp) {
  for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows}) {
    const auto [release, filter] =
        run_aim(chained_table(300), moderate(), unit, std::make_unique<SystemEntropy>());
    Cost sum;
    for (const auto& charge : filter.charges()) sum = sum + charge.cost;
    EXPECT_EQ(sum, filter.spent());
    EXPECT_TRUE(filter.remaining().is_zero());
    EXPECT_GT(release.measurements.size(), 4U);
  }
}

TEST(Aim, RecoversTheTruthWithoutNoise) {
  const Table table = chained_table(3000);
  const CountedTable truth(table);
  const auto workload = Workload::all_k_way(table.domain(), 3);
  const auto [release, filter] =
      run_aim(table, moderate(), kReplaceOne, std::make_unique<test::NoNoise>());
  EXPECT_EQ(release.total, 3000.0);
  EXPECT_LT(evaluate(workload, truth, *release.model).avg_workload_error, 0.02);
}

TEST(Aim, GoldenRun) {
  const auto once =
      run_aim(chained_table(500), moderate(), kReplaceOne, std::make_unique<SeededEntropy>(7));
  const auto& measurements = once.release.measurements;
  ASSERT_GE(measurements.size(), 5U);
  EXPECT_EQ(measurements[0].values, (std::vector<double>{321, 140}));
  EXPECT_EQ(measurements[4].values, (std::vector<double>{161, 27, 127, 7, 177, 18}));
  EXPECT_NEAR(once.release.model->project({0}).values.front(), 337.846, 0.2);
  const auto again =
      run_aim(chained_table(500), moderate(), kReplaceOne, std::make_unique<SeededEntropy>(7));
  ASSERT_EQ(again.release.measurements.size(), measurements.size());
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    EXPECT_EQ(again.release.measurements[i].query, measurements[i].query);
    EXPECT_EQ(again.release.measurements[i].values, measurements[i].values);
  }
  EXPECT_EQ(again.release.model->project({0, 1, 2}), once.release.model->project({0, 1, 2}));
}

TEST(Aim, BeatsColumnsThatKnowNothingOfEachOther) {
  const Table table = chained_table(5000);
  const CountedTable truth(table);
  const auto workload = Workload::all_k_way(table.domain(), 3);
  std::vector<Factor> logs;
  for (AttributeId id = 0; id < 4; ++id) {
    Factor factor = truth.project({id});
    for (double& value : factor.values) value = std::log(value);
    logs.push_back(std::move(factor));
  }
  const GraphicalModel product(table.domain(), logs, 5000.0);
  const double baseline = evaluate(workload, truth, product).avg_workload_error;
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    const auto [release, filter] =
        run_aim(table, moderate(), unit, std::make_unique<SeededEntropy>(3));
    EXPECT_LT(evaluate(workload, truth, *release.model).avg_workload_error, baseline / 2.0);
  }
}

TEST(Aim, KeepsItsModelWithinTheLimit) {
  const auto [release, filter] =
      run_aim(chained_table(3000), moderate(), kReplaceOne, std::make_unique<SeededEntropy>(4),
              {{"max-model-mb", "0.001"}});
  const auto* model = dynamic_cast<const GraphicalModel*>(release.model.get());
  ASSERT_NE(model, nullptr);
  EXPECT_LE(static_cast<double>(model_bytes(model->tree().cells)), 1000.0);
}

TEST(Aim, PlansWithoutData) {
  const Curator curator(PrivateData(memory_source(Table(small_domain(), 0)), PrivacyUnit{}),
                        moderate(), std::make_unique<SystemEntropy>(), memory_transcript(), {});
  const Problem problem{small_domain(), Workload::all_k_way(small_domain(), 3), {}};
  EXPECT_EQ(find_mechanism("aim").plan(curator, problem, {}, 0.0).size(), 2U);
  EXPECT_TRUE(curator.filter().charges().empty());
}

}  // namespace
}  // namespace tandem
