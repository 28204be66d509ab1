// SPDX-License-Identifier: Apache-2.0
// What the mechanisms on graphical models have in common: rules of the schema, columns of one value
// or of too many, and saying beforehand what they will take.
#include "tandem/mechanism/rounds/model_start.h"

#include <algorithm>

#include "mechanism/run_mechanism.h"
#include "support/errors.h"
#include "tandem/model/mixture_model.h"
#include "tandem/model/pgm/graphical_model.h"

namespace tandem::test {
namespace {

const std::vector<std::string> kGraphical = {"private-pgm", "mst", "aim", "jam-pgm", "tandem"};

// Children are single: where age is 0, status is 0.
ImpossibleBox no_married_children() {
  return {{{.attribute = 0, .codes = {true, false, false}},
           {.attribute = 1, .codes = {false, true, true, true}}}};
}

Table people(std::size_t rows) {
  Table table(Domain({{"age", 3, {}}, {"status", 4, {}}, {"sex", 2, {}}}), rows);
  Rng rng(3);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto age = static_cast<Code>(rng.below(3));
    table.column(0).set(r, age);
    table.column(1).set(r, static_cast<Code>(age == 0 ? 0 : rng.below(4)));
    table.column(2).set(r, static_cast<Code>(rng.below(2)));
  }
  return table;
}

Problem problem_of(const Table& table, std::vector<ImpossibleBox> impossible) {
  return {table.domain(),
          Workload::all_k_way(table.domain(), 2),
          {{{"public.csv", table}}},
          std::move(impossible)};
}

TEST(Graphical, WhatTheRulesExcludeNeverOccurs) {
  const Table table = people(300);
  const Problem problem = problem_of(table, {no_married_children()});
  for (const auto& name : kGraphical) {
    for (const auto& unit : {kReplaceOne, kAddRemove}) {
      const auto outcome = run_mechanism(name, {}, table, problem, {.unit = unit, .seed = 5});
      expect_sound(outcome, problem);
      const auto found = outcome.release.model->project({0, 1}).values;
      for (std::size_t status = 1; status < 4; ++status) EXPECT_EQ(found[status], 0.0) << name;
      EXPECT_GT(found[0], 0.0) << name;
      Rng rng(1);
      const auto rows = CountedTable(outcome.release.model->sample(500, rng)).project({0, 1});
      for (std::size_t status = 1; status < 4; ++status) EXPECT_EQ(rows.values[status], 0.0);
    }
  }
}

TEST(Graphical, RulesMakeNoisyAnswersBetter) {
  const Table table = people(500);
  for (const std::string name : {"private-pgm", "mst", "aim", "tandem"}) {  // without public data
    double with = 0.0;
    double without = 0.0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const RunSettings settings{.filter = Filter::zcdp(Rho(0.002)), .seed = seed};
      const auto error = [&](const Problem& problem) {
        const auto outcome = run_mechanism(name, {}, table, problem, settings);
        return evaluate_workload(problem.workload, CountedTable(table), *outcome.release.model)
            .avg_workload_error;
      };
      with += error(problem_of(table, {no_married_children()}));
      without += error(problem_of(table, {}));
    }
    EXPECT_LT(with, without) << name;
  }
}

TEST(Graphical, ARuleTooLargeIsLeftToTheRowsAndSaidSo) {
  const Domain wide({{"a", 40, {}}, {"b", 40, {}}, {"c", 2, {}}});
  const ImpossibleBox box{{{.attribute = 0, .codes = std::vector<bool>(40, true)},
                           {.attribute = 1, .codes = std::vector<bool>(40, false)}}};
  Problem problem{wide, Workload::all_k_way(wide, 1), {}, {box}};
  problem.impossible[0].sides[1].codes[3] = true;
  const auto start = start_model(problem, 0.02);
  EXPECT_TRUE(start.zeros.empty());
  ASSERT_EQ(start.warnings.size(), 1U);
  EXPECT_TRUE(contains(start.warnings[0].text, "'a' and 'b'"));
  const auto room = start_model(problem, 0.1);
  ASSERT_EQ(room.zeros.size(), 1U);
  EXPECT_EQ(std::ranges::count(room.zeros[0].values, -HUGE_VAL), 40);
  EXPECT_LE(room.mb, 0.025);
}

