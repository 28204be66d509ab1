// SPDX-License-Identifier: Apache-2.0
// Both gem and gem-pub.
#include "mechanism/run_mechanism.h"
#include "tandem/model/generator/product_mixture.h"

namespace tandem::test {
namespace {

const std::vector<std::string> kBoth = {"gem", "gem-pub"};

// A small generator, so that tests are quick.
Parameters small(const std::string& rounds, const std::string& generator = "rows") {
  return {{"rounds", rounds}, {"generator", generator}, {"rows", "100"},      {"hidden", "24,24"},
          {"inputs", "8"},    {"steps", "15"},          {"final-steps", "60"}};
}

Problem some_problem() { return skewed_problem(skewed_rows(200, 0.2, 2)); }

TEST(Gem, StaysWithinBudgetAndItsChargesAddUp) {
  const Table table = skewed_rows(500, 0.0, 1);
  const Problem problem = some_problem();
  for (const auto& name : kBoth) {
    for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows}) {
      for (const char* rounds : {"3", "auto"}) {
        for (const char* generator : {"rows", "network"}) {
          for (const double rho : {0.015, 1e-9}) {
            const auto outcome = run_mechanism(name, small(rounds, generator), table, problem,
                                               {.filter = Filter::zcdp(Rho(rho)), .unit = unit});
            expect_sound(outcome, problem);
            EXPECT_TRUE(outcome.filter.remaining().is_zero());
          }
        }
      }
    }
  }
}

TEST(Gem, RecoversTheTruthWithoutNoise) {
  const Table table = skewed_rows(2000, 0.0, 1);
  const Problem problem = some_problem();
  for (const auto& name : kBoth) {
    for (const char* generator : {"rows", "network"}) {
      auto parameters = small("6", generator);
      parameters.emplace_back("tolerance", "0");
      parameters[6].second = "500";
      const auto outcome = run_mechanism(name, parameters, table, problem,
                                         {.filter = Filter::zcdp(Rho(1e6)), .noise = false});
      EXPECT_EQ(outcome.release.measurements.size(), 6U);
      EXPECT_LT(max_error(problem, table, *outcome.release.model), 0.004) << name << generator;
    }
  }
}

// Training rounds by the instructions of the CPU, so only what it starts from is the same for ever.
TEST(Gem, GoldenRun) {
  for (const auto& name : kBoth) {
    const auto run = [&] {
      return run_mechanism(name, small("4"), skewed_rows(300, 0.0, 1), some_problem(),
                           {.filter = Filter::zcdp(Rho(0.5)), .seed = 7});
    };
    const auto once = run();
    const auto again = run();
    ASSERT_EQ(once.release.measurements.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(once.release.measurements[i].query, again.release.measurements[i].query);
      EXPECT_EQ(once.release.measurements[i].values, again.release.measurements[i].values);
    }
    EXPECT_EQ(once.release.model->project({0, 1, 2}), again.release.model->project({0, 1, 2}));
    const bool with_public = name == "gem-pub";
    EXPECT_EQ(once.release.measurements.front().query.clique,
              with_public ? (Clique{0, 1}) : (Clique{0, 1}));
    EXPECT_NEAR(once.release.model->project({0}).values.front(), with_public ? 0.0 : 0.0, 3.0);
  }
}

