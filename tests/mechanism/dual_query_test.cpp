// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "mechanism/run_mechanism.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/mechanism/dual/dual_parameters.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/model/records_model.h"

namespace tandem::test {
namespace {

constexpr double kDelta = 0.001;

Problem conjunctions_problem(std::size_t count = 300) {
  const Domain domain = skewed_rows(0, 0.0, 0).domain();
  return {domain,
          Workload::of_conjunctions(
              domain, "signed",
              {random_conjunctions(domain, 3, count, 1, ConjunctionFamily::Signed), {}}),
          {}};
}

Evaluation errors_of(const Problem& problem, const Table& truth, const Model& model) {
  const auto& conjunctions = *problem.workload.conjunctions();
  auto answers = dynamic_cast<const RecordsModel&>(model).answers(conjunctions);
  for (double& answer : answers) answer /= model.total();
  return evaluate_conjunctions(conjunctions, conjunction_shares(conjunctions, truth), answers);
}

// What the paper's parameters cost by three accountings, on its three data sets.
TEST(DualParameters, CostWhatThePaperAndItsCodeSay) {
  struct Case {
    DualParameters p;
    double n, theorem, advanced, zcdp;
  };
  for (const auto& [p, n, theorem, advanced, zcdp] :
       {Case{{40, 0.8, 1000}, 30'162, 3.155, 0.951, 0.293},
        Case{{170, 1.2, 1750}, 494'021, 3.349, 1.029, 0.320},
        Case{{120, 1.2, 4500}, 480'189, 3.276, 1.004, 0.311}}) {
    EXPECT_NEAR(dual_theorem_epsilon(p, n, kDelta), theorem, 5e-4);
    EXPECT_NEAR(dual_advanced_epsilon(p, n, kDelta), advanced, 5e-4);
    EXPECT_NEAR(epsilon_of(Rho(dual_rho(p, n)), Delta(kDelta)).value(), zcdp, 5e-4);
    EXPECT_TRUE(dual_theorem_holds(p, n, kDelta));
  }
  EXPECT_NEAR(dual_rho({40, 0.8, 1000}, 30'162), 0.007225, 5e-7);
  EXPECT_NEAR(dual_pure_epsilon({40, 0.8, 1000}, 30'162), 0.8 * 1000 * 40 * 39 / 30'162.0, 1e-9);
}

TEST(DualParameters, SpendTheBudgetWhateverIsStated) {
  const DualBudget budget{.currency = Currency::Zcdp,
                          .amount = rho_of(Epsilon(1.0), Delta(kDelta)).value(),
                          .n = 30'162.0};
  for (const auto& wishes :
       {DualWishes{}, DualWishes{.rounds = 50}, DualWishes{.rate = 0.4}, DualWishes{.draws = 60},
        DualWishes{.rounds = 50, .draws = 60}, DualWishes{.rounds = 50, .rate = 1.0}}) {
    const auto p = choose_dual_parameters(budget, wishes);
    EXPECT_LE(budget.share(p), 1.0);
    EXPECT_GT(budget.share(p), 0.95);
    EXPECT_EQ(p.rounds, wishes.rounds.value_or(p.rounds));
    EXPECT_EQ(p.rate, wishes.rate.value_or(p.rate));
    EXPECT_EQ(p.draws, wishes.draws.value_or(p.draws));
  }
  const auto p = choose_dual_parameters(budget, {});
  EXPECT_EQ(p.rounds, 136);
  EXPECT_GE(p.draws, 40);
  // Little is left of a small table, and still there are draws.
  EXPECT_GE(choose_dual_parameters({Currency::Zcdp, 0.01, 100.0}, {}).draws, 40);
}

TEST(DualParameters, RateAndDrawsLeaveTheRoundsToTheBudget) {
  // As figure 4 of the paper has them at 512,000 and at 1,000 columns.
  const DualBudget budget{.currency = Currency::Zcdp,
                          .amount = rho_of(Epsilon(1.0), Delta(kDelta)).value(),
                          .n = 100'000.0};
  EXPECT_EQ(choose_dual_parameters(budget, {.rate = 0.3, .draws = 70'000}).rounds, 83);
  EXPECT_EQ(choose_dual_parameters(budget, {.rate = 0.3, .draws = 2'000}).rounds, 271);
  const auto text = error_of<TooFewRows>(
      [&] { choose_dual_parameters(budget, {.rate = 1e4, .draws = 10'000'000}); });
  EXPECT_TRUE(contains(text, "2 rounds of 10,000,000 draws at rate 1e+04 take"));
}

TEST(DualParameters, ThePapersAccountingsBuyLess) {
  DualBudget budget{.currency = Currency::Zcdp,
                    .amount = rho_of(Epsilon(1.0), Delta(kDelta)).value(),
                    .n = 30'162.0,
                    .delta = kDelta};
  const DualWishes wishes{.rounds = 40, .rate = 0.8};
  const auto zcdp = choose_dual_parameters(budget, wishes).draws;
  budget.accounting = DualAccounting::Advanced;
  const auto advanced = choose_dual_parameters(budget, wishes).draws;
  budget.accounting = DualAccounting::Theorem;
  const auto theorem = choose_dual_parameters(budget, wishes).draws;
  EXPECT_GT(zcdp, 4 * advanced);
  EXPECT_GT(advanced, 4 * theorem);
}

TEST(DualParameters, TheTheoremPromisesLittleOnThePapersData) {
  const DualBudget budget{.currency = Currency::Zcdp,
                          .amount = rho_of(Epsilon(1.0), Delta(kDelta)).value(),
                          .n = 494'021.0};
  const auto [p, alpha] = theorem_parameters(budget, 500'000, 396 * std::log(2.0), 0.05);
  EXPECT_GT(alpha, 0.3);
  EXPECT_LT(alpha, 1.0);
  EXPECT_LE(budget.share(p), 1.0);
  EXPECT_NEAR(p.rate, alpha / 4.0, 1e-12);
}

TEST(DualParameters, SayWhatDoesNotFit) {
  const DualBudget budget{.currency = Currency::Zcdp, .amount = 0.01, .n = 1000.0};
  auto text =
      error_of<TooFewRows>([&] { choose_dual_parameters(budget, {.rounds = 500, .rate = 2.0}); });
  EXPECT_TRUE(contains(text, "500 rounds at rate 2 leave less than one draw"));
  text = error_of<TooFewRows>(
      [&] { choose_dual_parameters(budget, {.rounds = 500, .rate = 2.0, .draws = 10}); });
  EXPECT_TRUE(contains(text, "times the budget"));
  text = error_of<TooFewRows>([&] { theorem_parameters(budget, 1e4, 100.0, 0.05); });
  EXPECT_TRUE(contains(text, "no error below 1"));
  const DualBudget sharp{Currency::Zcdp, 50.0, 200.0, DualAccounting::Theorem, kDelta};
  text = error_of<TooFewRows>([&] { choose_dual_parameters(sharp, {.rounds = 20, .rate = 5.0}); });
  EXPECT_TRUE(contains(text, "that the theorem's proof needs"));
}

TEST(DualParameters, TheTheoremsOwnParametersKeepItsCondition) {
  // Epsilon 60 at delta .001: 8.07 on the left of the condition, and 3.72 on the right.
  const DualBudget budget{Currency::Zcdp, rho_of(Epsilon(60.0), Delta(kDelta)).value(), 30'162.0,
                          DualAccounting::Theorem, kDelta};
  const auto text = error_of<TooFewRows>([&] { theorem_parameters(budget, 2e4, 40.0, 0.05); });
  EXPECT_TRUE(contains(text, "that the theorem's proof needs"));
}

TEST(DualParameters, SpeakOfTheRowsThatThereAre) {
  DualBudget budget{.currency = Currency::Zcdp, .amount = 0.01, .n = 2000.0};
  budget.range = 1.0;  // as under add-remove
  const auto text =
      error_of<TooFewRows>([&] { choose_dual_parameters(budget, {.rounds = 500, .rate = 2.0}); });
  EXPECT_TRUE(contains(text, " 1,000 rows"));
}

TEST(DualQuery, StaysWithinBudgetAndItsChargesAddUp) {
  const Table table = skewed_rows(500, 0.0, 1);
  for (const auto& problem : {conjunctions_problem(), skewed_problem(table)}) {
    for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows}) {
      for (const auto& filter :
           {Filter::zcdp(Rho(0.015)), Filter::pure(Epsilon(1.0)), Filter::zcdp(Rho(1e-9))}) {
        expect_sound(run_mechanism("dual-query", {{"rounds", "6"}}, table, problem,
                                   {.filter = filter, .unit = unit}),
                     problem);
      }
    }
  }
}

TEST(DualQuery, SpendsAQuarterUnderAddRemove) {
  const Problem problem = conjunctions_problem();
  const Table table = skewed_rows(20'000, 0.0, 1);
  const auto draws = [&](const PrivacyUnit& unit) {
    const auto outcome = run_mechanism("dual-query", {{"rounds", "10"}, {"rate", "2"}}, table,
                                       problem, {.filter = Filter::zcdp(Rho(0.01)), .unit = unit});
    return outcome.release.facts.at("dual_query").at("draws").as_number();
  };
  EXPECT_NEAR(draws(kAddRemove) / draws(kReplaceOne), 4.0, 0.25);  // and 2% for the total
}

// The number of rows is measured better where its noise would prefer queries to their negations.
TEST(DualQuery, MeasuresTheNumberOfRowsAsWellAsItsDrawsNeed) {
  const Problem problem = conjunctions_problem();
  const auto release = [&](std::size_t rows) {
    return run_mechanism("dual-query", {}, skewed_rows(rows, 0.0, 1), problem,
                         {.filter = Filter::zcdp(Rho(0.01)), .unit = kAddRemove})
        .release;
  };
  const auto small = release(30'000);
  EXPECT_EQ(small.measurements.size(), 2U);
  EXPECT_FALSE(mentions(small.warnings, "so uncertain"));
  EXPECT_NEAR(small.total, 30'000.0, 200.0);
  EXPECT_EQ(release(200'000).measurements.size(), 1U);
  EXPECT_TRUE(mentions(release(2000).warnings, "fewer rounds or a lower rate"));
}

TEST(DualQuery, AnswersMultiplesOfOneOverItsRounds) {
  const Problem problem = conjunctions_problem();
  const Table table = skewed_rows(3000, 0.0, 1);
  const auto outcome = run_mechanism("dual-query", {{"rounds", "7"}}, table, problem);
  const auto& model = dynamic_cast<const RecordsModel&>(*outcome.release.model);
  EXPECT_EQ(model.records().size(), 7U);
  for (const double answer : model.answers(*problem.workload.conjunctions())) {
    const double sevenths = 7.0 * answer / model.total();
    EXPECT_NEAR(sevenths, std::nearbyint(sevenths), 1e-9);
  }
  const auto& facts = outcome.release.facts.at("dual_query");
  EXPECT_EQ(facts.at("rounds").as_integer(), 7);
  EXPECT_LE(facts.at("optimal_rounds").as_integer(), 7);
  EXPECT_TRUE(mentions(notes_of(outcome.release), "multiples of 1/7"));
}

TEST(DualQuery, ComesNearWithALargeBudget) {
  const Problem problem = conjunctions_problem();
  const Table table = skewed_rows(20'000, 0.0, 1);
  for (const auto& parameters : {Parameters{}, Parameters{{"free", "zero"}}}) {
    const auto outcome = run_mechanism("dual-query", parameters, table, problem);
    const auto errors = errors_of(problem, table, *outcome.release.model);
    EXPECT_LT(errors.max_error, 0.1);
    EXPECT_LT(errors.mean_error, 0.02);
  }
}

TEST(DualQuery, FreeBitsAnswerByThemselves) {
  const Problem problem = conjunctions_problem();
  const Table table = skewed_rows(20'000, 0.0, 1);
  const auto outcome = run_mechanism("dual-query", {{"one-hot", "false"}}, table, problem);
  const auto errors = errors_of(problem, table, *outcome.release.model);
  EXPECT_LT(errors.max_error, 0.1);
  EXPECT_LT(errors.mean_error, 0.02);
}

TEST(DualQuery, RefusesWhatCannotBe) {
  const Problem problem = conjunctions_problem();
  for (const auto& [name, value] :
       Parameters{{"rounds", "1"}, {"draws", "0"}, {"solver", "cplex"}, {"free", "one"}}) {
    EXPECT_THROW(plan_mechanism("dual-query", {{name, value}}, problem), UsageError) << name;
  }
  EXPECT_TRUE(contains(
      error_of<UsageError>([&] {
        plan_mechanism("dual-query", {{"parameters", "theorem"}, {"rounds", "5"}}, problem);
      }),
      "theorem sets rounds"));
  EXPECT_TRUE(contains(error_of<UsageError>([&] {
                         plan_mechanism("dual-query", {{"accounting", "advanced"}}, problem,
                                        {.filter = Filter::pure(Epsilon(1.0))});
                       }),
                       "need a delta"));
  EXPECT_TRUE(contains(error_of<UsageError>([&] {
                         plan_mechanism("dual-query",
                                        {{"accounting", "advanced"}, {"accounting-delta", "0.5"}},
                                        problem);
                       }),
                       "choose a smaller one"));
}

// A plan is for the rows expected, whatever other numbers of rows would be too few for.
TEST(DualQuery, PlansForTheRowsExpectedAndSaysHowManyItTakes) {
  const Problem problem = conjunctions_problem();
  const Parameters large = {{"rounds", "170"}, {"rate", "1.2"}, {"draws", "1750"}};
  const RunSettings third = {.filter = Filter::zcdp(rho_of(Epsilon(0.33), Delta(kDelta)))};
  auto plan = plan_mechanism("dual-query", large, problem, third, 494'021.0);
  EXPECT_TRUE(mentions(plan, "with 494,021 rows there would be 170 rounds of 1,750 draws"));
  plan = plan_mechanism("dual-query", large, problem, third, 100'000.0);
  EXPECT_TRUE(mentions(plan, "only from about 48"));
  EXPECT_TRUE(mentions(plan, "fewer seem to be there"));
}

// A program in the place of CBC, on a PATH of its own while this lives.
class OwnPath {
 public:
  explicit OwnPath(const std::string& script) : before_(std::getenv("PATH")) {
    if (!script.empty()) {
      const std::string path = dir_.write("cbc", "#!/bin/sh\n" + script + "\n");
      std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    setenv("PATH", dir_.path().c_str(), 1);
  }
  ~OwnPath() { setenv("PATH", before_.c_str(), 1); }
  OwnPath(const OwnPath&) = delete;
  OwnPath& operator=(const OwnPath&) = delete;

 private:
  TempDir dir_;
  std::string before_;
};

TEST(DualQuery, ASolverThatCrashesHarmsNothingAndIsCounted) {
  const Problem problem = conjunctions_problem();
  const Table table = skewed_rows(20'000, 0.0, 1);
  const OwnPath path("kill -SEGV $$");
  const auto run = [&](const char* solver) {
    return run_mechanism("dual-query", {{"rounds", "6"}, {"draws", "300"}, {"solver", solver}},
                         table, problem);
  };
  const auto alone = run("local");
  for (const char* solver : {"auto", "cbc"}) {
    const auto outcome = run(solver);
    const auto& facts = outcome.release.facts.at("dual_query");
    const auto optimal = facts.at("optimal_rounds").as_integer();
    ASSERT_LT(optimal, 6);
    EXPECT_EQ(facts.at("solver_failures").as_integer(), 6 - optimal);
    EXPECT_EQ(optimal, alone.release.facts.at("dual_query").at("optimal_rounds").as_integer());
    EXPECT_TRUE(std::ranges::any_of(outcome.release.warnings, [](const auto& warning) {
      return warning.key == "dual_query.solver" && contains(warning.text, "CBC failed in");
    }));
    const auto& conjunctions = *problem.workload.conjunctions();
    EXPECT_EQ(dynamic_cast<const RecordsModel&>(*outcome.release.model).answers(conjunctions),
              dynamic_cast<const RecordsModel&>(*alone.release.model).answers(conjunctions));
  }
}

TEST(DualQuery, SaysThatTheSolverIsMissing) {
  const OwnPath path("");
  const auto text = error_of<UsageError>([&] {
    plan_mechanism("dual-query", {{"solver", "cbc"}}, conjunctions_problem());
  });
  EXPECT_TRUE(contains(text, "there is no program of that name on the PATH"));
  EXPECT_NO_THROW(plan_mechanism("dual-query", {{"solver", "auto"}}, conjunctions_problem()));
}

TEST(DualQuery, SaysWhatItWouldDo) {
  const auto plan = plan_mechanism("dual-query", {}, conjunctions_problem());
  EXPECT_TRUE(mentions(plan, "with 100,000 rows there would be"));
}

TEST(Perturb, ReleasesAnswersAndNoModel) {
  const Problem problem = conjunctions_problem();
  const auto& conjunctions = *problem.workload.conjunctions();
  const Table table = skewed_rows(20'000, 0.0, 1);
  for (const auto& filter : {Filter::zcdp(Rho(1.0)), Filter::pure(Epsilon(1.0))}) {
    for (const auto& unit : {kReplaceOne, kAddRemove}) {
      const auto outcome =
          run_mechanism("perturb", {}, table, problem, {.filter = filter, .unit = unit});
      EXPECT_EQ(outcome.release.model, nullptr);
      ASSERT_EQ(outcome.release.answers.size(), conjunctions.size());
      EXPECT_LE(outcome.filter.spent(), outcome.filter.total());
      const auto truth = conjunction_shares(conjunctions, table);
      double squares = 0.0;
      for (std::size_t i = 0; i < truth.size(); ++i) {
        const auto& answer = outcome.release.answers[i];
        EXPECT_EQ(answer.query, conjunctions.describe(i));
        const double off = (answer.estimate - truth[i] * 20'000.0) / *answer.stddev;
        squares += off * off;
      }
      EXPECT_NEAR(squares / static_cast<double>(truth.size()), 1.0, 0.5);
    }
  }
}

// The error is that of one query times the root of their number.
TEST(Perturb, NoiseGrowsWithTheRootOfTheQueries) {
  const auto stddev = [](std::size_t count) {
    const Problem problem = conjunctions_problem(count);
    const auto outcome = run_mechanism("perturb", {}, skewed_rows(100, 0.0, 1), problem);
    return *outcome.release.answers.front().stddev /
           std::sqrt(static_cast<double>(problem.workload.conjunctions()->size()));
  };
  EXPECT_NEAR(stddev(10), stddev(300), 0.01 * stddev(10));
}

}  // namespace
}  // namespace tandem::test
