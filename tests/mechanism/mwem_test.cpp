// SPDX-License-Identifier: Apache-2.0
#include "mechanism/run_mechanism.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/data/csv.h"
#include "tandem/model/product_model.h"

namespace tandem::test {
namespace {

Problem all_pairs_problem() {
  const Domain domain = skewed_rows(0, 0.0, 0).domain();
  return {domain, Workload::all_k_way(domain, 2), {}};
}

// Two pairs that share no column, and a column that nobody asks for.
Problem split_problem() {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 4, {}}, {"d", 2, {}}, {"alone", 5, {}}});
  return {domain, Workload(domain, "split", {{Clique{0, 2}, 1.0}, {Clique{1, 3}, 1.0}}), {}};
}

Table split_rows(std::size_t rows) {
  Table table(split_problem().domain, rows);
  for (std::size_t r = 0; r < rows; ++r) {
    table.column(0).set(r, r % 2);
    table.column(2).set(r, r % 2 + (r % 10 == 0 ? 2 : 0));
    table.column(1).set(r, r % 3);
    table.column(3).set(r, r % 3 == 0 ? 1 : 0);
  }
  return table;
}

TEST(Mwem, StaysWithinBudgetAndItsChargesAddUp) {
  const Table table = skewed_rows(500, 0.0, 1);
  for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows}) {
    for (const auto& filter :
         {Filter::zcdp(Rho(0.015)), Filter::pure(Epsilon(1.0)), Filter::zcdp(Rho(1e-9))}) {
      for (const auto& parameters :
           {Parameters{{"rounds", "10"}}, Parameters{{"rounds", "10"}, {"variant", "original"}},
            Parameters{{"rounds", "5"},
                       {"support", "random:20"},
                       {"output", "last"},
                       {"selection", "permute-and-flip"}},
            Parameters{{"rounds", "5"}, {"start", "noisy"}}}) {
        expect_sound(run_mechanism("mwem", parameters, table, all_pairs_problem(),
                                   {.filter = filter, .unit = unit}),
                     all_pairs_problem());
      }
    }
  }
}

