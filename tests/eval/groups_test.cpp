// SPDX-License-Identifier: Apache-2.0
#include "tandem/eval/groups.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/errors.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using Rows = std::vector<std::vector<Code>>;

const Domain& domain() {
  static const Domain it({{"region", 3, {}}, {"sex", 2, {}}, {"age", 2, {}}});
  return it;
}

Table repeated(const Rows& rows, std::size_t times) {
  Rows all;
  for (std::size_t i = 0; i < times; ++i) all.insert(all.end(), rows.begin(), rows.end());
  return Table::from_rows(domain(), all);
}

const std::vector<AttributeId> kByRegion = {0};

TEST(Groups, AreJudgedWithinThemselves) {
  // Region 0 is the same in both, of whatever size; region 1 has women for men.
  const auto real = repeated({{0, 0, 0}, {0, 1, 1}, {1, 0, 0}}, 100);
  const auto made = repeated({{0, 0, 0}, {0, 1, 1}, {1, 1, 0}, {1, 1, 0}}, 10);
  const auto groups = group_errors(real, made, kByRegion, {});
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].codes, std::vector<Code>{1});
  EXPECT_DOUBLE_EQ(groups[0].error.value(), 2.0);
  EXPECT_EQ(groups[0].reference_rows, 100U);
  EXPECT_EQ(groups[0].estimate_rows, 20U);
  EXPECT_EQ(groups[1].codes, std::vector<Code>{0});
  EXPECT_DOUBLE_EQ(groups[1].error.value(), 0.0);
}

TEST(Groups, SmallOnesComeLastAndAreMarked) {
  const auto real = repeated({{0, 0, 0}, {0, 0, 1}}, 50);  // 100 rows
  auto rows = Rows(99, {1, 0, 0});
  for (std::size_t r = 0; r < real.rows(); ++r) rows.push_back({0, 0, real.column(2)[r]});
  const auto groups = group_errors(Table::from_rows(domain(), rows),
                                   repeated({{0, 0, 0}, {1, 1, 1}}, 1), kByRegion, {});
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_FALSE(groups[0].small());
  EXPECT_DOUBLE_EQ(groups[0].error.value(), 1.0);
  EXPECT_TRUE(groups[1].small());
  EXPECT_DOUBLE_EQ(groups[1].error.value(), 2.0);
}

TEST(Groups, AGroupThatOneTableLacksIsWhollyWrong) {
  const auto groups =
      group_errors(repeated({{0, 0, 0}}, 1), repeated({{2, 0, 0}}, 1), kByRegion, {});
  ASSERT_EQ(groups.size(), 2U);
  for (const auto& group : groups) EXPECT_DOUBLE_EQ(group.error.value(), 2.0);
}

TEST(Groups, OfAllColumnsHaveNothingToCompare) {
  const std::vector<AttributeId> all = {0, 1, 2};
  const auto groups = group_errors(repeated({{0, 0, 0}}, 1), repeated({{0, 0, 0}}, 1), all, {});
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_FALSE(groups[0].error.has_value());
}

TEST(Groups, TooManyAreRefused) {
  const Domain wide({{"id", 20'000, {}}, {"a", 2, {}}});
  Table table(wide, 20'000);
  for (std::size_t r = 0; r < table.rows(); ++r) table.column(0).set(r, static_cast<Code>(r));
  const auto error = test::error_of<UsageError>([&] { group_errors(table, table, kByRegion, {}); });
  EXPECT_TRUE(test::contains(error, "--group-by makes more than 10,000 groups"));
}

}  // namespace
}  // namespace tandem
