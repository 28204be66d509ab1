// SPDX-License-Identifier: Apache-2.0
#include "tandem/eval/group_score.h"

#include <gtest/gtest.h>

#include "tandem/base/rng.h"

namespace tandem {
namespace {

const Domain kDomain({{"area", 3, {}}, {"a", 2, {}}, {"b", 2, {}}, {"year", 2, {}}, {"c", 2, {}}});
const Clique kKey{0, 3};

Table table_of(const std::vector<std::vector<Code>>& rows) {
  return Table::from_rows(kDomain, rows);
}

TEST(GroupScore, PairsHaveNoKeyColumn) {
  EXPECT_EQ(pairs_outside(kDomain, kKey, 100, 1), (std::vector<Clique>{{1, 2}, {1, 4}, {2, 4}}));
  EXPECT_EQ(pairs_outside(kDomain, kKey, 2, 1).size(), 2U);
  EXPECT_EQ(pairs_outside(kDomain, kKey, 2, 1), pairs_outside(kDomain, kKey, 2, 1));
}

TEST(GroupScore, IsTheMeanOverGroupsOfTheMeanOverPairs) {
  // Area 0: rows (0,0,0) and (1,1,0) against two of (0,0,0). Area 1: the same in both.
  const Table real = table_of({{0, 0, 0, 0, 0}, {0, 1, 1, 0, 0}, {1, 1, 0, 0, 1}});
  const Table made = table_of({{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {1, 1, 0, 0, 1}, {1, 1, 0, 0, 1}});
  const auto score = score_groups(real, made, kKey, pairs_outside(kDomain, kKey, 100, 1), 250.0);
  ASSERT_EQ(score.groups.size(), 2U);
  EXPECT_EQ(score.groups[0].key, (std::vector<Code>{0, 0}));
  EXPECT_DOUBLE_EQ(score.groups[0].l1, 1.0);  // half of the rows are elsewhere, for each pair
  EXPECT_DOUBLE_EQ(score.groups[1].l1, 0.0);
  EXPECT_DOUBLE_EQ(score.error, 0.5);
  EXPECT_EQ(score.penalised, 0U);
}

TEST(GroupScore, AGroupWhoseCountIsOffByTooMuchIsWorst) {
  const std::vector<std::vector<Code>> real(10, {0, 0, 0, 1, 0});
  const std::vector<std::vector<Code>> made(13, {0, 0, 0, 1, 0});
  const auto pairs = pairs_outside(kDomain, kKey, 100, 1);
  EXPECT_DOUBLE_EQ(score_groups(table_of(real), table_of(made), kKey, pairs, 3.0).error, 0.0);
  const auto off = score_groups(table_of(real), table_of(made), kKey, pairs, 2.0);
  EXPECT_DOUBLE_EQ(off.error, 2.0);
  EXPECT_DOUBLE_EQ(off.groups[0].l1, 0.0);
  EXPECT_EQ(off.penalised, 1U);
}

TEST(GroupScore, AGroupThatOneTableLacksIsWorst) {
  const Table real = table_of({{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}});
  const Table made = table_of({{0, 0, 0, 0, 0}, {2, 0, 0, 0, 0}});
  const auto score = score_groups(real, made, kKey, pairs_outside(kDomain, kKey, 100, 1), 250.0);
  ASSERT_EQ(score.groups.size(), 3U);
  EXPECT_DOUBLE_EQ(score.error, 4.0 / 3.0);
}

TEST(GroupScore, NoRowsAreNoGroups) {
  const auto score = score_groups(Table(kDomain, 0), Table(kDomain, 0), kKey,
                                  pairs_outside(kDomain, kKey, 100, 1), 250.0);
  EXPECT_TRUE(score.groups.empty());
  EXPECT_EQ(score.error, 0.0);
}

}  // namespace
}  // namespace tandem