TEST(Graphical, ModelsWithRulesStayWithinTheirLimit) {
  const Table table = people(2000);
  const Problem problem = problem_of(table, {no_married_children()});
  for (const auto& name : kGraphical) {
    const auto outcome = run_mechanism(name, {{"max-model-mb", "0.001"}}, table, problem);
    const Model* released = outcome.release.model.get();
    if (const auto* mixture = dynamic_cast<const MixtureModel*>(released)) {
      released = mixture->parts().front().model.get();  // beside public rows
    }
    const auto* model = dynamic_cast<const GraphicalModel*>(released);
    ASSERT_NE(model, nullptr) << name;
    EXPECT_LE(static_cast<double>(model_bytes(model->tree().cells)), 1000.0) << name;
  }
}

TEST(Graphical, AColumnOfOneValueIsNoTrouble) {
  Table table(Domain({{"only", 1, {}}, {"b", 3, {}}, {"c", 2, {}}}), 90);
  for (std::size_t r = 0; r < 90; ++r) table.column(1).set(r, static_cast<Code>(r % 3));
  const Problem problem = problem_of(table, {});
  for (const auto& name : kGraphical) {
    for (const auto& unit : {kReplaceOne, kAddRemove}) {
      const auto outcome = run_mechanism(name, {}, table, problem, {.unit = unit});
      expect_sound(outcome, problem);
      EXPECT_TRUE(outcome.filter.remaining().is_zero()) << name;
      EXPECT_FALSE(plan_mechanism(name, {}, problem, {.unit = unit}).empty());
    }
  }
  const Domain nothing({{"a", 1, {}}, {"b", 1, {}}});
  const Problem empty{nothing, Workload::all_k_way(nothing, 1), {{{"p", Table(nothing, 3)}}}};
  for (const auto& name : kGraphical) {
    EXPECT_THROW(run_mechanism(name, {}, Table(nothing, 5), empty), UsageError) << name;
  }
}

TEST(Graphical, MarginalsThatNoModelHoldsAreNoCandidates) {
  const Domain wide({{"a", 2000, {}}, {"b", 2000, {}}, {"c", 2, {}}, {"d", 1, {}}});
  const Problem problem{wide, Workload::all_k_way(wide, 3), {}};
  const auto candidates = candidates_of(problem, 8.0);
  EXPECT_EQ(std::ranges::count(candidates, Clique{0, 1}), 0);  // 32 MB
  EXPECT_EQ(std::ranges::count(candidates, Clique{0, 1, 2}), 0);
  EXPECT_EQ(std::ranges::count(candidates, Clique{0, 2}), 1);
  EXPECT_EQ(std::ranges::count(candidates, Clique{3}), 0);
  EXPECT_EQ(std::ranges::count(candidates_of(problem, 40.0), Clique{0, 1}), 1);
  const Workload nothing(wide, "constant", {{Clique{3}, 1.0}});
  EXPECT_THROW(candidates_of({wide, nothing, {}}, 8.0), UsageError);
}

TEST(Graphical, NamesTheColumnsThatNoModelHasRoomFor) {
  const Domain huge({{"zip", 3'000'000, {}}, {"sex", 2, {}}, {"phone", 900'000, {}}});
  const Problem problem{huge, Workload::all_k_way(huge, 1), {}};
  for (const auto& name : kGraphical) {
    const auto message = error_of<UsageError>([&] { plan_mechanism(name, {}, problem); });
    EXPECT_TRUE(contains(message, "'zip' and 'phone'")) << message;
    EXPECT_TRUE(contains(message, "max-model-mb")) << message;
  }
}

TEST(Graphical, SaysBeforehandWhatItWillTake) {
  std::vector<Attribute> columns;
  for (int i = 0; i < 60; ++i) columns.push_back({"c" + std::to_string(i), 20, {}});
  const Domain wide(std::move(columns));
  const Problem problem{wide, Workload::all_k_way(wide, 3), {}};
  for (const auto& name : kGraphical) {
    EXPECT_GT(effort_of(name, problem).seconds, 0.0) << name;
  }
  // 34,220 triples of 8,000 cells: the gate keeps a gigabyte of counts, and a round has answers to
  // a part of them.
  EXPECT_GT(effort_of("aim", problem).bytes, 1e9);
  EXPECT_LT(effort_of("aim", problem).bytes, 2e9);
  const Table small = people(0);
  EXPECT_LT(effort_of("aim", problem_of(small, {})).bytes, 1e6);
}

}  // namespace
}  // namespace tandem::test
