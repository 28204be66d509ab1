// SPDX-License-Identifier: Apache-2.0
#include "mechanism/run_mechanism.h"
#include "support/errors.h"
#include "tandem/optimize/least_l1.h"

namespace tandem::test {
namespace {

const Parameters kWorkload = {{"marginals", "workload"}};

TEST(Mre, SpendsTheBudgetToTheLastGrainAndItsChargesAddUp) {
  const Table table = skewed_rows(500, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows}) {
    for (const auto& filter : {Filter::zcdp(Rho(0.015)), Filter::pure(Epsilon(1.0)),
                               Filter::zcdp(Rho(1e-9)), Filter::zcdp(Rho(50.0))}) {
      for (const auto& parameters :
           {Parameters{}, kWorkload, Parameters{{"noise", "laplace"}, {"least-misfit", "dual"}}}) {
        const auto outcome =
            run_mechanism("mre", parameters, table, problem, {.filter = filter, .unit = unit});
        expect_sound(outcome, problem);
        EXPECT_TRUE(outcome.filter.remaining().is_zero());
      }
    }
  }
}

TEST(Mre, RecoversTheTruthWithoutNoise) {
  const Table table = skewed_rows(2000, 0.0, 1);
  const Table biased = skewed_rows(1000, 0.25, 2);
  const Problem problem = skewed_problem(biased);
  const double before =
      evaluate_workload(problem.workload, CountedTable(table), CountedTable(biased)).max_error;
  const RunSettings quiet{.filter = Filter::zcdp(Rho(1000.0)), .noise = false};
  const auto outcome = run_mechanism("mre", kWorkload, table, problem, quiet);
  EXPECT_LT(max_error(problem, table, *outcome.release.model), before / 50.0);
}

TEST(Mre, GoldenRun) {
  const Table table = skewed_rows(300, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(50, 0.3, 2));
  for (const char* solver : {"auto", "dual"}) {
    const auto outcome =
        run_mechanism("mre", {{"marginals", "a+b,d"}, {"least-misfit", solver}}, table, problem,
                      {.filter = Filter::zcdp(Rho(0.5)), .seed = 7});
    ASSERT_EQ(outcome.release.measurements.size(), 2U);
    EXPECT_EQ(outcome.release.measurements[0].values, (std::vector<double>{249, 52}));
    EXPECT_NEAR(outcome.release.model->project({0}).values.front(), 187.0, 1e-3) << solver;
  }
}

TEST(Mre, BeatsThePublicDataWhereItIsBiased) {
  const Table table = skewed_rows(20'000, 0.0, 1);
  const Table known = skewed_rows(3000, 0.2, 2);
  const Problem problem = skewed_problem(known);
  const double alone =
      evaluate_workload(problem.workload, CountedTable(table), CountedTable(known)).max_error;
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    double error = 0.0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto outcome =
          run_mechanism("mre", kWorkload, table, problem, {.unit = unit, .seed = seed});
      error += max_error(problem, table, *outcome.release.model) / 5.0;
    }
    EXPECT_LT(error, alone / 5.0);
  }
}

TEST(Mre, FitsNoWorseThanIdeAtNoMoreRelativeEntropy) {
  const Table table = skewed_rows(3000, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(300, 0.2, 2));
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const RunSettings settings{.seed = seed};
    const auto ide = run_mechanism("ide", kWorkload, table, problem, settings);
    const auto mre = run_mechanism("mre", kWorkload, table, problem, settings);
    const Document& exact = mre.release.facts.at("fit");
    EXPECT_LE(exact.at("misfit").as_number(),
              ide.release.facts.at("fit").at("misfit").as_number() + 1e-5);
    EXPECT_LE(exact.at("gap").as_number(), 1e-6);
    EXPECT_TRUE(exact.at("settled").as_bool());
    EXPECT_EQ(exact.at("least_is_exact").as_bool(), has_linear_solver());
  }
}

TEST(Mre, CertifiesWhatItReleases) {
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  const auto outcome = run_mechanism("mre", kWorkload, skewed_rows(500, 0.0, 1), problem);
  EXPECT_TRUE(
      mentions(notes_of(outcome.release), "which is the least that weights on public rows can"));
}

TEST(Mre, RunsOnOnePublicRow) {
  const Problem problem = skewed_problem(skewed_rows(1, 0.0, 2));
  const auto outcome = run_mechanism("mre", kWorkload, skewed_rows(400, 0.0, 1), problem);
  EXPECT_TRUE(mentions(outcome.release.warnings, "a single row"));
  expect_sound(outcome, problem);
}

TEST(Mre, RefusesWhatIsTooLargeAndNamesIde) {
  std::vector<Attribute> attributes;
  for (int c = 0; c < 60; ++c) attributes.push_back({"c" + std::to_string(c), 2, {}});
  const Domain domain(attributes);
  Table known(domain, 2000);
  Rng rng(1);
  for (AttributeId id = 0; id < 60; ++id) {
    for (std::size_t r = 0; r < known.rows(); ++r) {
      known.column(id).set(r, static_cast<Code>(rng.below(2)));
    }
  }
  const Problem problem{domain, Workload::all_k_way(domain, 3), {{{"public.csv", known}}}};
  const auto text = error_of<UsageError>([&] { plan_mechanism("mre", kWorkload, problem); });
  EXPECT_TRUE(contains(text, "choose ide"));
  EXPECT_TRUE(contains(text, "34220 marginals"));
}

// Two columns that go together and have many values, of fifty different rows.
Problem wide_problem() {
  const Domain domain({{"a", 50, {}}, {"b", 50, {}}});
  Table rows(domain, 3000);
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (AttributeId id = 0; id < 2; ++id) rows.column(id).set(r, static_cast<Code>(r % 50));
  }
  return {domain, Workload::all_k_way(domain, 2), {{{"public.csv", rows}}}};
}

TEST(Mre, KeepsItsLimitWithColumnsByThemselvesToo) {
  const Problem problem = wide_problem();
  for (const char* marginals : {"public-cliques", "workload"}) {
    const auto text = error_of<UsageError>([&] {
      plan_mechanism("mre", {{"marginals", marginals}, {"max-model-mb", "0.003"}}, problem);
    });
    EXPECT_TRUE(contains(text, "mre has no room for the marginal of each column")) << text;
    EXPECT_TRUE(contains(text, "choose ide")) << text;
  }
  // Few rows are different, and these are what it keeps.
  const auto plan = plan_mechanism("mre", {{"max-model-mb", "0.004"}}, problem);
  EXPECT_TRUE(mentions(plan, "Measures 2 marginals"));
}

TEST(Mre, PlansWithoutData) {
  const Problem problem = skewed_problem(skewed_rows(200, 0.0, 2));
  EXPECT_TRUE(mentions(plan_mechanism("mre", kWorkload, problem), "Measures 6 marginals"));
}

}  // namespace
}  // namespace tandem::test
