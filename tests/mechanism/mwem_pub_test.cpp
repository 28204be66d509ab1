// SPDX-License-Identifier: Apache-2.0
#include "mechanism/run_mechanism.h"
#include "support/errors.h"

namespace tandem::test {
namespace {

const Parameters kTen = {{"rounds", "10"}};
const Parameters kAdvanced = {{"rounds", "10"}, {"accounting", "advanced"}, {"delta", "1e-09"}};

TEST(MwemPub, StaysWithinBudgetAndItsChargesAddUp) {
  const Table table = skewed_rows(500, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows}) {
    for (const auto& filter :
         {Filter::zcdp(Rho(0.015)), Filter::pure(Epsilon(1.0)), Filter::zcdp(Rho(1e-9))}) {
      const auto outcome =
          run_mechanism("mwem-pub", kTen, table, problem, {.filter = filter, .unit = unit});
      expect_sound(outcome, problem);
      EXPECT_EQ(outcome.release.measurements.back().noise, NoiseKind::Laplace);
      if (filter.currency() == Currency::Pure) continue;
      expect_sound(
          run_mechanism("mwem-pub", kAdvanced, table, problem, {.filter = filter, .unit = unit}),
          problem);
    }
  }
}

// As printed: epsilon = sqrt(2 T ln(1/delta)) e0 + T e0 (e^e0 - 1), and a scale of 2/e0 counts.
TEST(MwemPub, AdvancedCompositionIsThePapersAndLessThanTheFilterAllows) {
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  const Epsilon epsilon(1.0);
  const Delta delta(1e-9);
  const RunSettings settings{.filter = Filter::zcdp(rho_of(epsilon, delta))};
  const auto [release, filter] =
      run_mechanism("mwem-pub", kAdvanced, skewed_rows(500, 0.0, 1), problem, settings);
  const double e0 = advanced_composition_step(epsilon, 10, delta).value();
  EXPECT_NEAR(release.measurements.front().sigma.value(), std::sqrt(2.0) * 2.0 / e0, 1e-3 / e0);
  EXPECT_LT(filter.spent().upper_bound(), 0.5 * filter.total().lower_bound());
  EXPECT_THROW(run_mechanism("mwem-pub", kAdvanced, skewed_rows(500, 0.0, 1), problem,
                             {.filter = Filter::pure(epsilon)}),
               UsageError);
}

TEST(MwemPub, NeedsADeltaForAdvancedComposition) {
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  EXPECT_THROW(plan_mechanism("mwem-pub", {{"accounting", "advanced"}}, problem), UsageError);
}

TEST(MwemPub, RecoversTheTruthWithoutNoise) {
  const Table table = skewed_rows(2000, 0.0, 1);
  const Table biased = skewed_rows(1000, 0.25, 2);
  const Problem problem = skewed_problem(biased);
  const double before =
      evaluate_workload(problem.workload, CountedTable(table), CountedTable(biased)).max_error;
  const auto outcome =
      run_mechanism("mwem-pub", {{"rounds", "500"}, {"output", "last"}, {"step", "2"}}, table,
                    problem, {.filter = Filter::pure(Epsilon(1e6)), .noise = false});
  EXPECT_LT(max_error(problem, table, *outcome.release.model), before / 50.0);
}

TEST(MwemPub, GoldenRun) {
  const auto outcome = run_mechanism("mwem-pub", {{"rounds", "4"}}, skewed_rows(300, 0.0, 1),
                                     skewed_problem(skewed_rows(50, 0.3, 2)),
                                     {.filter = Filter::zcdp(Rho(0.5)), .seed = 7});
  std::vector<double> values;
  for (const auto& y : outcome.release.measurements) values.push_back(y.values.front());
  EXPECT_EQ(values, (std::vector<double>{150, 95, 71, 92}));
  EXPECT_NEAR(outcome.release.model->project({0}).values.front(), 242.116688322, 1e-6);
}

TEST(MwemPub, BeatsBiasedPublicData) {
  const Table table = skewed_rows(20'000, 0.0, 1);
  const Table known = skewed_rows(3000, 0.2, 2);
  const Problem problem = skewed_problem(known);
  const double alone =
      evaluate_workload(problem.workload, CountedTable(table), CountedTable(known)).max_error;
  for (const auto& filter : {RunSettings{}.filter, Filter::pure(Epsilon(1.0))}) {
    const auto outcome =
        run_mechanism("mwem-pub", {{"rounds", "30"}}, table, problem, {.filter = filter});
    EXPECT_LT(max_error(problem, table, *outcome.release.model), alone / 2.0);
  }
}

TEST(MwemPub, PlansWithoutData) {
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  EXPECT_TRUE(mentions(plan_mechanism("mwem-pub", kTen, problem), "100% of the budget"));
  EXPECT_FALSE(mentions(plan_mechanism("mwem-pub", kAdvanced, problem), "100% of the budget"));
}

}  // namespace
}  // namespace tandem::test
