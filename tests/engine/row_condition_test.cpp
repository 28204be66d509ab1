// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/row_condition.h"

#include <gtest/gtest.h>

#include <string>

#include "support/errors.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

Schema schema() {
  return Schema::from_document(Document::parse_toml(R"(
[[column]]
name = 'sex'
values = ['F', 'M']
[[column]]
name = 'age'
kind = 'integer'
min = 0
max = 99
edges = [15, 30, 60]
null = ['']
[[column]]
name = 'marital'
values = ['single', 'married', 'widowed']
[[rule]]
if = 'age < 15'
then = 'marital = single'
)",
                                                    "schema.toml"));
}

std::string refusal(const std::string& text) {
  return error_of<UsageError>([&] { RowCondition(text, schema()); });
}

TEST(RowCondition, BecomesRestrictionsOfColumns) {
  const auto only = RowCondition("sex = F and age >= 30", schema()).restrictions();
  ASSERT_EQ(only.size(), 2U);
  EXPECT_EQ(only[0].attribute, 0U);
  EXPECT_EQ(only[0].allowed, (std::vector<Code>{0}));
  EXPECT_EQ(only[1].attribute, 1U);
  EXPECT_EQ(only[1].allowed, (std::vector<Code>{2, 3}));
  EXPECT_TRUE(RowCondition().empty());
  EXPECT_TRUE(RowCondition("", schema()).empty());
}

TEST(RowCondition, BoundsLieBetweenRanges) {
  EXPECT_TRUE(contains(refusal("age < 18"), "'15 to 29' of column 'age' in two"));
  EXPECT_TRUE(contains(refusal("sex = F and age = 15"), "'15 to 29'"));
  // Both say the same of whole numbers.
  EXPECT_EQ(RowCondition("age < 15", schema()).restrictions()[0].allowed,
            RowCondition("age <= 14", schema()).restrictions()[0].allowed);
}

TEST(RowCondition, SaysWhatCannotBe) {
  EXPECT_TRUE(contains(refusal("sex = F and sex = M"), "no value of column 'sex'"));
  EXPECT_TRUE(contains(refusal("age < 0"), "no value of column 'age'"));
  EXPECT_TRUE(contains(refusal("age < 15 and marital in (married, widowed)"),
                       "the schema says 'if age < 15 then marital = single'"));
  EXPECT_TRUE(contains(refusal("height > 3"), "--where: the condition 'height > 3'"));
  EXPECT_TRUE(contains(refusal("sex ="), "a value is missing"));
}

TEST(RowCondition, RulesSayMoreOfSuchRows) {
  const auto young = RowCondition("age < 15", schema()).restrictions();
  ASSERT_EQ(young.size(), 2U);
  EXPECT_EQ(young[1].attribute, 2U);
  EXPECT_EQ(young[1].allowed, (std::vector<Code>{0}));
  EXPECT_EQ(RowCondition("age < 15", schema()).stated().size(), 1U);
  const auto married = RowCondition("marital = married", schema()).restrictions();
  ASSERT_EQ(married.size(), 2U);
  EXPECT_EQ(married[1].attribute, 1U);
  EXPECT_EQ(married[1].allowed, (std::vector<Code>{1, 2, 3, 4}));  // an age of null, too
}

constexpr const char* kThreeColumns = R"(
[[column]]
name = 'a'
size = 3
[[column]]
name = 'b'
size = 2
[[column]]
name = 'c'
size = 2
)";

TEST(RowCondition, RulesAreSettledAndTheConditionStays) {
  const Schema s = Schema::from_document(Document::parse_toml(
      std::string(kThreeColumns) + "[[rule]]\nif = 'a = 0 and b = 0'\nthen = 'c = 0'\n",
      "schema.toml"));
  const RowCondition condition("c = 1", s);
  Rng rng(1);
  Table rows(s.domain(), 300);
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    rows.column(0).set(r, static_cast<Code>(r % 3));
    rows.column(1).set(r, static_cast<Code>(r / 3 % 2));
    rows.column(2).set(r, 1);
  }
  condition.settle(s, rows, rng);
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    EXPECT_EQ(rows.column(2)[r], 1U);
    EXPECT_FALSE(rows.column(0)[r] == 0 && rows.column(1)[r] == 0);
  }
}

TEST(RowCondition, RulesThatLeaveNothingTogetherAreAnError) {
  const Schema s = Schema::from_document(Document::parse_toml(
      std::string(kThreeColumns) +
          "[[rule]]\nif = 'b = 0'\nthen = 'a = 1'\n[[rule]]\nif = 'b = 1'\nthen = 'a = 1'\n",
      "schema.toml"));
  EXPECT_TRUE(contains(error_of<UsageError>([&] { RowCondition("a = 2", s); }),
                       "the schema says 'if b = 1 then a = 1'"));
}

}  // namespace
}  // namespace tandem
