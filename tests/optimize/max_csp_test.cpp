// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/max_csp.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "support/random_tables.h"
#include "tandem/base/error.h"
#include "tandem/base/rng.h"

namespace tandem {
namespace {

std::vector<DrawnConjunction> some_draws(const ConjunctionSet& set, std::size_t count,
                                         std::uint64_t seed) {
  Rng rng(seed);
  std::vector<DrawnConjunction> out(count);
  for (auto& draw : out) {
    draw = {static_cast<std::uint32_t>(rng.below(set.size())), rng.below(2) == 1};
  }
  return out;
}

// Draws that the truths of indicators satisfy, one by one.
std::int64_t satisfied_by(const ConjunctionSet& set, std::span<const DrawnConjunction> drawn,
                          std::span<const std::uint8_t> holds) {
  std::int64_t sum = 0;
  for (const auto& [conjunction, negated] : drawn) {
    bool all = true;
    for (const auto literal : set.literals(conjunction)) {
      all = all && (holds[literal >> 1] != 0) == ((literal & 1U) == 0);
    }
    sum += all != negated ? 1 : 0;
  }
  return sum;
}

// The best of all records, by trying each.
std::int64_t best_record(const ConjunctionSet& set, std::span<const DrawnConjunction> drawn) {
  const Domain& domain = set.domain();
  std::int64_t best = 0;
  std::vector<Code> record(domain.size(), 0);
  for (std::size_t cell = 0; cell < domain.cells(domain.all()); ++cell) {
    std::size_t rest = cell;
    for (AttributeId id = 0; id < domain.size(); ++id) {
      record[id] = static_cast<Code>(rest % domain[id].size);
      rest /= domain[id].size;
    }
    best = std::max(best, satisfied_by(set, drawn, indicators_of_record(set, record)));
  }
  return best;
}

std::int64_t best_bits(const ConjunctionSet& set, std::span<const DrawnConjunction> drawn) {
  const std::size_t bits = set.indicators().size();
  std::int64_t best = 0;
  for (std::size_t mask = 0; mask < std::size_t{1} << bits; ++mask) {
    std::vector<std::uint8_t> holds(bits);
    for (std::size_t i = 0; i < bits; ++i) {
      const auto& [attribute, code] = set.indicators()[i];
      holds[i] = (mask >> i & 1U) != 0 || set.domain()[attribute].size == 1 ? 1 : 0;
    }
    best = std::max(best, satisfied_by(set, drawn, holds));
  }
  return best;
}

TEST(MaxCsp, AConjunctionAndItsNegationCancelOut) {
  const Domain domain({{"a", 3, {}}, {"b", 2, {}}});
  const auto set = random_conjunctions(domain, 2, 20, 1, ConjunctionFamily::Positive);
  const std::vector<DrawnConjunction> drawn = {{0, false}, {0, true}, {1, true}, {1, true}};
  const MaxCsp problem(set, drawn);
  ASSERT_EQ(problem.clauses(), 1U);
  EXPECT_EQ(problem.clause(0).weight, -2);
  EXPECT_EQ(problem.drawn(), 4);
  EXPECT_EQ(problem.most(), 3);
}

RC_GTEST_PROP(MaxCsp, ColumnsFindTheBestRecordOfSmallProblems, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 4}, 6);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto set =
      random_conjunctions(domain, *rc::gen::inRange(1, 4), 60, seed, ConjunctionFamily::Signed);
  const auto drawn = some_draws(set, *rc::gen::inRange<std::size_t>(1, 60), seed);
  const std::vector<Code> zero(domain.size(), 0);
  const auto start = indicators_of_record(set, zero);
  const auto found = best_response(set, drawn, start, {.tabu = {.seed = seed}});
  // What is claimed is what the record does, and the record is one.
  std::vector<Code> record = zero;
  put_indicators(set, found, record);
  RC_ASSERT(indicators_of_record(set, record) == found.holds);
  RC_ASSERT(satisfied_by(set, drawn, found.holds) == found.satisfied);
  const auto best = best_record(set, drawn);
  RC_ASSERT(found.satisfied == best);
  const MaxCsp problem(set, drawn);
  RC_ASSERT(problem.most() >= best);
}

// As in the first round of DualQuery: whatever value a column had, it does not undo the answer.
RC_GTEST_PROP(MaxCsp, AnswersThatStartFromNoRecordBecomeOneThatKeepsThem, ()) {
  const Domain domain = test::any_domain({2, 3, 4}, 4);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto set = cell_conjunctions(domain, std::vector<Clique>{Clique{0}});
  const auto drawn = some_draws(set, *rc::gen::inRange<std::size_t>(1, 4), seed);
  const std::vector<std::uint8_t> nothing(set.indicators().size());
  const auto found = best_response(set, drawn, nothing, {.tabu = {.seed = seed}});
  std::vector<Code> record;
  for (const auto& attribute : domain.attributes()) {
    record.push_back(*rc::gen::inRange<Code>(0, attribute.size));
  }
  put_indicators(set, found, record);
  RC_ASSERT(satisfied_by(set, drawn, indicators_of_record(set, record)) == found.satisfied);
}

