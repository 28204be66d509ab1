// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "mechanism/run_mechanism.h"
#include "tandem/model/pgm/graphical_model.h"

namespace tandem {
namespace {

using test::run_mechanism;
using test::skewed_rows;

constexpr std::size_t kRows = 4000;

Table private_rows() { return skewed_rows(kRows, 0.0, 1); }

Problem problem(std::vector<PublicTable> tables) {
  const Domain domain = private_rows().domain();
  return {domain, Workload::all_k_way(domain, 3), {std::move(tables)}};
}

Problem with_public(const Table& table) { return problem({{"public.csv", table}}); }

test::RunSettings at(double epsilon, std::uint64_t seed = 3) {
  return {.filter = Filter::zcdp(rho_of(Epsilon(epsilon), Delta(1e-9))), .seed = seed};
}

double error_of(const Problem& asked, const Model& model) {
  return evaluate_workload(asked.workload, CountedTable(private_rows()), model).avg_workload_error;
}

// The mean over seeds: as many as leave a standard error of a few percent.
double mean_error(const Problem& asked, double epsilon, const Parameters& parameters = {}) {
  constexpr std::uint64_t kSeeds = 20;
  double sum = 0.0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    sum += error_of(asked,
                    *run_mechanism("tandem", parameters, private_rows(), asked, at(epsilon, seed))
                         .release.model);
  }
  return sum / static_cast<double>(kSeeds);
}

TEST(Tandem, SpendsTheBudgetToTheLastGrainAndItsChargesAddUp) {
  for (const auto& asked : {problem({}), with_public(skewed_rows(300, 0.1, 2))}) {
    for (const auto& unit : {test::kReplaceOne, test::kAddRemove, test::kThreeRows}) {
      auto settings = at(1.0);
      settings.unit = unit;
      const auto outcome = run_mechanism("tandem", {}, private_rows(), asked, settings);
      test::expect_sound(outcome, asked);
      EXPECT_TRUE(outcome.filter.remaining().is_zero());
      EXPECT_GT(outcome.release.measurements.size(), 4U);
    }
  }
}

TEST(Tandem, AFinalChoiceSpendsItsShareAndNoMore) {
  const Parameters chooses{{"choice-share", "0.05"}};
  for (const auto& unit : {test::kReplaceOne, test::kAddRemove}) {
    auto settings = at(1.0);
    settings.unit = unit;
    const auto asked = with_public(skewed_rows(300, 0.1, 2));
    const auto outcome = run_mechanism("tandem", chooses, private_rows(), asked, settings);
    test::expect_sound(outcome, asked);
    EXPECT_TRUE(outcome.filter.remaining().is_zero());
    EXPECT_NEAR(outcome.filter.charges().back().cost.lower_bound(),
                0.05 * outcome.filter.total().lower_bound(), 1e-9);
    // Without public data there is nothing to choose from.
    const auto alone = run_mechanism("tandem", chooses, private_rows(), problem({}), settings);
    const auto without = run_mechanism("tandem", {}, private_rows(), problem({}), settings);
    EXPECT_EQ(alone.filter.charges().size(), without.filter.charges().size());
  }
}

TEST(Tandem, AFinalChoiceLeavesPublicDataThatWasBelievedTooMuch) {
  Table wrong = skewed_rows(3000, 0.0, 2);  // there, d is a; in the private table it is not
  for (std::size_t r = 0; r < wrong.rows(); ++r) wrong.column(3).set(r, wrong.column(0)[r]);
  const auto asked = with_public(wrong);
  const Parameters gullible{{"trust", "1"}, {"public-rows", "0.9"}};
  auto careful = gullible;
  careful.emplace_back("choice-share", "0.1");
  const auto fooled = run_mechanism("tandem", gullible, private_rows(), asked, at(3.0));
  const auto saved = run_mechanism("tandem", careful, private_rows(), asked, at(3.0));
  EXPECT_LT(error_of(asked, *saved.release.model), 0.7 * error_of(asked, *fooled.release.model));
  EXPECT_TRUE(test::mentions(test::notes_of(saved.release),
                             "The final choice took the model without public data."));
}

TEST(Tandem, AfterAFinalChoiceOnlyWhatWasTakenIsDescribed) {
  Table wrong = skewed_rows(3000, 0.0, 2);
  for (std::size_t r = 0; r < wrong.rows(); ++r) wrong.column(3).set(r, wrong.column(0)[r]);
  const Parameters careful{{"trust", "1"}, {"public-rows", "0.9"}, {"choice-share", "0.1"}};
  const auto other =
      run_mechanism("tandem", careful, private_rows(), with_public(wrong), at(3.0)).release;
  EXPECT_EQ(test::notes_of(other),
            std::vector<std::string>{"The final choice took the model without public data."});
  EXPECT_TRUE(test::mentions(other.warnings, "public.csv differs from the private data"));
  // A choice that changes nothing is no news.
  int kept = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto release = run_mechanism("tandem", careful, private_rows(),
                                       with_public(skewed_rows(3000, 0.0, 2)), at(1.0, seed))
                             .release;
    const bool chose = test::mentions(test::notes_of(release), "The final choice took");
    EXPECT_EQ(
        test::mentions(test::notes_of(release), "Rows of the public data, reweighted, are 90%"),
        !chose);
    EXPECT_EQ(test::mentions(test::notes_of(release), "of what its 3,000 rows could be worth"),
              !chose);
    kept += chose ? 0 : 1;
  }
  EXPECT_GT(kept, 0);
}

