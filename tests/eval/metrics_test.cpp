// SPDX-License-Identifier: Apache-2.0
#include "tandem/eval/metrics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/random_tables.h"
#include "tandem/base/error.h"
#include "tandem/query/counting.h"

namespace tandem {
namespace {

using Rows = std::vector<std::vector<Code>>;

CountedTable counted(const Domain& domain, const Rows& rows) {
  return CountedTable(Table::from_rows(domain, rows));
}

const Domain& two_by_three() {
  static const Domain domain({{"a", 2, {}}, {"b", 3, {}}});
  return domain;
}

TEST(Metrics, OfConjunctionsAreThoseComputedByHand) {
  ConjunctionBuilder builder(two_by_three());
  const std::vector<Literal> first = {{0, 0, true}, {1, 2, false}};  // 3/4 against 1/2
  const std::vector<Literal> second = {{1, 0, true}};                // 1/2 against 1/2
  builder.add(first);
  builder.add(first);  // counts twice
  builder.add(second);
  const ConjunctionSet set = std::move(builder).finish();
  const auto real = Table::from_rows(two_by_three(), Rows{{0, 0}, {0, 0}, {0, 1}, {1, 2}});
  const auto synthetic = Table::from_rows(two_by_three(), Rows{{0, 0}, {1, 1}});
  const auto result =
      evaluate_conjunctions(set, conjunction_shares(set, real), conjunction_shares(set, synthetic));
  EXPECT_EQ(result.marginals, 0U);
  EXPECT_EQ(result.queries, 3U);
  EXPECT_DOUBLE_EQ(result.max_error, 0.25);
  EXPECT_DOUBLE_EQ(result.mean_error, 0.5 / 3.0);
  EXPECT_DOUBLE_EQ(result.avg_workload_error, result.mean_error);
  EXPECT_DOUBLE_EQ(result.rmse, std::sqrt(0.125 / 3.0));
  EXPECT_THROW(conjunction_shares(set, Table(two_by_three(), 0)), UsageError);
}

TEST(Metrics, AreThoseComputedByHand) {
  // a: 3/4, 1/4 against 1/2, 1/2. b: 1/2, 1/4, 1/4 against 1/2, 1/2, 0.
  const auto real = counted(two_by_three(), {{0, 0}, {0, 0}, {0, 1}, {1, 2}});
  const auto synthetic = counted(two_by_three(), {{0, 0}, {1, 1}});
  const auto result = evaluate(Workload::all_k_way(two_by_three(), 1), real, synthetic);
  EXPECT_EQ(result.workload, "all-1way");
  EXPECT_EQ(result.marginals, 2U);
  EXPECT_EQ(result.queries, 5U);
  EXPECT_DOUBLE_EQ(result.avg_workload_error, 0.5);            // (1/2 + 1/2) / 2
  EXPECT_DOUBLE_EQ(result.max_error, 0.25);                    // of 1/4, 1/4, 0, 1/4, 1/4
  EXPECT_DOUBLE_EQ(result.mean_error, 0.2);                    // 1 / 5
  EXPECT_DOUBLE_EQ(result.rmse, std::sqrt(4.0 / 16.0 / 5.0));  // of the same five
  // The pair: 1/2, 1/4, 0, 0, 0, 1/4 against 1/2, 0, 0, 0, 1/2, 0: L1 1; (2 - 1) * 500.
  EXPECT_DOUBLE_EQ(result.k_marginal_score.value(), 500.0);
}

TEST(Metrics, OfEqualProportionsAreZero) {
  const auto real = counted(two_by_three(), {{0, 0}, {1, 2}});
  const auto synthetic = counted(two_by_three(), {{1, 2}, {0, 0}, {0, 0}, {1, 2}});
  const auto result = evaluate(Workload::all_k_way(two_by_three(), 2), real, synthetic);
  EXPECT_EQ(result.avg_workload_error, 0.0);
  EXPECT_EQ(result.max_error, 0.0);
  EXPECT_EQ(result.mean_error, 0.0);
  EXPECT_EQ(result.rmse, 0.0);
  EXPECT_EQ(result.k_marginal_score, 1000.0);
}

TEST(Metrics, OfTablesWithNothingInCommonAreTheLargest) {
  const auto real = counted(two_by_three(), {{0, 0}});
  const auto synthetic = counted(two_by_three(), {{1, 1}});
  const auto result = evaluate(Workload::all_k_way(two_by_three(), 2), real, synthetic);
  EXPECT_EQ(result.avg_workload_error, 2.0);
  EXPECT_EQ(result.max_error, 1.0);
  EXPECT_EQ(result.k_marginal_score, 0.0);
}

TEST(Metrics, WeightsBearOnTheWorkloadErrorAlone) {
  const auto real = counted(two_by_three(), {{0, 0}, {0, 1}});
  const auto synthetic = counted(two_by_three(), {{1, 0}, {1, 1}});
  // L1 of a is 2, of b 0: weighted (3 * 2 + 1 * 0) / 4.
  const Workload workload(two_by_three(), "w", std::vector<WeightedClique>{{{0}, 3.0}, {{1}, 1.0}});
  const auto result = evaluate(workload, real, synthetic);
  EXPECT_DOUBLE_EQ(result.avg_workload_error, 1.5);
  EXPECT_DOUBLE_EQ(result.max_error, 1.0);
  EXPECT_DOUBLE_EQ(result.mean_error, 2.0 / 5.0);
  EXPECT_DOUBLE_EQ(result.rmse, std::sqrt(2.0 / 5.0));
}

TEST(Metrics, OfOneColumnScoreThatColumn) {
  const Domain domain({{"a", 2, {}}});
  const auto result =
      evaluate(Workload::all_k_way(domain, 1), counted(domain, {{0}, {1}}), counted(domain, {{0}}));
  EXPECT_DOUBLE_EQ(result.avg_workload_error, 1.0);
  EXPECT_DOUBLE_EQ(result.k_marginal_score.value(), 500.0);
}

TEST(Metrics, RefuseTablesWithoutRows) {
  const auto some = counted(two_by_three(), {{0, 0}});
  const auto none = counted(two_by_three(), {});
  const auto workload = Workload::all_k_way(two_by_three(), 2);
  EXPECT_EQ(test::error_of<UsageError>([&] { evaluate(workload, some, none); }),
            "A table without rows can't be compared; give one with at least one row.");
  EXPECT_THROW(evaluate(workload, none, some), UsageError);
}

TEST(Metrics, CompareAMarginalWithTheSameMarginal) {
  EXPECT_THROW(distance({{0}, {1, 2}}, {{1}, {1, 2}}), InternalError);
  EXPECT_THROW(distance({{0}, {1, 2}}, {{0}, {1, 2, 3}}), InternalError);
  EXPECT_THROW(EvaluationSum().result(), InternalError);
}

RC_GTEST_PROP(Metrics, StayWithinTheirBounds, ()) {
  const auto domain = test::any_domain({1, 2, 3, 10}, 4);
  const auto a = CountedTable(test::any_table(domain, *rc::gen::inRange<std::size_t>(1, 40)));
  const auto b = CountedTable(test::any_table(domain, *rc::gen::inRange<std::size_t>(1, 40)));
  const auto k = *rc::gen::inRange<std::size_t>(1, domain.size() + 1);
  const auto workload = Workload::all_k_way(domain, k);
  const auto there = evaluate(workload, a, b);
  const auto back = evaluate(workload, b, a);
  RC_ASSERT(there.avg_workload_error == back.avg_workload_error);
  RC_ASSERT(there.max_error == back.max_error);
  RC_ASSERT(there.avg_workload_error >= 0.0);
  RC_ASSERT(there.avg_workload_error <= 2.0 + 1e-12);
  RC_ASSERT(there.max_error <= 1.0);
  RC_ASSERT(there.mean_error <= there.rmse + 1e-12);
  RC_ASSERT(there.rmse <= there.max_error + 1e-12);
  RC_ASSERT(there.k_marginal_score >= -1e-9);
  RC_ASSERT(there.k_marginal_score <= 1000.0);
}

TEST(Batches, CoverEverythingOnceInOrder) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 50, {}}, {"d", 5, {}}});
  for (const std::size_t k : {1U, 2U, 3U}) {
    const auto workload = Workload::all_k_way(domain, k);
    for (const std::size_t most : {0U, 1U, 6U, 100U, 400U, 1'000'000U}) {
      std::size_t next = 0;
      for (const auto batch : batches(workload, most)) {
        ASSERT_FALSE(batch.empty());
        EXPECT_EQ(batch.data(), workload.cliques().data() + next);
        next += batch.size();
        std::size_t cells = 0;
        for (const auto& [clique, weight] : batch) cells += domain.cells(clique);
        EXPECT_TRUE(cells <= most || batch.size() == 1) << cells;
      }
      EXPECT_EQ(next, workload.size());
    }
  }
}

TEST(Batches, AreAsLargeAsTheyMayBe) {
  const Domain domain({{"a", 2, {}}, {"b", 2, {}}, {"c", 2, {}}, {"d", 2, {}}});
  EXPECT_EQ(batches(Workload::all_k_way(domain, 1), 4).size(), 2U);
  EXPECT_EQ(batches(Workload::all_k_way(domain, 1), 8).size(), 1U);
  EXPECT_TRUE(batches(Workload(), 8).empty());
}

}  // namespace
}  // namespace tandem