// One round cannot learn a table; a count of each of its 48 rows can.
TEST(Mwem, StartsFromANoisyCountOfEveryRow) {
  const Table table = skewed_rows(20'000, 0.0, 1);
  const auto error = [&](const char* start) {
    const auto outcome = run_mechanism("mwem", {{"rounds", "1"}, {"start", start}}, table,
                                       all_pairs_problem(), {.filter = Filter::zcdp(Rho(0.1))});
    return max_error(all_pairs_problem(), table, *outcome.release.model);
  };
  EXPECT_LT(error("noisy"), 0.01);
  EXPECT_GT(error("uniform"), 0.1);
  const Parameters random = {{"start", "noisy"}, {"support", "random:20"}};
  EXPECT_THROW(run_mechanism("mwem", random, table, all_pairs_problem()), UsageError);
  EXPECT_THROW(plan_mechanism("mwem", random, all_pairs_problem()), UsageError);
}

// Two groups, each with its own counts.
TEST(Mwem, CountsEachGroupByItself) {
  const Table table = split_rows(30'000);
  const auto outcome = run_mechanism("mwem", {{"rounds", "1"}, {"start", "noisy"}}, table,
                                     split_problem(), {.filter = Filter::zcdp(Rho(0.1))});
  EXPECT_LT(max_error(split_problem(), table, *outcome.release.model), 0.01);
}

TEST(Mwem, TheVariantPicksTheNoise) {
  const auto noise = [](const std::string& variant, const Filter& filter) {
    return run_mechanism("mwem", {{"rounds", "2"}, {"variant", variant}}, skewed_rows(50, 0.0, 1),
                         all_pairs_problem(), {.filter = filter})
        .release.measurements.back()
        .noise;
  };
  EXPECT_EQ(noise("mw-pub", Filter::zcdp(Rho(0.1))), NoiseKind::Gaussian);
  EXPECT_EQ(noise("original", Filter::zcdp(Rho(0.1))), NoiseKind::Laplace);
  EXPECT_EQ(noise("mw-pub", Filter::pure(Epsilon(1.0))), NoiseKind::Laplace);
}

TEST(Mwem, RecoversTheTruthWithoutNoise) {
  const Table table = skewed_rows(2000, 0.0, 1);
  const auto outcome =
      run_mechanism("mwem", {{"rounds", "400"}, {"output", "last"}, {"step", "2"}}, table,
                    all_pairs_problem(), {.filter = Filter::zcdp(Rho(1e4)), .noise = false});
  EXPECT_LT(max_error(all_pairs_problem(), table, *outcome.release.model), 0.003);
}

TEST(Mwem, KeepsGroupsApartThatTheWorkloadDoesNotTie) {
  const Table table = split_rows(3000);
  const Problem problem = split_problem();
  const auto outcome =
      run_mechanism("mwem", {{"rounds", "200"}, {"output", "last"}, {"step", "2"}}, table, problem,
                    {.filter = Filter::zcdp(Rho(1e4)), .noise = false});
  expect_sound(outcome, problem);
  EXPECT_LT(max_error(problem, table, *outcome.release.model), 0.003);
  for (const double value : outcome.release.model->project({4}).values) {
    EXPECT_NEAR(value, 600.0, 1e-6);  // never asked for, so uniform
  }
  EXPECT_TRUE(mentions(plan_mechanism("mwem", {}, problem), "They are in 3 groups of columns"));
}

TEST(Mwem, GoldenRun) {
  const auto outcome =
      run_mechanism("mwem", {{"rounds", "4"}}, skewed_rows(300, 0.0, 1), all_pairs_problem(),
                    {.filter = Filter::zcdp(Rho(0.5)), .seed = 7});
  std::vector<double> values;
  for (const auto& y : outcome.release.measurements) values.push_back(y.values.front());
  EXPECT_EQ(values, (std::vector<double>{118, 91, 152, 95}));
  EXPECT_NEAR(outcome.release.model->project({0}).values.front(), 193.442466841, 1e-6);
}

TEST(Mwem, BeatsGuessingThatAllIsUniform) {
  const Table table = skewed_rows(20'000, 0.0, 1);
  const ProductModel uniform(table.domain(), {{1, 1}, {1, 1, 1}, {1, 1, 1, 1}, {1, 1}}, 20'000.0);
  const double baseline = max_error(all_pairs_problem(), table, uniform);
  for (const auto& parameters : {Parameters{}, Parameters{{"variant", "original"}}}) {
    const auto outcome = run_mechanism("mwem", parameters, table, all_pairs_problem());
    EXPECT_LT(max_error(all_pairs_problem(), table, *outcome.release.model), baseline / 2.0);
  }
}

TEST(Mwem, NamesTheWayOutOfADomainTooLarge) {
  std::vector<Attribute> attributes;
  for (int i = 0; i < 40; ++i) attributes.push_back({"c" + std::to_string(i), 10, {}});
  const Domain domain(attributes);
  const Problem problem{domain, Workload::all_k_way(domain, 2), {}};
  for (const auto& text :
       {error_of<UsageError>([&] { run_mechanism("mwem", {}, Table(domain, 5), problem); }),
        error_of<UsageError>([&] { plan_mechanism("mwem", {}, problem); })}) {
    EXPECT_TRUE(contains(text, "max-model-mb allows 4,096 MB"));
    EXPECT_TRUE(contains(text, "mw-pub"));
    EXPECT_TRUE(contains(text, "aim"));
  }
  expect_sound(
      run_mechanism("mwem", {{"support", "random:50"}, {"rounds", "2"}}, Table(domain, 5), problem),
      problem);
  for (const auto& wrong : {"half", "random:0", "random:x"}) {
    EXPECT_THROW(plan_mechanism("mwem", {{"support", wrong}}, problem), UsageError);
  }
}

}  // namespace
}  // namespace tandem::test