RC_GTEST_PROP(MaxCsp, ColumnsOfBitsFindTheBestBitsOfSmallProblems, ()) {
  const Domain domain = test::any_domain({1, 2, 3}, 5);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto set = over_indicators(
      random_conjunctions(domain, *rc::gen::inRange(1, 4), 50, seed, ConjunctionFamily::Signed));
  RC_PRE(set.indicators().size() <= 12U);
  const auto drawn = some_draws(set, *rc::gen::inRange<std::size_t>(1, 50), seed);
  const auto start = indicators_of_record(set, std::vector<Code>(set.domain().size(), 0));
  const auto found = best_response(set, drawn, start, {.tabu = {.seed = seed}});
  RC_ASSERT(satisfied_by(set, drawn, found.holds) == found.satisfied);
  RC_ASSERT(found.satisfied == best_bits(set, drawn));
}

TEST(MaxCsp, WhatWasNotDrawnStaysAsItWas) {
  const Domain domain({{"a", 2, {}}, {"b", 2, {}}, {"c", 2, {}}});
  ConjunctionBuilder builder(domain);
  builder.add(std::vector<Literal>{{0, 1}});
  builder.add(std::vector<Literal>{{1, 1}, {2, 1}});
  const auto set = std::move(builder).finish();
  const std::vector<DrawnConjunction> drawn = {{0, false}};
  const auto found = best_response(set, drawn, std::vector<std::uint8_t>{0, 1, 0}, {});
  EXPECT_EQ(found.holds, (std::vector<std::uint8_t>{1, 1, 0}));
  EXPECT_EQ(found.touched, (std::vector<std::uint32_t>{0}));
  EXPECT_TRUE(found.optimal);
}

TEST(MaxCsp, AColumnThatLeavesItsValueTakesOneThatWasNotDrawn) {
  const Domain domain({{"a", 3, {}}});
  ConjunctionBuilder builder(domain);
  for (Code code = 0; code < 3; ++code) builder.add(std::vector<Literal>{{0, code}});
  const auto set = std::move(builder).finish();
  const std::vector<DrawnConjunction> drawn = {{0, true}};
  const auto found = best_response(set, drawn, std::vector<std::uint8_t>{1, 0, 0}, {});
  EXPECT_EQ(found.holds, (std::vector<std::uint8_t>{0, 1, 0}));
  EXPECT_EQ(found.satisfied, 1);
}

TEST(MaxCsp, NothingDrawnIsSatisfied) {
  const Domain domain({{"a", 3, {}}});
  const auto set = random_conjunctions(domain, 1, 5, 1, ConjunctionFamily::Signed);
  const std::vector<std::uint8_t> start(set.indicators().size(), 0);
  const auto found = best_response(set, {}, start, {});
  EXPECT_EQ(found.satisfied, 0);
  EXPECT_TRUE(found.optimal);
}

TEST(MaxCsp, ASeedRepeats) {
  std::vector<Attribute> attributes;
  for (int i = 0; i < 60; ++i) attributes.push_back({"c" + std::to_string(i), 5, {}});
  const Domain domain(std::move(attributes));
  const auto set = random_conjunctions(domain, 3, 2000, 4, ConjunctionFamily::Signed);
  const auto drawn = some_draws(set, 700, 5);
  const std::vector<std::uint8_t> start(set.indicators().size(), 0);
  const auto once = best_response(set, drawn, start, {.tabu = {.seed = 8}});
  EXPECT_EQ(once.holds, best_response(set, drawn, start, {.tabu = {.seed = 8}}, {3}).holds);
  EXPECT_NE(once.holds, best_response(set, drawn, start, {.tabu = {.seed = 9}}).holds);
  EXPECT_EQ(satisfied_by(set, drawn, once.holds), once.satisfied);
}

TEST(MaxCsp, StopsWhenItIsToldTo) {
  const Domain domain({{"a", 3, {}}, {"b", 4, {}}});
  const auto set = random_conjunctions(domain, 2, 50, 1, ConjunctionFamily::Signed);
  const Cancel stop = Cancel::token();
  stop.request();
  const std::vector<std::uint8_t> start(set.indicators().size(), 0);
  EXPECT_THROW(best_response(set, some_draws(set, 50, 1), start, {}, {1, stop}), Cancelled);
}

