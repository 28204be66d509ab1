// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/relations.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/data/csv.h"
#include "tandem/data/relation_check.h"
#include "tandem/data/rules.h"
#include "tandem/data/schema.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;
using test::TempDir;

const std::string kStays =
    "[[column]]\nname = 'ward'\nvalues = ['a', 'b']\n"
    "[[column]]\nname = 'admitted'\nkind = 'date'\nmin = '2023-01-01'\nmax = '2023-12-31'\n"
    "bins = 'month'\n"
    "[[column]]\nname = 'length'\nkind = 'integer'\nmin = 0\nmax = 365\nnull = 'NA'\n"
    "[[column]]\nname = 'discharged'\nkind = 'date'\nmin = '2023-01-01'\nmax = '2023-12-31'\n"
    "bins = 'month'\nnull = ''\n";
const std::string kOrder = "[[relation]]\norder = 'admitted <= discharged'\n";
const std::string kDerive = "[[relation]]\nderive = 'length = discharged - admitted'\n";

Schema schema_of(const std::string& relations) {
  return Schema::from_document(Document::parse_toml(kStays + relations, "schema"));
}
std::string refusal(const std::string& relations) {
  return error_of<UsageError>([&] { schema_of(relations); });
}
std::string refused_order(const std::string& order) {
  return refusal("[[relation]]\norder = \"" + order + "\"\n");
}
std::string refused_derivation(const std::string& derivation) {
  return refusal("[[relation]]\nderive = \"" + derivation + "\"\n");
}

TEST(Relations, ADerivedColumnIsNotMeasured) {
  const Schema schema = schema_of(kOrder + kDerive);
  EXPECT_EQ(schema.columns().size(), 3U);
  EXPECT_FALSE(schema.domain().find("length").has_value());
  EXPECT_TRUE(contains(error_of<UsageError>([&] { schema.domain().at("length", "'workload'"); }),
                       "derives"));
}

TEST(Relations, WhatIsWrongIsSaidWhenTheSchemaIsRead) {
  EXPECT_TRUE(contains(refused_order("admitted <= gone"), "'gone' is not a column"));
  EXPECT_TRUE(contains(refused_order("admitted <= ward"), "neither numbers nor dates"));
  EXPECT_TRUE(contains(refused_order("admitted <= admitted"), "compared with itself"));
  EXPECT_TRUE(contains(refused_order("admitted <="), "can't be read"));
  EXPECT_TRUE(contains(refused_order("admitted + 3 <= discharged"), "needs a unit"));
  EXPECT_TRUE(contains(refused_order("admitted + 2 years <= discharged"), "no values"));
  EXPECT_TRUE(contains(refused_order("admitted <= discharged + 2 years"), "rules nothing out"));
  EXPECT_TRUE(
      contains(refused_derivation("gone = discharged - admitted"), "'gone' is not a column"));
  EXPECT_TRUE(contains(refused_derivation("length = discharged - gone"), "'gone' is neither"));
  EXPECT_TRUE(contains(refused_derivation("ward = discharged - admitted"), "neither numbers"));
  EXPECT_TRUE(contains(refusal(kDerive + kDerive), "derived twice"));
  EXPECT_TRUE(contains(refusal("[[relation]]\ndescription = 'x'\n"), "either 'order'"));
}

TEST(Relations, OrdersThatRunInACircleAreRefused) {
  EXPECT_TRUE(
      contains(refusal(kOrder + "[[relation]]\norder = 'discharged <= admitted'\n"), "circle"));
}

// Of columns whose codes are single values, an order excludes just the pairs that break it.
TEST(Relations, OfNumbersExcludeThePairsThatBreakThem) {
  const std::string columns =
      "[[column]]\nname = 'a'\nkind = 'integer'\nmin = 0\nmax = 9\nbins = 10\nnull = ''\n"
      "[[column]]\nname = 'b'\nkind = 'integer'\nmin = -3\nmax = 8\nbins = 12\n";
  const struct {
    std::string text;
    bool (*holds)(int a, int b);
  } orders[] = {{"a < b", [](int a, int b) { return a < b; }},
                {"a <= b", [](int a, int b) { return a <= b; }},
                {"a > b", [](int a, int b) { return a > b; }},
                {"a >= b", [](int a, int b) { return a >= b; }},
                {"b < a + 2", [](int a, int b) { return b < a + 2; }},
                {"a - 3 >= b", [](int a, int b) { return a - 3 >= b; }}};
  for (const auto& [text, holds] : orders) {
    const Schema schema = Schema::from_document(
        Document::parse_toml(columns + "[[relation]]\norder = '" + text + "'\n", "schema"));
    ASSERT_EQ(schema.relations().orders.size(), 1U);
    const Order& order = schema.relations().orders[0];
    const bool a_is_low = order.low == 0;
    for (int a = 0; a <= 9; ++a) {
      for (int b = -3; b <= 8; ++b) {
        const auto code_of_a = static_cast<Code>(a);
        const auto code_of_b = static_cast<Code>(b + 3);
        EXPECT_EQ(
            order.excludes(a_is_low ? code_of_a : code_of_b, a_is_low ? code_of_b : code_of_a),
            !holds(a, b))
            << text << ": " << a << " " << b;
      }
    }
    // No value keeps every order.
    const Code none = schema.columns()[0].codec->encode("").code;
    for (Code other = 0; other < 12; ++other) {
      EXPECT_FALSE(order.excludes(a_is_low ? none : other, a_is_low ? other : none)) << text;
    }
  }
}

