// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every DataSource promises, as one suite. A new kind of source passes it by
//
//   INSTANTIATE_TEST_SUITE_P(Memory, SourceContract,
//                            testing::Values(SourceMaker([](const Table& table) { ... })));

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/random_tables.h"
#include "tandem/base/rng.h"
#include "tandem/source/data_source.h"

namespace tandem::test {

// Puts a table where the source keeps its rows, and opens the source.
using SourceMaker = std::function<std::unique_ptr<DataSource>(const Table&)>;

class SourceContract : public testing::TestWithParam<SourceMaker> {
 protected:
  static Domain domain() {
    return Domain({{"age", 300, {}},
                   {"sex", 2, {"F", "M"}},
                   {"one value", 1, {}},
                   {"quote\"d, \"", 3, {"a,b", "c\"d", ""}},
                   {"region", 70000, {}}});
  }

  static Table table(std::size_t rows) {
    Table out(domain(), rows);
    Rng rng(rows);
    for (AttributeId id = 0; id < out.domain().size(); ++id) {
      for (std::size_t r = 0; r < rows; ++r) {
        out.column(id).set(r, static_cast<Code>(rng.below(out.domain()[id].size)));
      }
    }
    return out;
  }

  // Singles, pairs and a triple, one of them twice, and the total.
  static std::vector<Clique> cliques() {
    return {{0}, {1}, {2}, {3}, {4}, {0, 1}, {1, 3}, {0, 1, 3}, {}, {1, 4}, {1, 3}, {2, 3}};
  }

  static Factor count_one(const DataSource& source, const Clique& clique) {
    auto factors = source.count(std::span(&clique, 1));
    EXPECT_EQ(factors.size(), 1U);
    return factors.front();
  }

  // The source gives just the counts of this table.
  static void expect_counts_of(const DataSource& source, const Table& table) {
    const auto all = cliques();
    const auto together = source.count(all);
    ASSERT_EQ(together.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(together[i], brute_force(table, all[i])) << table.domain().describe(all[i]);
    }
  }

  static Table rows_where(const Table& table, AttributeId attribute, Code code) {
    std::vector<std::size_t> kept;
    for (std::size_t r = 0; r < table.rows(); ++r) {
      if (table.column(attribute)[r] == code) kept.push_back(r);
    }
    return table.select(kept);
  }

  static std::unique_ptr<DataSource> open(const Table& table) { return GetParam()(table); }
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SourceContract);

TEST_P(SourceContract, KnowsItsDomain) { EXPECT_EQ(open(table(3))->domain(), domain()); }

TEST_P(SourceContract, CountsAsBruteForceDoes) {
  for (const std::size_t rows : {1U, 2U, 1000U}) {
    const Table rows_of = table(rows);
    expect_counts_of(*open(rows_of), rows_of);
  }
}

TEST_P(SourceContract, ABatchGivesWhatSinglesGive) {
  const auto source = open(table(500));
  const auto all = cliques();
  const auto together = source->count(all);
  ASSERT_EQ(together.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(together[i], count_one(*source, all[i])) << i;
  }
}

TEST_P(SourceContract, NothingAskedGivesNothing) { EXPECT_TRUE(open(table(5))->count({}).empty()); }

TEST_P(SourceContract, TheEmptyCliqueIsTheNumberOfRows) {
  EXPECT_EQ(count_one(*open(table(123)), {}).values, (std::vector<double>{123.0}));
}

TEST_P(SourceContract, MayHoldNoRows) {
  const Table none = table(0);
  expect_counts_of(*open(none), none);
}

TEST_P(SourceContract, WhereKeepsTheRowsWithThatCode) {
  const Table all = table(400);
  const auto source = open(all);
  for (const Code sex : {0U, 1U}) {
    const auto part = source->where(1, sex);
    EXPECT_EQ(part->domain(), domain());
    expect_counts_of(*part, rows_where(all, 1, sex));
  }
  expect_counts_of(*source->where(2, 0), all);
  expect_counts_of(*source, all);  // the source itself is as before
}

TEST_P(SourceContract, WhereMayBeAskedTwice) {
  const Table all = table(400);
  const auto source = open(all);
  expect_counts_of(*source->where(1, 1)->where(3, 2), rows_where(rows_where(all, 1, 1), 3, 2));
  expect_counts_of(*source->where(1, 1)->where(1, 1), rows_where(all, 1, 1));
}

TEST_P(SourceContract, WhereMayLeaveNoRows) {
  const Table all = table(400);
  expect_counts_of(*open(all)->where(1, 0)->where(1, 1), table(0));
}

TEST_P(SourceContract, PartsAddUpToTheWhole) {
  const Table all = table(300);
  const auto source = open(all);
  Factor sum = count_one(*source->where(3, 0), {0, 1});
  for (const Code code : {1U, 2U}) {
    const Factor part = count_one(*source->where(3, code), {0, 1});
    for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += part.values[i];
  }
  EXPECT_EQ(sum, count_one(*source, {0, 1}));
}

TEST_P(SourceContract, APartOutlivesItsSource) {
  const Table all = table(50);
  auto source = open(all);
  const auto part = source->where(1, 0);
  source.reset();
  expect_counts_of(*part, rows_where(all, 1, 0));
}

}  // namespace tandem::test
