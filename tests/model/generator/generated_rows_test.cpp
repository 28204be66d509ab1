// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/generator/generated_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tandem/query/counting.h"

namespace tandem {
namespace {

Domain small_domain() { return Domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 4, {}}}); }

Table chained_table() {
  Table table(small_domain(), 600);
  for (std::size_t r = 0; r < 600; ++r) {
    const Code a = r % 3 == 0 ? 1 : 0;
    const Code b = r % 5 == 0 ? 2 : a;
    table.column(0).set(r, a);
    table.column(1).set(r, b);
    table.column(2).set(r, r % 7 == 0 ? 3 : b);
  }
  return table;
}

std::vector<MarginalTarget> targets() {
  const Table table = chained_table();
  std::vector<MarginalTarget> out;
  const std::vector<Clique> cliques = {{0, 1}, {1, 2}, {0, 2}};
  for (const auto& factor : count_marginals(table, cliques)) {
    out.push_back({.clique = factor.clique, .values = {}});
    for (const double count : factor.values) {
      out.back().values.push_back(static_cast<float>(count / 600.0));
    }
  }
  return out;
}

enum class Kind { Network, Rows };
constexpr Kind kKinds[] = {Kind::Network, Kind::Rows};

GeneratedRows start(Kind kind, int threads = 1, const std::vector<char>& impossible = {}) {
  constexpr std::size_t K = 200;
  Rng rng(1);
  auto generator =
      kind == Kind::Network
          ? network_generator({.rows = K, .inputs = 8, .hidden = {32, 32}, .codes = 9}, rng)
          : rows_generator(normal_numbers(K * 9, 1.0F, rng));
  return GeneratedRows(small_domain(), std::move(generator), K, impossible,
                       Threads{.count = threads});
}

TrainingSteps steps_of(Kind kind) {
  return {.most = 400, .rate = kind == Kind::Network ? 5e-3 : 0.1, .threshold = 0.0};
}

double largest_error(GeneratedRows& rows, std::span<const MarginalTarget> wanted) {
  double largest = 0.0;
  for (const auto& target : wanted) {
    const auto answer = rows.project_all(std::span(&target.clique, 1), 1.0).front();
    for (std::size_t c = 0; c < answer.values.size(); ++c) {
      largest = std::max(largest, std::abs(answer.values[c] - 1.0 * target.values[c]));
    }
  }
  return largest;
}

TEST(GeneratedRows, LearnMarginalsThatGoTogether) {
  const auto wanted = targets();
  for (const Kind kind : kKinds) {
    auto rows = start(kind);
    EXPECT_GT(largest_error(rows, wanted), 0.1);
    rows.fit(wanted, steps_of(kind));
    EXPECT_LT(largest_error(rows, wanted), 0.02);
    auto in_turns = start(kind);
    Rng rng(2);
    in_turns.fit_in_turns(wanted, 12, 40, {.most = 25, .rate = steps_of(kind).rate}, rng);
    EXPECT_LT(largest_error(in_turns, wanted), 0.04);
  }
}

TEST(GeneratedRows, StopWhenEveryErrorIsBelowTheThreshold) {
  const auto wanted = targets();
  auto rows = start(Kind::Rows);
  auto steps = steps_of(Kind::Rows);
  steps.threshold = 0.05;
  EXPECT_LT(rows.fit(wanted, steps), steps.most);
  EXPECT_LT(largest_error(rows, wanted), 0.05);
  EXPECT_GT(largest_error(rows, wanted), 0.01);
}

TEST(GeneratedRows, LeaveErrorsWithinTheToleranceAlone) {
  auto wanted = targets();
  auto rows = start(Kind::Rows);
  for (auto& target : wanted) target.tolerance = 0.5F;
  const double before = largest_error(rows, wanted);
  EXPECT_EQ(rows.fit(wanted, steps_of(Kind::Rows)), 0);
  EXPECT_EQ(largest_error(rows, wanted), before);
}

TEST(GeneratedRows, AreTheSameForAnyNumberOfThreads) {
  const auto wanted = targets();
  const std::vector<Clique> all = {{0, 1, 2}};
  for (const Kind kind : kKinds) {
    auto one = start(kind, 1);
    auto three = start(kind, 3);
    TrainingSteps steps = steps_of(kind);
    steps.most = 20;
    one.fit(wanted, steps);
    three.fit(wanted, steps);
    EXPECT_EQ(one.project_all(all, 1.0), three.project_all(all, 1.0));
  }
}

TEST(GeneratedRows, GiveImpossibleCodesNothing) {
  std::vector<char> impossible(9, 0);
  impossible[4] = 1;  // the last of b
  for (const Kind kind : kKinds) {
    auto rows = start(kind, 1, impossible);
    rows.fit(targets(), steps_of(kind));
    EXPECT_EQ(rows.model(600.0)->project({1}).values[2], 0.0);
  }
}

TEST(GeneratedRows, AverageTheirParameters) {
  auto rows = start(Kind::Rows);
  const std::vector<Clique> all = {{0, 1, 2}};
  const auto first = rows.project_all(all, 1.0);
  rows.average_in(0.25);
  rows.fit(targets(), steps_of(Kind::Rows));
  rows.average_in(0.0);  // counts nothing, so the average is where it began
  rows.take_average();
  EXPECT_EQ(rows.project_all(all, 1.0), first);
}

TEST(GeneratedRows, HandOverTheModelThatTheyAnswerAs) {
  auto rows = start(Kind::Network);
  rows.fit(targets(), steps_of(Kind::Network));
  const std::vector<Clique> all = {{0, 1, 2}, {1}};
  const auto answers = rows.project_all(all, 600.0);
  const auto model = rows.model(600.0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto exact = model->project(all[i]);
    for (std::size_t c = 0; c < exact.values.size(); ++c) {
      EXPECT_NEAR(answers[i].values[c], exact.values[c], 1e-3);
    }
  }
}

}  // namespace
}  // namespace tandem