TEST(Tandem, RecoversTheTruthWithoutNoise) {
  for (const auto& asked : {problem({}), with_public(skewed_rows(300, 0.2, 2))}) {
    auto settings = at(10.0);
    settings.noise = false;
    const auto outcome =
        run_mechanism("tandem", {{"public-rows", "0"}}, private_rows(), asked, settings);
    EXPECT_EQ(outcome.release.total, static_cast<double>(kRows));
    EXPECT_LT(error_of(asked, *outcome.release.model), 0.03);
  }
}

TEST(Tandem, GoldenRun) {
  const auto asked = with_public(skewed_rows(300, 0.1, 2));
  const auto once = run_mechanism("tandem", {}, private_rows(), asked, at(1.0, 7));
  const auto again = run_mechanism("tandem", {}, private_rows(), asked, at(1.0, 7));
  ASSERT_EQ(again.release.measurements.size(), once.release.measurements.size());
  for (std::size_t i = 0; i < once.release.measurements.size(); ++i) {
    EXPECT_EQ(again.release.measurements[i].query, once.release.measurements[i].query);
    EXPECT_EQ(again.release.measurements[i].values, once.release.measurements[i].values);
  }
  EXPECT_EQ(again.release.model->project({0, 1, 2}), once.release.model->project({0, 1, 2}));
  EXPECT_EQ(test::notes_of(again.release), test::notes_of(once.release));
}

TEST(Tandem, TakesMoreRoundsWhereNoiseIsLittle) {
  const auto asked = problem({});
  const auto noise = [&](double epsilon, const Parameters& parameters) {
    return run_mechanism("tandem", parameters, private_rows(), asked, at(epsilon))
        .release.measurements.front()
        .sigma;
  };
  EXPECT_EQ(noise(1.0, {}), noise(1.0, {{"rounds-per-column", "4"}}));
  EXPECT_EQ(noise(100.0, {}), noise(100.0, {{"rounds-per-column", "6"}}));
}

// The same rows, and before them a column that has one value in all of them.
Table after_a_constant(const Table& rows) {
  std::vector<Attribute> attributes{{"constant", 1, {}}};
  for (const auto& attribute : rows.domain().attributes()) attributes.push_back(attribute);
  Table out(Domain(std::move(attributes)), rows.rows());
  for (AttributeId id = 0; id < rows.domain().size(); ++id) {
    for (std::size_t r = 0; r < rows.rows(); ++r) out.column(id + 1).set(r, rows.column(id)[r]);
  }
  return out;
}

TEST(Tandem, AConstantFirstColumnHasNoSayInTheNoise) {
  const Table rows = after_a_constant(private_rows());
  const Problem asked{rows.domain(), Workload::all_k_way(rows.domain(), 3), {}};
  const auto noise = [](const test::Outcome& outcome) {
    return outcome.release.measurements.front().sigma;
  };
  EXPECT_EQ(noise(run_mechanism("tandem", {}, rows, asked, at(1.0))),
            noise(run_mechanism("tandem", {}, private_rows(), problem({}), at(1.0))));
  EXPECT_EQ(test::plan_mechanism("tandem", {}, asked, at(1.0)).front(),
            test::plan_mechanism("tandem", {}, problem({}), at(1.0)).front());
}

