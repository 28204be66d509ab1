// SPDX-License-Identifier: Apache-2.0
#include "mechanism/run_mechanism.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/data/csv.h"
#include "tandem/model/pgm/graphical_model.h"

namespace tandem::test {
namespace {

Problem problem_of(const Table& table) {
  return {table.domain(), Workload::all_k_way(table.domain(), 2), {}};
}

// x decides y; most of its twelve values are rare. z knows nothing of them.
Table rare_values(std::size_t rows) {
  Table table(Domain({{"x", 12, {}}, {"y", 2, {}}, {"z", 3, {}}}), rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto x = static_cast<Code>(r % 50 == 0 ? 2 + r / 50 % 10 : r % 2);
    table.column(0).set(r, x);
    table.column(1).set(r, x == 0 ? 0 : 1);
    table.column(2).set(r, static_cast<Code>(r % 3));
  }
  return table;
}

TEST(Mst, SpendsTheBudgetToTheLastGrainAndItsChargesAddUp) {
  const Table table = skewed_rows(400, 0.0, 1);
  const Problem problem = problem_of(table);
  for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows}) {
    for (const auto& filter : {Filter::zcdp(Rho(0.015)), Filter::pure(Epsilon(1.0)),
                               Filter::zcdp(Rho(1e-9)), Filter::zcdp(Rho(50.0))}) {
      const auto outcome =
          run_mechanism("mst", {}, table, problem, {.filter = filter, .unit = unit});
      expect_sound(outcome, problem);
      EXPECT_TRUE(outcome.filter.remaining().is_zero());
      // The columns, three edges one by one, the tree.
      EXPECT_EQ(outcome.filter.charges().size(), 5U);
    }
  }
}

TEST(Mst, RecoversATreeWithoutNoise) {
  const Table table = rare_values(3000);
  const Problem problem = problem_of(table);
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    const auto outcome =
        run_mechanism("mst", {}, table, problem,
                      {.filter = Filter::zcdp(Rho(100.0)), .unit = unit, .noise = false});
    EXPECT_EQ(outcome.release.total, 3000.0);
    EXPECT_LT(max_error(problem, table, *outcome.release.model), 2e-3);
  }
}

TEST(Mst, GoldenRun) {
  const Table table = rare_values(500);
  const auto outcome = run_mechanism("mst", {}, table, problem_of(table),
                                     {.filter = Filter::zcdp(Rho(0.5)), .seed = 7});
  const auto& y = outcome.release.measurements;
  ASSERT_EQ(y.size(), 5U);
  EXPECT_EQ(y[3].query.clique, (Clique{0, 1}));
  EXPECT_EQ(y[0].values, (std::vector<double>{241, 255, 3, -3, -2, 7, 3, 2, -5, -2, -1, 4}));
  EXPECT_EQ(y[3].values, (std::vector<double>{240, -4, 0, 250, 0, 8}));
  EXPECT_NEAR(outcome.release.model->project({0, 1}).values.front(), 239.3107, 0.05);
}

TEST(Mst, BeatsColumnsThatKnowNothingOfEachOther) {
  const Table table = skewed_rows(20'000, 0.0, 1);
  const Problem problem = problem_of(table);
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    const RunSettings settings{.unit = unit, .seed = 3};
    const auto alone = run_mechanism("independent", {}, table, problem, settings);
    const auto tree = run_mechanism("mst", {}, table, problem, settings);
    EXPECT_LT(max_error(problem, table, *tree.release.model),
              max_error(problem, table, *alone.release.model) / 4.0);
  }
}

TEST(Mst, MeasuresRareValuesTogetherAndAnswersEachAlike) {
  const Table table = rare_values(5000);  // ten values of ten rows each
  const auto outcome = run_mechanism("mst", {}, table, problem_of(table), {.seed = 5});
  const auto& y = outcome.release.measurements;
  for (std::size_t i = 3; i < y.size(); ++i) {
    if (!y[i].query.clique.contains(0)) continue;
    EXPECT_FALSE(y[i].query.map.is_identity());
    EXPECT_EQ(y[i].values.size(), 3 * (y[i].query.clique == Clique{0, 1} ? 2U : 3U));
  }
  const auto x = outcome.release.model->project({0}).values;
  for (std::size_t code = 3; code < 12; ++code) EXPECT_NEAR(x[code], x[2], 1e-9);
  EXPECT_NEAR(x[0], 2450.0, 100.0);
}

TEST(Mst, PairsThatNoModelCanHoldAreNeverAskedFor) {
  const Domain wide({{"a", 12'000, {}}, {"b", 12'000, {}}, {"c", 5, {}}});  // a pair: 1.2 GB
  const Problem problem{wide, Workload::all_k_way(wide, 1), {}};
  const auto outcome = run_mechanism("mst", {}, Table(wide, 200), problem);
  EXPECT_TRUE(outcome.filter.remaining().is_zero());
  for (const auto& y : outcome.release.measurements) {
    EXPECT_NE(y.query.clique, (Clique{0, 1}));
  }
}

TEST(Mst, ATableOfOneColumnGetsItsMarginal) {
  const Domain one({{"a", 3, {}}});
  const auto outcome =
      run_mechanism("mst", {}, Table(one, 60), {one, Workload::all_k_way(one, 1), {}});
  EXPECT_TRUE(outcome.filter.remaining().is_zero());
  EXPECT_EQ(outcome.release.measurements.size(), 2U);
}

TEST(Mst, LeavesOutPairsThatTheModelHasNoRoomFor) {
  const Domain wide({{"a", 30, {}}, {"b", 30, {}}, {"c", 2, {}}});
  const Problem problem{wide, Workload::all_k_way(wide, 1), {}};
  const auto outcome = run_mechanism("mst", {{"max-model-mb", "0.001"}}, Table(wide, 100), problem);
  const auto* model = dynamic_cast<const GraphicalModel*>(outcome.release.model.get());
  ASSERT_NE(model, nullptr);
  EXPECT_LE(static_cast<double>(model_bytes(model->tree().cells)), 1000.0);
  EXPECT_TRUE(outcome.filter.remaining().is_zero());
}

TEST(Mst, NamesColumnsThatNoModelHasRoomFor) {
  const Domain wide({{"a", 300, {}}, {"b", 200, {}}, {"c", 2, {}}});
  const Problem problem{wide, Workload::all_k_way(wide, 1), {}};
  const auto message = error_of<UsageError>([&] {
    plan_mechanism("mst", {{"max-model-mb", "0.001"}}, problem);
  });
  EXPECT_TRUE(contains(message, "'a' and 'b'")) << message;
}

}  // namespace
}  // namespace tandem::test
