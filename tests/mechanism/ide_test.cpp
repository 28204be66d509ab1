// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "mechanism/run_mechanism.h"
#include "support/errors.h"
#include "tandem/model/histogram/support_histogram.h"

namespace tandem::test {
namespace {

const Parameters kWorkload = {{"marginals", "workload"}};

Parameters with(Parameters parameters, const Parameters& more) {
  parameters.insert(parameters.end(), more.begin(), more.end());
  return parameters;
}

TEST(Ide, SpendsTheBudgetToTheLastGrainAndItsChargesAddUp) {
  const Table table = skewed_rows(500, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows}) {
    for (const auto& filter : {Filter::zcdp(Rho(0.015)), Filter::pure(Epsilon(1.0)),
                               Filter::zcdp(Rho(1e-9)), Filter::zcdp(Rho(50.0))}) {
      for (const auto& parameters :
           {Parameters{}, kWorkload, with(kWorkload, {{"support", "domain"}}),
            with(kWorkload, {{"support", "model"}}), with(kWorkload, {{"strategy", "hdmm"}}),
            with(kWorkload, {{"strategy", "hdmm"}, {"support", "model"}}),
            Parameters{{"noise", "laplace"}, {"tie", "scale"}, {"order", "random"}},
            Parameters{{"corrections", "dykstra"}, {"damping", "false"}, {"sweeps", "30"}}}) {
        const auto outcome =
            run_mechanism("ide", parameters, table, problem, {.filter = filter, .unit = unit});
        expect_sound(outcome, problem);
        EXPECT_TRUE(outcome.filter.remaining().is_zero());
      }
    }
  }
}

TEST(Ide, RecoversTheTruthWithoutNoise) {
  const Table table = skewed_rows(2000, 0.0, 1);
  const Table biased = skewed_rows(1000, 0.25, 2);
  const Problem problem = skewed_problem(biased);
  const double before =
      evaluate_workload(problem.workload, CountedTable(table), CountedTable(biased)).max_error;
  const RunSettings quiet{.filter = Filter::zcdp(Rho(1000.0)), .noise = false};
  for (const auto& more :
       {Parameters{}, Parameters{{"support", "domain"}}, Parameters{{"support", "model"}},
        Parameters{{"tie", "scale"}}, Parameters{{"corrections", "dykstra"}},
        Parameters{{"strategy", "hdmm"}}, Parameters{{"strategy", "hdmm"}, {"support", "model"}}}) {
    const auto outcome = run_mechanism("ide", with(kWorkload, more), table, problem, quiet);
    EXPECT_LT(max_error(problem, table, *outcome.release.model), before / 50.0);
  }
}

TEST(Ide, GoldenRun) {
  const Table table = skewed_rows(300, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(50, 0.3, 2));
  const auto outcome = run_mechanism("ide", {{"marginals", "a+b,d"}}, table, problem,
                                     {.filter = Filter::zcdp(Rho(0.5)), .seed = 7});
  ASSERT_EQ(outcome.release.measurements.size(), 2U);
  EXPECT_EQ(outcome.release.measurements[0].values, (std::vector<double>{249, 52}));
  EXPECT_EQ(outcome.release.measurements[1].values, (std::vector<double>{78, 106, -3, 39, 38, 36}));
  EXPECT_NEAR(outcome.release.model->project({0}).values.front(), 184.0, 1e-6);
}

TEST(Ide, BeatsThePublicDataWhereItIsBiased) {
  const Table table = skewed_rows(20'000, 0.0, 1);
  const Table known = skewed_rows(3000, 0.2, 2);
  const Problem problem = skewed_problem(known);
  const double alone =
      evaluate_workload(problem.workload, CountedTable(table), CountedTable(known)).max_error;
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    for (const char* support : {"public", "domain", "model"}) {
      double error = 0.0;
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const auto outcome = run_mechanism("ide", with(kWorkload, {{"support", support}}), table,
                                           problem, {.unit = unit, .seed = seed});
        error += max_error(problem, table, *outcome.release.model) / 5.0;
      }
      EXPECT_LT(error, alone / 5.0) << support;
    }
  }
}

TEST(Ide, PublicRowsAreAllThatItReleasesUnlessAModelSmoothsThem) {
  Table known = skewed_rows(200, 0.2, 2);
  for (std::size_t r = 0; r < known.rows(); ++r) known.column(2).set(r, r % 3);
  const Problem problem = skewed_problem(known);
  const Table table = skewed_rows(2000, 0.0, 1);
  const auto share_of_last = [&](const char* support) {
    const auto outcome =
        run_mechanism("ide", with(kWorkload, {{"support", support}}), table, problem);
    return outcome.release.model->project({2}).values[3] / 2000.0;
  };
  EXPECT_EQ(share_of_last("public"), 0.0);
  EXPECT_NEAR(share_of_last("model"), 0.075, 0.03);
  const auto outcome = run_mechanism("ide", kWorkload, table, problem);
  EXPECT_TRUE(mentions(outcome.release.warnings, "where no public row is"));
  EXPECT_TRUE(mentions(outcome.release.warnings, "never shows some values of 'c'"));
}

TEST(Ide, SaysHowTheFitWent) {
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  const auto outcome = run_mechanism("ide", kWorkload, skewed_rows(500, 0.0, 1), problem);
  const Document& fit = outcome.release.facts.at("fit");
  EXPECT_EQ(fit.at("marginals").as_number(), 6.0);
  const auto& sweeps = fit.at("sweeps").as_array();
  ASSERT_GT(sweeps.size(), 2U);
  EXPECT_LT(fit.at("misfit").as_number(), sweeps.front().at("misfit").as_number());
  EXPECT_GT(fit.at("kl").as_number(), 0.0);
  EXPECT_TRUE(mentions(notes_of(outcome.release), "The 6 measured marginals are missed by"));
}