TEST(Tandem, BeatsThePublicRowsAndDoingWithoutThem) {
  const Table rows = skewed_rows(400, 0.05, 2);
  const auto asked = with_public(rows);
  const double alone =
      evaluate_workload(asked.workload, CountedTable(private_rows()), CountedTable(rows))
          .avg_workload_error;
  for (const double epsilon : {0.03, 0.3}) {
    const double together = mean_error(asked, epsilon);
    EXPECT_LT(together, 0.95 * alone) << epsilon;
    EXPECT_LT(together, mean_error(problem({}), epsilon)) << epsilon;
  }
}

// Public data that is worth nothing costs next to nothing.
Table independent_columns(Table table) {
  for (AttributeId id = 0; id < table.domain().size(); ++id) {
    const Column column = table.column(id);
    for (std::size_t r = 0; r < table.rows(); ++r) {
      table.column(id).set(r, column[(r + 37 * (id + 1)) % table.rows()]);
    }
  }
  return table;
}

Table permuted_codes(Table table) {
  for (AttributeId id = 0; id < table.domain().size(); ++id) {
    for (std::size_t r = 0; r < table.rows(); ++r) {
      table.column(id).set(r, table.domain()[id].size - 1 - table.column(id)[r]);
    }
  }
  return table;
}

TEST(Tandem, BadPublicDataDoesNotHurtAndIsNamed) {
  const double without = mean_error(problem({}), 1.0);
  const Table good = skewed_rows(400, 0.0, 2);
  struct Bad {
    Table table;
    double at_most;
    std::string warning;
  };
  const std::vector<std::size_t> few{1, 2, 3, 5, 7};
  // Columns that are right one by one are doubted last: that costs a table as small as this one
  // more than a tenth.
  for (const auto& bad : std::vector<Bad>{
           {permuted_codes(good), 1.1, "public.csv contradicts the private data"},
           {independent_columns(good), 1.3, "public.csv differs from the private data in"},
           {good.select(std::vector<std::size_t>(400, 7)), 1.1, "its 400 rows count as 1."},
           {good.select(few), 1.1, "public.csv has less than a hundredth of the private rows"}}) {
    const auto asked = with_public(bad.table);
    EXPECT_LT(mean_error(asked, 1.0), bad.at_most * without) << bad.warning;
    const auto outcome = run_mechanism("tandem", {}, private_rows(), asked, at(1.0));
    EXPECT_TRUE(test::mentions(outcome.release.warnings, bad.warning)) << bad.warning;
    EXPECT_TRUE(
        test::mentions(test::notes_of(outcome.release), "overruled public data public.csv"));
  }
}

// All that public data has of the third column is a code that private rows hardly have.
Table without_the_third_column(Table table) {
  for (std::size_t r = 0; r < table.rows(); ++r) table.column(2).set(r, 3);
  return table;
}

TEST(Tandem, PublicDataStillHelpsWhereOneColumnIsForeign) {
  const auto asked = with_public(without_the_third_column(skewed_rows(400, 0.0, 2)));
  for (const double epsilon : {0.1, 0.3}) {
    EXPECT_LT(mean_error(asked, epsilon), 0.97 * mean_error(problem({}), epsilon)) << epsilon;
  }
  const std::string warning = "public.csv has hardly any rows like the private ones in 'c'";
  const auto outcome = run_mechanism("tandem", {}, private_rows(), asked, at(1.0));
  EXPECT_TRUE(test::mentions(outcome.release.warnings, warning));
  EXPECT_FALSE(test::mentions(outcome.release.warnings, "contradicts"));
  const auto unjudged =
      run_mechanism("tandem", {{"judge-columns", "false"}}, private_rows(), asked, at(1.0));
  EXPECT_FALSE(test::mentions(unjudged.release.warnings, warning));
}

// At a small budget noise hides it; what another look costs is in the budget.
TEST(Tandem, LooksAgainAtAColumnThatMayBeForeign) {
  const auto asked = with_public(without_the_third_column(skewed_rows(400, 0.0, 2)));
  const auto looked_again = [&](const Parameters& parameters) {
    std::size_t times = 0;
    for (const auto& unit : {test::kReplaceOne, test::kAddRemove}) {
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        auto settings = at(0.03, seed);
        settings.unit = unit;
        const auto outcome = run_mechanism("tandem", parameters, private_rows(), asked, settings);
        test::expect_sound(outcome, asked);
        EXPECT_TRUE(outcome.filter.remaining().is_zero());
        // After one of each column.
        times += outcome.release.measurements[4].query.clique.size() == 1 ? 1 : 0;
      }
    }
    return times;
  };
  EXPECT_GT(looked_again({}), looked_again({{"judge-columns", "false"}}));
}

