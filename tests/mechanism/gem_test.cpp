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
      EXPECT_LT(max_error(problem, table, *outcome.release.model), 0.012) << name << generator;
    }
  }
}

// The last digits of training depend on the CPU's instructions.
TEST(Gem, GoldenRun) {
  for (const auto& name : kBoth) {
    const bool with_public = name == "gem-pub";
    auto parameters = small("4");
    parameters.emplace_back("alpha", "0.33");
    parameters.emplace_back("tolerance", with_public ? "1" : "0");
    const auto run = [&] {
      return run_mechanism(name, parameters, skewed_rows(300, 0.0, 1), some_problem(),
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
    const std::vector<double> of_rows = {97, 1, 8, 5, 9, 114, 7, 6, 0, 3, 25, 1};
    const std::vector<double> after_public = {154, 31, 94, 13};
    EXPECT_EQ(once.release.measurements.front().values, with_public ? after_public : of_rows);
    EXPECT_NEAR(once.release.model->project({0}).values.front(), with_public ? 189.7 : 191.9, 1.0);
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

// Six pairs of columns: with fewer rounds free rows are the better generator, otherwise the
// network.
TEST(Gem, TakesTheNetworkWhereTheRoundsReachAllPairs) {
  const auto made = [](const char* rounds, const char* generator) {
    const auto outcome =
        run_mechanism("gem", small(rounds, generator), skewed_rows(500, 0.0, 1), some_problem());
    return outcome.release.model->project({0, 1, 2});
  };
  EXPECT_EQ(made("5", "auto"), made("5", "rows"));
  EXPECT_EQ(made("6", "auto"), made("6", "network"));
}

// What gem-pub must never do by default: make good public rows worse, at any budget.
TEST(Gem, IsNoWorseThanGoodPublicRows) {
  const Table table = skewed_rows(20'000, 0.0, 1);
  const Table known = skewed_rows(2000, 0.0, 2);
  const Problem problem = skewed_problem(known);
  const double alone =
      evaluate_workload(problem.workload, CountedTable(table), CountedTable(known)).mean_error;
  for (const double rho : {1e-5, 1e-3, 0.1}) {
    const auto outcome =
        run_mechanism("gem-pub", {}, table, problem, {.filter = Filter::zcdp(Rho(rho))});
    const auto error =
        evaluate_workload(problem.workload, CountedTable(table), *outcome.release.model).mean_error;
    EXPECT_LT(error, 1.02 * alone) << rho;
  }
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

// A code that a rule excludes by itself has no row; a combination has hardly any, whatever noise
// says.
TEST(Gem, LearnsWhatCannotOccur) {
  Table table = skewed_rows(2000, 0.0, 1);
  for (std::size_t r = 0; r < table.rows(); ++r) {
    if (table.column(0)[r] == 0) table.column(3).set(r, 0);
    if (table.column(2)[r] == 3) table.column(2).set(r, 0);
  }
  Problem problem = some_problem();
  problem.impossible = {{{{2, {false, false, false, true}}}},
                        {{{0, {true, false}}, {3, {false, true}}}}};
  double with = 0.0;
  double without = 0.0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto ruled = run_mechanism("gem", small("10"), table, problem, {.seed = seed});
    EXPECT_EQ(ruled.release.model->project({2}).values[3], 0.0);
    with += ruled.release.model->project({0, 3}).values[1];
    const auto free = run_mechanism("gem", small("10"), table, some_problem(), {.seed = seed});
    without += free.release.model->project({0, 3}).values[1];
  }
  EXPECT_LT(with, 0.8 * without);
}

TEST(Gem, ReleasesAMixtureWithinItsLimit) {
  auto parameters = small("3");
  parameters.emplace_back("max-model-mb", "0.004");
  const auto outcome = run_mechanism("gem", parameters, skewed_rows(500, 0.0, 1), some_problem());
  const auto* mixture = dynamic_cast<const ProductMixture*>(outcome.release.model.get());
  ASSERT_NE(mixture, nullptr);
  EXPECT_EQ(mixture->kinds(), 4000U / 8U / 11U);
  EXPECT_EQ(outcome.release.facts.at("generated_rows").as_integer(), 45);
  EXPECT_TRUE(mentions(outcome.release.warnings, "has 45 rows of distributions and not 100"));
  const auto whole = run_mechanism("gem", small("3"), skewed_rows(500, 0.0, 1), some_problem());
  EXPECT_EQ(whole.release.facts.at("generated_rows").as_integer(), 100);
  EXPECT_TRUE(whole.release.warnings.empty());
}

TEST(Gem, ANetworkWithoutBlocksIsNamedNone) {
  const auto hidden = [](const std::string& text) {
    for (const auto& [name, value] : find_mechanism("gem").resolve({{"hidden", text}})) {
      if (name == "hidden") return value;
    }
    return std::string();
  };
  EXPECT_EQ(hidden("none"), "none");
  EXPECT_EQ(hidden("auto"), "256,256");
  EXPECT_EQ(hidden("8"), "8");
}

// Adam's memory of former rounds, and which errors gamma is a share of, matter as printed.
TEST(Gem, StartsAdamAfreshWhereAsked) {
  const auto made = [](const char* afresh) {
    auto parameters = small("3");
    parameters.emplace_back("afresh", afresh);
    const auto outcome = run_mechanism("gem", parameters, skewed_rows(500, 0.0, 1), some_problem());
    return outcome.release.model->project({0, 1, 2});
  };
  EXPECT_NE(made("true"), made("false"));
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
