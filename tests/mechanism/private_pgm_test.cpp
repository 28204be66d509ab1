// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "mechanism/run_mechanism.h"
#include "support/errors.h"
#include "tandem/model/pgm/graphical_model.h"

namespace tandem::test {
namespace {

Problem problem_of(const Table& table) {
  return {table.domain(), Workload::all_k_way(table.domain(), 2), {}};
}

Cost charged(const Outcome& outcome) {
  Cost sum;
  for (const auto& charge : outcome.filter.charges()) sum = sum + charge.cost;
  return sum;
}

TEST(PrivatePgm, SpendsTheBudgetToTheLastGrainAndItsChargesAddUp) {
  const Table table = skewed_rows(400, 0.0, 1);
  const Problem problem = problem_of(table);
  for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows}) {
    for (const auto& filter : {Filter::zcdp(Rho(0.015)), Filter::pure(Epsilon(1.0)),
                               Filter::zcdp(Rho(1e-9)), Filter::zcdp(Rho(50.0))}) {
      for (const char* split : {"even", "weight"}) {
        const auto outcome = run_mechanism("private-pgm", {{"split", split}}, table, problem,
                                           {.filter = filter, .unit = unit});
        expect_sound(outcome, problem);
        EXPECT_TRUE(outcome.filter.remaining().is_zero());
        EXPECT_EQ(charged(outcome), outcome.filter.total());
      }
    }
  }
}

TEST(PrivatePgm, RecoversTheTruthWithoutNoise) {
  const Table table = skewed_rows(2000, 0.0, 1);
  const Problem problem = problem_of(table);
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    const auto outcome =
        run_mechanism("private-pgm", {}, table, problem,
                      {.filter = Filter::zcdp(Rho(10.0)), .unit = unit, .noise = false});
    EXPECT_EQ(outcome.release.total, 2000.0);
    EXPECT_LT(max_error(problem, table, *outcome.release.model), 1e-4);
  }
}

TEST(PrivatePgm, GoldenRun) {
  const Table table = skewed_rows(300, 0.0, 1);
  const auto outcome =
      run_mechanism("private-pgm", {{"marginals", "a+b,d"}}, table, problem_of(table),
                    {.filter = Filter::zcdp(Rho(0.5)), .seed = 7});
  ASSERT_EQ(outcome.release.measurements.size(), 2U);
  EXPECT_EQ(outcome.release.measurements[0].values, (std::vector<double>{249, 52}));
  EXPECT_EQ(outcome.release.measurements[1].values, (std::vector<double>{78, 106, -3, 39, 38, 36}));
  EXPECT_NEAR(outcome.release.model->project({0}).values.front(), 185.2, 1e-4);
}

TEST(PrivatePgm, BeatsColumnsThatKnowNothingOfEachOther) {
  const Table table = skewed_rows(20'000, 0.0, 1);
  const Problem problem = problem_of(table);
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    const RunSettings settings{.unit = unit, .seed = 3};
    const auto alone = run_mechanism("independent", {}, table, problem, settings);
    const auto pairs = run_mechanism("private-pgm", {}, table, problem, settings);
    EXPECT_LT(max_error(problem, table, *pairs.release.model),
              max_error(problem, table, *alone.release.model) / 4.0);
  }
}

TEST(PrivatePgm, HeavierMarginalsGetLessNoise) {
  const Table table = skewed_rows(100, 0.0, 1);
  const Workload workload(table.domain(), "weighted", {{Clique{0, 1}, 9.0}, {Clique{2, 3}, 1.0}});
  const auto outcome =
      run_mechanism("private-pgm", {{"split", "weight"}}, table, {table.domain(), workload, {}});
  ASSERT_EQ(outcome.release.measurements.size(), 2U);
  EXPECT_EQ(outcome.release.measurements[0].query.clique, (Clique{0, 1}));
  EXPECT_NEAR(outcome.release.measurements[1].sigma.value(),
              3.0 * outcome.release.measurements[0].sigma.value(), 1e-3);
}

TEST(PrivatePgm, TakesOfTheWorkloadWhatTheModelHasRoomForAndSaysSo) {
  const Domain wide({{"a", 20, {}}, {"b", 20, {}}, {"c", 20, {}}, {"d", 2, {}}});
  const Problem room{wide, Workload::all_k_way(wide, 2), {}};
  const auto some =
      run_mechanism("private-pgm", {{"max-model-mb", "0.004"}}, Table(wide, 50), room);
  EXPECT_TRUE(mentions(some.release.warnings, "room for"));
  const auto* model = dynamic_cast<const GraphicalModel*>(some.release.model.get());
  ASSERT_NE(model, nullptr);
  EXPECT_LE(static_cast<double>(model_bytes(model->tree().cells)), 4000.0);
  for (AttributeId id = 0; id < 4; ++id) {
    EXPECT_TRUE(std::ranges::any_of(some.release.measurements, [&](const Measurement& y) {
      return y.query.clique.contains(id);
    }));
  }
}

TEST(PrivatePgm, RefusesMarginalsThatItCannotTake) {
  const Domain wide({{"a", 1000, {}}, {"b", 2000, {}}, {"c", 2, {}}});
  const Problem problem{wide, Workload::all_k_way(wide, 1), {}};
  const auto error = [&](const Parameters& parameters) {
    return error_of<UsageError>([&] { plan_mechanism("private-pgm", parameters, problem); });
  };
  EXPECT_TRUE(contains(error({{"marginals", "a+b"}}), "'a' and 'b'"));
  EXPECT_TRUE(contains(error({{"marginals", "a+x"}}), "'x'"));
  EXPECT_TRUE(contains(error({{"max-model-mb", "0.01"}}), "'a' and 'b'"));
}

TEST(PrivatePgm, PlansWithoutData) {
  const Table table = skewed_rows(0, 0.0, 1);
  const auto plan = plan_mechanism("private-pgm", {{"marginals", "a+b"}}, problem_of(table));
  EXPECT_TRUE(mentions(plan, "Measures 1 marginals"));
  EXPECT_TRUE(mentions(plan, "Nothing is measured of"));
}

}  // namespace
}  // namespace tandem::test