TEST(Gem, BeatsWhatItStartsFrom) {
  const Table table = skewed_rows(20'000, 0.0, 1);
  const Table known = skewed_rows(3000, 0.2, 2);
  const Problem problem = skewed_problem(known);
  const double alone =
      evaluate_workload(problem.workload, CountedTable(table), CountedTable(known)).max_error;
  for (const char* generator : {"rows", "network"}) {
    for (const auto& name : kBoth) {
      const auto outcome = run_mechanism(name, small("auto", generator), table, problem);
      EXPECT_LT(max_error(problem, table, *outcome.release.model), alone / 3.0)
          << name << generator;
    }
  }
}

TEST(Gem, WithoutRoundsGemPubIsThePublicDataAndCostsNothing) {
  const Table known = skewed_rows(3000, 0.2, 2);
  const Problem problem = skewed_problem(known);
  const auto outcome = run_mechanism("gem-pub", small("0"), skewed_rows(500, 0.0, 1), problem);
  EXPECT_TRUE(outcome.filter.spent().is_zero());
  EXPECT_LT(max_error(problem, known, *outcome.release.model), 0.01);
}

TEST(Gem, RunsTheRoundsItIsToldWhateverTheyAre) {
  for (const char* rounds : {"1", "5", "150"}) {
    auto parameters = small(rounds);
    parameters[5].second = "1";
    const auto outcome = run_mechanism("gem", parameters, skewed_rows(500, 0.0, 1), some_problem());
    EXPECT_EQ(outcome.release.measurements.size(), std::stoul(rounds));
  }
}

TEST(Gem, ChoosesFewRoundsWhereNoiseIsAllThereIs) {
  const Table table = skewed_rows(500, 0.0, 1);
  const auto noisy = run_mechanism("gem", small("auto"), table, some_problem(),
                                   {.filter = Filter::zcdp(Rho(1e-5))});
  const auto clear = run_mechanism("gem", small("auto"), skewed_rows(20'000, 0.0, 1),
                                   some_problem(), {.filter = Filter::zcdp(Rho(1.0))});
  EXPECT_LE(noisy.release.measurements.size(), 4U);
  EXPECT_GT(clear.release.measurements.size(), 4U);
}

// A code that a rule excludes alone has no row; a combination hardly any, though noise says so.
TEST(Gem, LearnsWhatCannotOccur) {
  Problem problem = some_problem();
  problem.impossible = {{{{1, {false, false, true}}}}, {{{0, {true, false}}, {3, {false, true}}}}};
  const auto outcome = run_mechanism("gem", small("10"), skewed_rows(2000, 0.0, 1), problem);
  EXPECT_EQ(outcome.release.model->project({1}).values[2], 0.0);
  const auto without = run_mechanism("gem", small("10"), skewed_rows(2000, 0.0, 1), some_problem());
  EXPECT_LT(outcome.release.model->project({0, 3}).values[1],
            without.release.model->project({0, 3}).values[1] / 4.0);
}

TEST(Gem, ReleasesAMixtureWithinItsLimit) {
  auto parameters = small("3");
  parameters.emplace_back("max-model-mb", "0.004");
  const auto outcome = run_mechanism("gem", parameters, skewed_rows(500, 0.0, 1), some_problem());
  const auto* mixture = dynamic_cast<const ProductMixture*>(outcome.release.model.get());
  ASSERT_NE(mixture, nullptr);
  EXPECT_EQ(mixture->kinds(), 4000U / 8U / 11U);
}

TEST(Gem, PlansWithoutData) {
  const Problem problem = some_problem();
  EXPECT_TRUE(mentions(plan_mechanism("gem", {{"rounds", "7"}}, problem), "7 rounds"));
  EXPECT_TRUE(mentions(plan_mechanism("gem", {}, problem), "At most 50 rounds"));
  EXPECT_TRUE(mentions(plan_mechanism("gem-pub", {}, problem), "public marginals"));
  EXPECT_TRUE(mentions(plan_mechanism("gem-pub", {{"rounds", "0"}}, problem), "costs nothing"));
  for (const auto& name : kBoth) {
    const Effort effort = effort_of(name, problem);
    EXPECT_GT(effort.bytes, effort.model_bytes);
    EXPECT_GT(effort.seconds, 0.0);
  }
}

TEST(Gem, RefusesPublicDataWithoutRows) {
  const Problem problem = skewed_problem(skewed_rows(0, 0.0, 1));
  EXPECT_THROW(run_mechanism("gem-pub", {}, skewed_rows(50, 0.0, 1), problem), UsageError);
  EXPECT_THROW(plan_mechanism("gem-pub", {}, problem), UsageError);
}

}  // namespace
}  // namespace tandem::test