TEST(Relations, ADerivedColumnThatIsUsedElsewhereIsRefused) {
  EXPECT_TRUE(
      contains(refusal(kDerive + "[[rule]]\nif = 'ward = a'\nthen = 'length < 5'\n"), "length"));
  const std::string number = "[[column]]\nname = 'n'\nkind = 'integer'\nmin = 0\nmax = 9\n";
  EXPECT_TRUE(contains(error_of<UsageError>([&] {
                         Schema::from_document(Document::parse_toml(
                             number + kStays + kDerive + "[[relation]]\norder = 'n <= length'\n",
                             "schema"));
                       }),
                       "derived itself"));
}

TEST(Relations, AnOrderThatNoRowKeepsTogetherWithRulesIsRefused) {
  EXPECT_TRUE(contains(
      refusal(kOrder + "[[rule]]\nif = 'ward = a'\nthen = 'admitted >= 2023-07-01'\n"
                       "[[rule]]\nif = 'ward = b'\nthen = 'admitted >= 2023-08-01'\n"
                       "[[rule]]\nif = 'ward in (a, b)'\nthen = 'discharged < 2023-06-01'\n"),
      "leave no row"));
}

// All pairs of months that an order leaves, and stays that have not ended.
Table all_stays(const Schema& schema, int times) {
  const auto& domain = schema.domain();
  std::array<std::vector<std::uint8_t>, 3> codes;
  for (int t = 0; t < times; ++t) {
    for (std::uint8_t from = 0; from < domain[1].size; ++from) {
      for (std::uint8_t to = 0; to < domain[2].size; ++to) {
        codes[0].push_back(static_cast<std::uint8_t>(t % 2));
        codes[1].push_back(from);
        codes[2].push_back(to);
      }
    }
  }
  std::vector<Column> columns;
  for (auto& column : codes) columns.emplace_back(std::move(column));
  return Table(domain, std::move(columns));
}

TEST(Relations, RowsThatAreWrittenKeepThem) {
  const Schema schema = schema_of(kOrder + kDerive);
  Table table = all_stays(schema, 20);
  Rng rng(1);
  settle_rows(schema.row_rules(), table, rng);
  const TempDir dir;
  const std::string path = dir / "rows.csv";
  write_csv(path, schema, table, rng);
  EXPECT_TRUE(test::read_file(path).starts_with("ward,admitted,length,discharged\n"));
  const auto counts = count_broken(schema, path);
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_GT(counts[0].judged, 2000U);
  EXPECT_EQ(counts[0].broken, 0U);
  EXPECT_EQ(counts[1].judged, table.rows());
  EXPECT_EQ(counts[1].broken, 0U);
}

TEST(Relations, ARowIsMendedByItself) {
  const Schema schema = schema_of(kOrder + kDerive);
  Table table = all_stays(schema, 1);
  const std::size_t rows = table.rows();
  EXPECT_GT(mend_rows(schema.row_rules(), table), 0U);
  EXPECT_EQ(table.rows(), rows);
  EXPECT_EQ(mend_rows(schema.row_rules(), table), 0U);
}

TEST(RelationCheck, CountsBrokenRowsByTheirTexts) {
  const Schema schema = schema_of(kOrder + kDerive);
  const TempDir dir;
  const std::string path = dir.write("rows.csv",
                                     "ward,admitted,length,discharged\n"
                                     "a,2023-03-01,2,2023-03-03\n"   // right
                                     "a,2023-03-05,-2,2023-03-03\n"  // out of order
                                     "a,2023-03-01,3,2023-03-03\n"   // a wrong length
                                     "b,2023-03-01,NA,\n"            // right
                                     "b,2023-03-01,4,\n");           // a length of no stay
  const auto counts = count_broken(schema, path);
  EXPECT_EQ(counts[0].judged, 3U);
  EXPECT_EQ(counts[0].broken, 1U);
  EXPECT_EQ(counts[1].judged, 5U);
  EXPECT_EQ(counts[1].broken, 2U);  // -2 is the difference, though beyond the column's bounds
}

}  // namespace
}  // namespace tandem
