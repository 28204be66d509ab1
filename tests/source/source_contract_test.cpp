// SPDX-License-Identifier: Apache-2.0
// The claims of the contract; each kind of source instantiates them in its own file.
#include "source/source_contract.h"

namespace tandem::test {

TEST_P(SourceContract, KnowsItsDomain) { EXPECT_EQ(open(table(3))->domain(), domain()); }

TEST_P(SourceContract, CountsAsBruteForceDoes) {
  for (const std::size_t rows : {1U, 2U, 1000U}) {
    const Table rows_of = table(rows);
    expect_counts_of(*open(rows_of), rows_of);
  }
}

TEST_P(SourceContract, CountsConjunctionsAsBruteForceDoes) {
  for (const std::size_t rows : {0U, 1U, 64U, 1000U}) {
    const Table rows_of = table(rows);
    expect_conjunctions_of(*open(rows_of), rows_of);
  }
}

TEST_P(SourceContract, CountsConjunctionsOfPartsToo) {
  const Table all = table(300);
  expect_conjunctions_of(*open(all)->where(1, 1), rows_where(all, 1, 1));
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