TEST(Ide, TheCurrencyPicksTheNoise) {
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  const Table table = skewed_rows(500, 0.0, 1);
  const auto noise = [&](const Parameters& parameters, const Filter& filter) {
    return run_mechanism("ide", parameters, table, problem, {.filter = filter})
        .release.measurements.back()
        .noise;
  };
  EXPECT_EQ(noise({}, Filter::zcdp(Rho(0.1))), NoiseKind::Gaussian);
  EXPECT_EQ(noise({{"noise", "laplace"}}, Filter::zcdp(Rho(0.1))), NoiseKind::Laplace);
  EXPECT_EQ(noise({}, Filter::pure(Epsilon(1.0))), NoiseKind::Laplace);
  EXPECT_TRUE(contains(error_of<UsageError>([&] {
                         noise({{"noise", "gaussian"}}, Filter::pure(Epsilon(1.0)));
                       }),
                       "no pure guarantee"));
}

// M marginals at scale M Delta / epsilon each: a count's L1 sensitivity is 2 under replace-one.
TEST(Ide, PureNoiseGrowsWithTheNumberOfMarginals) {
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  const auto outcome = run_mechanism("ide", kWorkload, skewed_rows(500, 0.0, 1), problem,
                                     {.filter = Filter::pure(Epsilon(1.0))});
  ASSERT_EQ(outcome.release.measurements.size(), 6U);
  for (const auto& y : outcome.release.measurements) {
    EXPECT_NEAR(y.sigma.value(), std::sqrt(2.0) * 12.0, 1e-3);
  }
}

// All pairs of columns have single ones in common, which a strategy measures once.
TEST(Ide, AStrategyErrsLessThanMarginalsByThemselves) {
  const Table table = skewed_rows(20'000, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(3000, 0.2, 2));
  const auto error = [&](const char* strategy) {
    double sum = 0.0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto outcome = run_mechanism("ide", with(kWorkload, {{"strategy", strategy}}), table,
                                         problem, {.seed = seed});
      sum += evaluate_workload(problem.workload, CountedTable(table), *outcome.release.model)
                 .avg_workload_error;
    }
    return sum;
  };
  EXPECT_LT(error("hdmm"), error("marginals"));
  const auto outcome =
      run_mechanism("ide", with(kWorkload, {{"strategy", "hdmm"}}), table, problem);
  EXPECT_FALSE(outcome.release.facts.at("planner").as_string().empty());
  EXPECT_TRUE(mentions(plan_mechanism("ide", with(kWorkload, {{"strategy", "hdmm"}}), problem),
                       "numbers together, from which a count"));
}

TEST(Ide, RunsOnOnePublicRow) {
  const Problem problem = skewed_problem(skewed_rows(1, 0.0, 2));
  for (const char* marginals : {"workload", "public-cliques"}) {
    for (const char* support : {"public", "domain", "model"}) {
      const auto outcome = run_mechanism("ide", {{"marginals", marginals}, {"support", support}},
                                         skewed_rows(400, 0.0, 1), problem);
      expect_sound(outcome, problem);
    }
  }
}

TEST(Ide, RefusesWhatItCannotDo) {
  const Problem problem = skewed_problem(skewed_rows(5000, 0.0, 2));
  const auto error = [&](const Parameters& parameters) {
    return error_of<UsageError>([&] { plan_mechanism("ide", parameters, problem); });
  };
  EXPECT_TRUE(contains(error({{"max-model-mb", "0.01"}}), "max-model-mb allows 0.01 MB"));
  EXPECT_TRUE(contains(error({{"marginals", "a+x"}}), "'x'"));
  EXPECT_TRUE(contains(error({{"tie", "scale"}, {"corrections", "dykstra"}}), "tie=prior"));
  const Problem nobody = skewed_problem(skewed_rows(0, 0.0, 2));
  EXPECT_TRUE(
      contains(error_of<UsageError>([&] { plan_mechanism("ide", {}, nobody); }), "no rows"));
}

TEST(Ide, PlansWithoutData) {
  const Problem problem = skewed_problem(skewed_rows(200, 0.0, 2));
  const auto plan = plan_mechanism("ide", {}, problem);
  EXPECT_TRUE(mentions(plan, "each count with noise"));
  EXPECT_TRUE(mentions(plan, "200 public ones"));
  EXPECT_TRUE(mentions(plan_mechanism("ide", kWorkload, problem), "Measures 6 marginals"));
}

TEST(Ide, MemoryAndTimeGoWithThePublicRows) {
  const Domain domain({{"a", 100, {}}, {"b", 100, {}}, {"c", 100, {}}});
  const auto with_rows = [&](std::size_t count) -> Problem {
    Table rows(domain, count);
    Rng rng(1);
    for (std::size_t r = 0; r < count; ++r) {
      for (AttributeId id = 0; id < 3; ++id) {
        rows.column(id).set(r, static_cast<Code>(rng.below(100)));
      }
    }
    return {domain, Workload::all_k_way(domain, 1), {{{"public.csv", rows}}}};
  };
  for (const char* name : {"ide", "mre"}) {
    const auto few = effort_of(name, with_rows(200));
    const auto many = effort_of(name, with_rows(20'000));
    EXPECT_GT(many.bytes, 10.0 * few.bytes) << name;
    EXPECT_GT(many.seconds, 10.0 * few.seconds) << name;
  }
}

}  // namespace
}  // namespace tandem::test