// Copies are no evidence: a table of twenty of each row is the table.
TEST(Tandem, RowsThatOccurTwentyTimesCountOnce) {
  const Table good = skewed_rows(400, 0.0, 2);
  std::vector<std::size_t> copies;
  for (std::size_t r = 0; r < 20 * good.rows(); ++r) copies.push_back(r / 20);
  const auto once = run_mechanism("tandem", {}, private_rows(), with_public(good), at(1.0));
  const auto often =
      run_mechanism("tandem", {}, private_rows(), with_public(good.select(copies)), at(1.0));
  EXPECT_TRUE(
      test::mentions(often.release.warnings, "occurs 20 times or a multiple of it; its 8,000"));
  ASSERT_EQ(once.release.measurements.size(), often.release.measurements.size());
  EXPECT_EQ(once.release.measurements.back().values, often.release.measurements.back().values);
}

TEST(Tandem, SaysWhatGoodPublicDataWasWorth) {
  const auto outcome =
      run_mechanism("tandem", {}, private_rows(), with_public(skewed_rows(400, 0.0, 2)), at(0.03));
  EXPECT_TRUE(
      test::mentions(test::notes_of(outcome.release), "of what its 400 rows could be worth"));
  EXPECT_TRUE(test::mentions(test::notes_of(outcome.release), "Only public data speaks of"));
  EXPECT_TRUE(
      test::mentions(test::notes_of(outcome.release), "Rows of the public data, reweighted, are"));
  EXPECT_FALSE(test::mentions(outcome.release.warnings, "contradicts"));
}

TEST(Tandem, TrustsEachSourceByItself) {
  const Table good = skewed_rows(400, 0.0, 2);
  const auto asked = problem({{"good.csv", good},
                              {"bad.csv", permuted_codes(skewed_rows(400, 0.0, 5))},
                              {"empty.csv", skewed_rows(0, 0.0, 1)}});
  const auto outcome = run_mechanism("tandem", {}, private_rows(), asked, at(1.0));
  test::expect_sound(outcome, asked);
  EXPECT_TRUE(test::mentions(outcome.release.warnings, "bad.csv contradicts"));
  EXPECT_FALSE(test::mentions(outcome.release.warnings, "good.csv contradicts"));
  EXPECT_LT(mean_error(asked, 0.1), 1.25 * mean_error(with_public(good), 0.1));
}

TEST(Tandem, KeepsItsModelWithinTheLimit) {
  // Four columns of eight codes that go together: any three take 4096 bytes.
  Table table(Domain({{"a", 8, {}}, {"b", 8, {}}, {"c", 8, {}}, {"d", 8, {}}}), kRows);
  Rng rng(1);
  for (std::size_t r = 0; r < kRows; ++r) {
    auto code = static_cast<Code>(rng.below(8));
    for (AttributeId id = 0; id < 4; ++id) {
      if (rng.below(3) == 0) code = static_cast<Code>(rng.below(8));
      table.column(id).set(r, code);
    }
  }
  const Problem asked{table.domain(),
                      Workload::all_k_way(table.domain(), 3),
                      {{{"public.csv", table.select(std::vector<std::size_t>{1, 2, 3, 4, 5})}}}};
  const auto outcome = run_mechanism("tandem", {{"max-model-mb", "0.002"}, {"public-rows", "0"}},
                                     table, asked, at(3.0));
  const auto* model = dynamic_cast<const GraphicalModel*>(outcome.release.model.get());
  ASSERT_NE(model, nullptr);
  EXPECT_LE(static_cast<double>(model_bytes(model->tree().cells)), 2000.0);
  EXPECT_GT(static_cast<double>(model_bytes(model->tree().cells)), 300.0);
}

TEST(Tandem, EveryIdeaCanBeTurnedOff) {
  const auto asked = with_public(skewed_rows(300, 0.1, 2));
  for (const auto& [name, value] : Parameters{{"use-public", "false"},
                                              {"trust", "0.5"},
                                              {"fillers", "false"},
                                              {"crowding", "0"},
                                              {"penalty", "noise"},
                                              {"public-rows", "0"}}) {
    const auto outcome = run_mechanism("tandem", {{name, value}}, private_rows(), asked, at(1.0));
    test::expect_sound(outcome, asked);
  }
}

TEST(Tandem, PlansWithoutData) {
  EXPECT_TRUE(test::mentions(test::plan_mechanism("tandem", {}, problem({})), "no public data"));
  EXPECT_TRUE(test::mentions(
      test::plan_mechanism("tandem", {}, with_public(skewed_rows(10, 0.0, 2))), "Starts from"));
}

}  // namespace
}  // namespace tandem
