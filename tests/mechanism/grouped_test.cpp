// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "mechanism/run_mechanism.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/mechanism/groups/group_keys.h"
#include "tandem/mechanism/groups/group_marginals.h"
#include "tandem/model/grouped_model.h"
#include "tandem/model/model_file.h"

namespace tandem::test {
namespace {

// a and d are keys; b and c go together, and b differs between the values of a.
const Parameters kByA = {{"fine", "a"}};
const Parameters kByAD = {{"fine", "a,d"}, {"coarse", "d"}};

const GroupedModel& groups_of(const Outcome& outcome) {
  return dynamic_cast<const GroupedModel&>(*outcome.release.model);
}

TEST(Grouped, SpendsTheBudgetToTheLastGrainAndItsChargesAddUp) {
  const Table table = skewed_rows(500, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  for (const auto& unit : {kReplaceOne, kAddRemove, kThreeRows}) {
    for (const auto& filter : {Filter::zcdp(Rho(0.015)), Filter::pure(Epsilon(1.0)),
                               Filter::zcdp(Rho(1e-9)), Filter::zcdp(Rho(50.0))}) {
      for (const auto& parameters :
           {kByA, kByAD, Parameters{{"fine", "d"}, {"totals", "independent"}, {"trust", "full"}},
            Parameters{{"fine", "a,d"}, {"shares", "1,1,1,1"}, {"small-groups", "keep"}},
            Parameters{{"fine", "a"}, {"coarse-marginals", "b+c"}, {"fine-marginals", "c,b"}}}) {
        const auto outcome =
            run_mechanism("grouped", parameters, table, problem, {.filter = filter, .unit = unit});
        expect_sound(outcome, problem);
        EXPECT_TRUE(outcome.filter.remaining().is_zero());
      }
    }
  }
}

TEST(Grouped, FindsEachGroupsOwnMarginalsWithoutNoise) {
  const Table table = skewed_rows(4000, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(2000, 0.2, 2));
  const auto outcome = run_mechanism("grouped", kByA, table, problem,
                                     {.filter = Filter::zcdp(Rho(1000.0)), .noise = false});
  const CountedTable truth(table);
  for (const Clique& clique : {Clique{0}, Clique{0, 1}, Clique{0, 2}, Clique{0, 3}}) {
    const auto real = truth.project(clique).values;
    const auto made = outcome.release.model->project(clique).values;
    for (std::size_t j = 0; j < real.size(); ++j) EXPECT_NEAR(made[j], real[j], 8.0);
  }
}

TEST(Grouped, ThePublicRowsKeysAreNotLookedAt) {
  const Table table = skewed_rows(500, 0.0, 1);
  const Table known = skewed_rows(300, 0.2, 2);
  Table without = known;
  for (std::size_t r = 0; r < known.rows(); ++r) without.column(0).set(r, 0);
  const auto made = [&](const Table& rows) {
    const auto outcome = run_mechanism("grouped", kByA, table, skewed_problem(rows));
    Rng rng(3);
    return outcome.release.model->sample(400, rng);
  };
  EXPECT_EQ(made(known), made(without));
}

TEST(Grouped, AnswersFallIntoGroupsWhateverTheOrderOfColumns) {
  const Problem problem = skewed_problem(skewed_rows(10, 0.0, 2));
  const Table table = skewed_rows(300, 0.0, 1);
  const GroupKeys keys = group_keys(problem, "b,d", "d");
  EXPECT_EQ(keys.groups(), 6U);
  EXPECT_EQ(keys.coarse_groups, 2U);
  const auto query = keys.with_fine({0, 1});  // a and c, beside b and d
  Measurement y;
  y.query = query;
  y.values = CountedTable(table).project(query.clique).values;
  const auto found = by_group(keys, y, 6);
  std::vector<double> slow(found.size(), 0.0);
  for (std::size_t r = 0; r < table.rows(); ++r) {
    const std::size_t group = table.column(1)[r] * 2 + table.column(3)[r];
    slow[group * 8 + table.column(0)[r] * 4 + table.column(2)[r]] += 1.0;
  }
  EXPECT_EQ(found, slow);
}

TEST(Grouped, AFileNamesCoarserValues) {
  TempDir dir;
  const std::string path = dir.write("coarse.csv", "0,north\n1,south\r\n2,north\n");
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  const GroupKeys keys = group_keys(problem, "c", path);
  EXPECT_EQ(keys.coarse_groups, 3U);  // code 3, which the file leaves out, is one of its own
  EXPECT_EQ(keys.coarse_of, (std::vector<std::size_t>{0, 1, 0, 2}));
  const auto outcome = run_mechanism("grouped", {{"fine", "c"}, {"coarse", path}},
                                     skewed_rows(500, 0.0, 1), problem);
  expect_sound(outcome, problem);
}

// The paper's case: areas and years make the groups, and a file has the state of each area.
TEST(Grouped, AFileNamesCoarserValuesOfOneOfSeveralKeyColumns) {
  TempDir dir;
  const std::string path = dir.write("coarse.csv", "0,north\n1,south\n2,north\n3,south\n");
  const Table table = skewed_rows(4000, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(500, 0.2, 2));
  const GroupKeys keys = group_keys(problem, "d,c", path);
  EXPECT_EQ(keys.coarse, Clique{2});
  EXPECT_EQ(keys.coarse_groups, 2U);
  EXPECT_EQ(keys.coarse_of, (std::vector<std::size_t>{0, 0, 1, 1, 0, 0, 1, 1}));  // c, then d
  const auto query = keys.with_coarse({0});
  Measurement y;
  y.query = query;
  y.values = query.map.apply(CountedTable(table).project(query.clique).values);
  const auto found = by_group(keys, y, 2);
  std::vector<double> slow(4, 0.0);
  for (std::size_t r = 0; r < table.rows(); ++r) {
    slow[(table.column(2)[r] % 2) * 2 + table.column(0)[r]] += 1.0;
  }
  EXPECT_EQ(found, slow);
  const Parameters parameters = {{"fine", "c,d"}, {"coarse", path}};
  const RunSettings quiet{.filter = Filter::zcdp(Rho(1000.0)), .noise = false};
  const auto outcome = run_mechanism("grouped", parameters, table, problem, quiet);
  EXPECT_EQ(groups_of(outcome).shared().bases.size(), 2U);
  const CountedTable truth(table);
  for (const Clique& clique : {Clique{2, 3}, Clique{0, 2, 3}, Clique{1, 2, 3}}) {
    const auto real = truth.project(clique).values;
    const auto made = outcome.release.model->project(clique).values;
    for (std::size_t j = 0; j < real.size(); ++j) EXPECT_NEAR(made[j], real[j], 8.0);
  }
}

TEST(Grouped, GroupsWithoutRowsGetNone) {
  Table table = skewed_rows(3000, 0.0, 1);
  for (std::size_t r = 0; r < table.rows(); ++r) table.column(2).set(r, r % 2);
  const Problem problem = skewed_problem(skewed_rows(300, 0.0, 2));
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto outcome = run_mechanism("grouped", {{"fine", "c"}}, table, problem, {.seed = seed});
    EXPECT_EQ(groups_of(outcome).groups().size(), 2U);
    EXPECT_TRUE(mentions(outcome.release.warnings, "2 of 4 groups got no rows"));
  }
}

// Each group by itself could be noise, but not all of them together.
TEST(Grouped, ManySmallGroupsKeepTheirRows) {
  const Domain domain({{"area", 400, {}}, {"a", 3, {}}});
  const auto rows_of = [&](std::size_t each) {
    Table out(domain, 400 * each);
    for (std::size_t r = 0; r < out.rows(); ++r) {
      out.column(0).set(r, static_cast<Code>(r % 400));
      out.column(1).set(r, static_cast<Code>(r / 400 % 3));
    }
    return out;
  };
  const Problem problem{domain, Workload::all_k_way(domain, 1), {{{"public.csv", rows_of(1)}}}};
  for (const std::size_t each : {std::size_t{5}, std::size_t{30}}) {
    for (const auto& unit : {kReplaceOne, kAddRemove}) {
      const auto outcome = run_mechanism("grouped", {{"fine", "area"}}, rows_of(each), problem,
                                         {.filter = Filter::pure(Epsilon(1.0)), .unit = unit});
      const auto counts = outcome.release.model->project({0}).values;
      const auto n = static_cast<double>(each);
      double off = 0.0;
      for (const double count : counts) off += std::abs(count - n);
      EXPECT_LT(off, 0.5 * 400.0 * n);
      EXPECT_LT(std::ranges::max(counts), 5.0 * n);
      const double noise = unit.neighbors == Neighbors::AddRemove ? 300.0 : 0.0;
      EXPECT_NEAR(outcome.release.total, 400.0 * n, noise);
    }
  }
}

// The cells of a group's marginals add up to its rows, so a group that is none is told from noise
// by all of them together.
TEST(Grouped, GroupsOfNobodyAreSeldomMadeUp) {
  Table table = skewed_rows(3000, 0.0, 1);
  for (std::size_t r = 0; r < table.rows(); ++r) table.column(2).set(r, 0);
  const Problem problem = skewed_problem(skewed_rows(300, 0.0, 2));
  std::size_t made_up = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto outcome =
        run_mechanism("grouped", {{"fine", "c,d"}}, table, problem,
                      {.filter = Filter::pure(Epsilon(0.3)), .unit = kAddRemove, .seed = seed});
    made_up += groups_of(outcome).groups().size() > 2 ? 1 : 0;
  }
  EXPECT_LE(made_up, 5U);
}

TEST(Grouped, TotalsUseAllThatWasMeasuredOfAGroup) {
  const Problem problem = skewed_problem(skewed_rows(10, 0.0, 2));
  const GroupKeys keys = group_keys(problem, "a", "");
  Measurement total;
  total.query = keys.with_fine({});
  total.values = {100.0, 40.0};
  total.noise = NoiseKind::Laplace;
  total.sigma = Sigma(3.0);
  Measurement marginal;
  marginal.query = keys.with_fine({0});  // b, of three values
  marginal.values = {50.0, 30.0, 10.0, 20.0, 10.0, 40.0};
  marginal.noise = NoiseKind::Laplace;
  marginal.sigma = Sigma(3.0);
  const std::vector<Measurement> both = {total, marginal};
  const auto found = group_totals(keys, both, 2);
  EXPECT_NEAR(found.of[0].value, 0.75 * 100.0 + 0.25 * 90.0, 1e-9);
  EXPECT_NEAR(found.of[1].value, 0.75 * 40.0 + 0.25 * 70.0, 1e-9);
  EXPECT_NEAR(found.of[0].variance, 6.75, 1e-9);
  EXPECT_LT(found.least, group_totals(keys, std::span(both).first(1), 2).least);
  // Chernoff's bound for one Laplace variable of the scale 3 / sqrt(2), at 0.025 of each side.
  const double exact = 3.0 / std::sqrt(2.0) * std::log(20.0);
  EXPECT_GT(group_totals(keys, std::span(both).first(1), 2).least, exact);
  EXPECT_LT(group_totals(keys, std::span(both).first(1), 2).least, 2.5 * exact);
}

TEST(Grouped, ANullOrUnknownKeyIsAGroupOfItsOwn) {
  // Code 3 of c stands for what the schema has no place for: no public row has it.
  Table table = skewed_rows(4000, 0.0, 1);
  for (std::size_t r = 0; r < 1000; ++r) table.column(2).set(r, 3);
  Table known = skewed_rows(300, 0.2, 2);
  for (std::size_t r = 0; r < known.rows(); ++r) known.column(2).set(r, r % 3);
  const auto outcome = run_mechanism("grouped", {{"fine", "c"}}, table, skewed_problem(known));
  ASSERT_EQ(groups_of(outcome).groups().size(), 4U);
  EXPECT_GT(groups_of(outcome).groups()[3].rows, 900.0);
}

TEST(Grouped, ValuesThatPublicDataLacksAreDefined) {
  Table known = skewed_rows(300, 0.2, 2);
  for (std::size_t r = 0; r < known.rows(); ++r) {
    known.column(1).set(r, 0);
    known.column(0).set(r, 0);
  }
  const Problem problem = skewed_problem(known);
  for (const auto& parameters : {kByAD, Parameters{{"fine", "a"}, {"trust", "full"}},
                                 Parameters{{"fine", "d"}, {"fine-marginals", "a+b,b,c"}}}) {
    const auto outcome = run_mechanism("grouped", parameters, skewed_rows(2000, 0.0, 1), problem);
    expect_sound(outcome, problem);
    EXPECT_TRUE(mentions(outcome.release.warnings, "never shows"));
  }
}

TEST(Grouped, ThePriceIsThatOfTheMarginalsForAnyUnit) {
  const Table table = skewed_rows(500, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  const auto sigma = [&](const PrivacyUnit& unit) {
    const auto outcome = run_mechanism("grouped", {{"fine", "a"}, {"fine-marginals", "b"}}, table,
                                       problem, {.filter = Filter::zcdp(Rho(0.5)), .unit = unit});
    return outcome.release.measurements.back().sigma.value();
  };
  // A replaced row leaves one cell and enters another, perhaps of another group: squared distance
  // 2, and with three rows a person 2 * 9. An added row enters one.
  const double added = sigma(kAddRemove);
  EXPECT_NEAR(sigma({.neighbors = Neighbors::AddRemove, .rows_per_person = 3}), 3.0 * added, 1e-6);
  const double replaced = sigma(kReplaceOne);
  EXPECT_NEAR(sigma(kThreeRows) / replaced, 3.0, 0.2);  // there n is measured, too
  EXPECT_NEAR(replaced / added, std::sqrt(2.0), 0.1);
}

TEST(Grouped, ThousandsOfGroupsAreFewQueriesAndShareTheirRows) {
  const Domain domain({{"area", 500, {}}, {"year", 4, {}}, {"a", 3, {}}, {"b", 4, {}}});
  const auto rows_of = [&](std::size_t count, std::uint64_t seed) {
    Table out(domain, count);
    Rng rng(seed);
    for (std::size_t r = 0; r < count; ++r) {
      const auto area = static_cast<Code>(rng.below(500));
      const Code a = rng.uniform() < 0.2 + 0.001 * area ? 0 : static_cast<Code>(1 + rng.below(2));
      out.column(0).set(r, area);
      out.column(1).set(r, static_cast<Code>(rng.below(4)));
      out.column(2).set(r, a);
      out.column(3).set(r, static_cast<Code>((a + rng.below(2)) % 4));
    }
    return out;
  };
  const Table table = rows_of(100'000, 1);
  const Problem problem{
      domain, Workload::all_k_way(domain, 2), {{{"public.csv", rows_of(300, 2)}}}};
  const auto outcome = run_mechanism("grouped", {{"fine", "area,year"}}, table, problem,
                                     {.filter = Filter::zcdp(rho_of(Epsilon(10.0), Delta(1e-9)))});
  expect_sound(outcome, problem);
  EXPECT_LE(outcome.release.measurements.size(), 6U);
  const GroupedModel& model = groups_of(outcome);
  EXPECT_GT(model.groups().size(), 1990U);
  EXPECT_EQ(model.shared().bases.size(), 1U);
  EXPECT_LE(model.groups().front().u.size(), 7U);
  EXPECT_LT(write_model(model)->size(), 400'000U);
  // Areas differ in the share of a's first value, as the private ones do.
  const auto counts = model.project({0, 2}).values;
  double low = 0.0;
  double high = 0.0;
  for (std::size_t area = 0; area < 100; ++area) {
    low += counts[area * 3] / 20'000.0;
    high += counts[(400 + area) * 3] / 20'000.0;
  }
  EXPECT_NEAR(low, 0.25, 0.03);
  EXPECT_NEAR(high, 0.65, 0.03);
}

TEST(Grouped, OddTablesGiveSoundReleases) {
  const Table one = skewed_rows(1, 0.0, 5);
  for (const auto& table : {skewed_rows(0, 0.0, 1), one, skewed_rows(40, 0.0, 1)}) {
    for (const auto& known : {one, skewed_rows(100, 0.0, 2)}) {
      const Problem problem = skewed_problem(known);
      for (const double rho : {1e-9, 0.01, 10.0}) {
        for (const auto& parameters : {kByA, kByAD}) {
          expect_sound(run_mechanism("grouped", parameters, table, problem,
                                     {.filter = Filter::zcdp(Rho(rho)), .unit = kAddRemove}),
                       problem);
        }
      }
    }
  }
}

TEST(Grouped, RefusesWhatCannotBe) {
  const Problem problem = skewed_problem(skewed_rows(100, 0.0, 2));
  const auto refused = [&](const Parameters& parameters, const std::string& part) {
    // In plans, so before anything is charged.
    const auto message =
        error_of<UsageError>([&] { plan_mechanism("grouped", parameters, problem); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refused({}, "param fine");
  refused({{"fine", "a,b,c,d"}}, "names every column");
  refused({{"fine", "nothing"}}, "nothing");
  refused({{"fine", "a"}, {"coarse", "aa"}}, "'aa' is neither a column nor a file");
  refused({{"fine", "a"}, {"shares", "1,2"}}, "needs four numbers");
  for (const char* shares : {"1,1,0,1", "0,1,1,1", "1,1,1,0", "1,1,1,1e-9"}) {
    refused({{"fine", "a"}, {"shares", shares}}, "needs four numbers above 0");
  }
  for (const char* option : {"fine-marginals", "coarse-marginals"}) {
    refused({{"fine", "a"}, {option, "b+nothing"}}, "is not a column");
    refused({{"fine", "a"}, {option, "b+a"}}, "which makes the groups");
    refused({{"fine", "a"}, {option, ""}}, "a name is missing");
    refused({{"fine", "a"}, {option, "b,"}}, "a name is missing");
  }
  refused({{"fine", "a"}, {"max-model-mb", "0.001"}}, "max-model-mb allows");
  const Problem empty = skewed_problem(skewed_rows(0, 0.0, 2));
  EXPECT_THROW(run_mechanism("grouped", kByA, skewed_rows(10, 0.0, 1), empty), UsageError);
}

// Before anything is charged, and in plans: a run that finds it later has spent for nothing.
TEST(Grouped, RefusesMarginalsThatCannotBeCounted) {
  const Domain domain({{"k", 100, {}}, {"a", 2000, {}}, {"b", 2000, {}}, {"c", 20, {}}});
  const Problem problem{domain, Workload::all_k_way(domain, 1), {{{"p.csv", Table(domain, 20)}}}};
  const auto plan = [&](const Parameters& more) {
    Parameters parameters = {{"fine", "k"}};
    parameters.insert(parameters.end(), more.begin(), more.end());
    return error_of<UsageError>([&] { plan_mechanism("grouped", parameters, problem); });
  };
  const std::string large = "1000000000";
  EXPECT_NE(plan({{"fine-marginals", "a+b+c"}, {"max-model-mb", large}}).find("4e9 is the limit"),
            std::string::npos);
  EXPECT_NE(plan({{"fine-marginals", "a+b"}, {"max-model-mb", "3000"}}).find("max-model-mb allows"),
            std::string::npos);
  EXPECT_NE(plan({{"coarse", "k"}, {"coarse-marginals", "a+b+c"}, {"max-model-mb", large}})
                .find("coarse-marginals would count"),
            std::string::npos);
}

TEST(Grouped, SaysWhatItWouldMeasure) {
  const Problem problem = skewed_problem(skewed_rows(100, 0.0, 2));
  EXPECT_TRUE(mentions(plan_mechanism("grouped", kByAD, problem),
                       "Measures 4 groups within 2 coarser ones"));
}

}  // namespace
}  // namespace tandem::test