RC_GTEST_PROP(ExactSolver, ProvesTheOptimumOfSmallProblems, ()) {
  if (!has_exact_solver()) return;
  const Domain domain = test::any_domain({2, 3, 4}, 5);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto set = random_conjunctions(domain, 2, 40, seed, ConjunctionFamily::Signed);
  const auto drawn = some_draws(set, 30, seed);
  const auto start = indicators_of_record(set, std::vector<Code>(domain.size(), 0));
  const auto found = best_response(set, drawn, start, {.solver = CspSolver::Exact});
  RC_ASSERT(found.optimal);
  RC_ASSERT(found.satisfied == best_record(set, drawn));
  RC_ASSERT(satisfied_by(set, drawn, found.holds) == found.satisfied);
}

TEST(ExactSolver, CertifyingChangesNoRecord) {
  const Domain domain({{"a", 3, {}}, {"b", 4, {}}, {"c", 5, {}}, {"d", 2, {}}});
  const auto set = random_conjunctions(domain, 3, 50, 1, ConjunctionFamily::Signed);
  const auto drawn = some_draws(set, 50, 1);
  const std::vector<std::uint8_t> start(set.indicators().size(), 0);
  const auto alone = best_response(set, drawn, start, {.solver = CspSolver::Local});
  const auto certified = best_response(set, drawn, start, {.solver = CspSolver::Auto});
  EXPECT_EQ(alone.holds, certified.holds);
  EXPECT_EQ(certified.satisfied, best_record(set, drawn));
  EXPECT_TRUE(certified.optimal || !has_exact_solver());
}

// A program in the place of CBC.
class FakeSolver {
 public:
  explicit FakeSolver(const std::string& script) {
    std::ofstream(path()) << "#!/bin/sh\nfor word; do solution=$word; done\n" << script << "\n";
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  std::string path() const { return (dir_.path() / "cbc").string(); }

 private:
  test::TempDir dir_;
};

TEST(ExactSolver, HarmsNothingWhateverItDoes) {
  const Domain domain({{"a", 3, {}}, {"b", 4, {}}, {"c", 5, {}}, {"d", 2, {}}});
  const auto set = random_conjunctions(domain, 3, 50, 1, ConjunctionFamily::Signed);
  const auto drawn = some_draws(set, 50, 1);
  const std::vector<std::uint8_t> start(set.indicators().size(), 0);
  const auto alone = best_response(set, drawn, start, {});
  ASSERT_FALSE(alone.optimal);
  for (const std::string script :
       {"kill -SEGV $$", "exit 1", "exit 0", "sleep 60", "echo nonsense > $solution",
        "echo 'Optimal - objective value -1e9' > $solution",
        "printf 'Optimal - objective value 0\\n 0 b0 1 0\\n 1 b1' > $solution",
        "printf 'Optimal - objective value 0\\n 0 b99999 1 0\\n' > $solution",
        "printf 'Optimal - objective value 0\\n 0 b0 1 0\\n 1 b1 1 0\\n' > $solution",
        "echo 'Infeasible - objective value 0' > $solution",
        "head -c 1000000 /dev/zero > $solution"}) {
    const FakeSolver solver(script);
    for (const auto kind : {CspSolver::Auto, CspSolver::Exact}) {
      const auto found = best_response(
          set, drawn, start,
          {.solver = kind, .exact = {.seconds = 0.05, .grace = 0.0, .program = solver.path()}});
      EXPECT_EQ(found.holds, alone.holds) << script;
      EXPECT_FALSE(found.optimal) << script;
      EXPECT_TRUE(found.failed) << script;
    }
  }
}

TEST(ExactSolver, WithoutOneItSaysSo) {
  const Domain domain({{"a", 3, {}}, {"b", 4, {}}});
  const auto set = random_conjunctions(domain, 2, 50, 1, ConjunctionFamily::Signed);
  const std::vector<std::uint8_t> start(set.indicators().size(), 0);
  const auto drawn = some_draws(set, 50, 1);
  EXPECT_FALSE(has_exact_solver({.program = "no-such-cbc"}));
  const MaxCsp problem(set, drawn);
  const auto some = search_tabu(problem, std::vector<std::uint8_t>(problem.bits(), 0), {});
  const auto text = test::error_of<UsageError>(
      [&] { solve_exactly(problem, some.bits, {.program = "no-such-cbc"}); });
  EXPECT_TRUE(test::contains(text, "There is no program 'no-such-cbc' on the PATH"));
  EXPECT_NO_THROW(best_response(set, drawn, start,
                                {.solver = CspSolver::Auto, .exact = {.program = "no-such-cbc"}}));
}

}  // namespace
}  // namespace tandem
