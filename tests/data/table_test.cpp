// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/random_tables.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using Row = std::vector<Code>;
using Rows = std::vector<Row>;

Row row_of(const Table& table, std::size_t row) {
  Row out;
  for (AttributeId id = 0; id < table.domain().size(); ++id) out.push_back(table.column(id)[row]);
  return out;
}

TEST(Column, IsAsNarrowAsItsAttributeAllows) {
  const struct {
    Code size;
    std::size_t width;
  } cases[] = {{1, 1}, {256, 1}, {257, 2}, {65536, 2}, {65537, 4}, {1U << 31, 4}};
  for (const auto& [size, width] : cases) {
    EXPECT_EQ(code_width(size), width) << size;
    Column column(size, 3);
    EXPECT_EQ(column.bytes(), 3 * width);
    EXPECT_EQ(column.rows(), 3U);
    EXPECT_EQ(column[1], 0U);
    column.set(1, size - 1);
    EXPECT_EQ(column[1], size - 1);
    EXPECT_EQ(column[0], 0U);
    EXPECT_EQ(column[2], 0U);
  }
}

TEST(Table, StartsAtZero) {
  const Table table(Domain({{"a", 2, {}}, {"b", 300, {}}}), 5);
  EXPECT_EQ(table.rows(), 5U);
  EXPECT_EQ(table.bytes(), 5U * 3U);
  for (std::size_t r = 0; r < 5; ++r) EXPECT_EQ(row_of(table, r), (Row{0, 0}));
}

TEST(Table, HoldsTheRowsItWasGiven) {
  const Domain domain({{"a", 2, {}}, {"b", 300, {}}, {"c", 70000, {}}});
  const Rows rows = {{0, 299, 69999}, {1, 0, 0}, {1, 256, 65536}};
  const auto table = Table::from_rows(domain, rows);
  for (std::size_t r = 0; r < rows.size(); ++r) EXPECT_EQ(row_of(table, r), rows[r]);
  EXPECT_EQ(Table::from_rows(domain, Rows{}).rows(), 0U);
}

TEST(Table, RefusesCodesAndColumnsOutsideItsDomain) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}});
  EXPECT_THROW(Table::from_rows(domain, Rows{{0, 3}}), InternalError);
  EXPECT_THROW(Table::from_rows(domain, Rows{{0}}), InternalError);
  EXPECT_THROW(Table::from_rows(domain, Rows{{0, 0, 0}}), InternalError);
  EXPECT_THROW(Table(domain, std::vector<Column>{Column(2, 1)}), InternalError);
  EXPECT_THROW(Table(domain, std::vector<Column>{Column(2, 1), Column(3, 2)}), InternalError);
  Column outside(3, 1);
  outside.set(0, 3);
  EXPECT_THROW(Table(domain, std::vector<Column>{Column(2, 1), outside}), InternalError);
}

TEST(Table, SelectsRowsInAnyOrderAndMoreThanOnce) {
  const Domain domain({{"a", 300, {}}, {"b", 2, {}}});
  const auto table = Table::from_rows(domain, Rows{{10, 0}, {280, 1}, {299, 0}});
  const std::vector<std::size_t> wanted = {2, 0, 2};
  EXPECT_EQ(table.select(wanted), Table::from_rows(domain, Rows{{299, 0}, {10, 0}, {299, 0}}));
  EXPECT_EQ(table.select(std::vector<std::size_t>{}).rows(), 0U);
}

TEST(DistinctRows, AreInOrderOfFirstAppearance) {
  const Domain domain({{"a", 3, {}}, {"b", 3, {}}});
  const auto table = Table::from_rows(domain, Rows{{2, 1}, {0, 0}, {2, 1}, {1, 2}, {0, 0}, {2, 1}});
  const auto distinct = distinct_rows(table);
  EXPECT_EQ(distinct.rows, Table::from_rows(domain, Rows{{2, 1}, {0, 0}, {1, 2}}));
  EXPECT_EQ(distinct.multiplicity, (std::vector<std::uint64_t>{3, 2, 1}));
}

TEST(DistinctRows, OfNoRowsAreNone) {
  const auto distinct = distinct_rows(Table(Domain({{"a", 3, {}}}), 0));
  EXPECT_EQ(distinct.rows.rows(), 0U);
  EXPECT_TRUE(distinct.multiplicity.empty());
}

TEST(DistinctRows, OfRowsAllDifferentAreAll) {
  const Domain domain({{"a", 70000, {}}});
  Table table(domain, 70000);
  for (Code code = 0; code < 70000; ++code) table.column(0).set(code, 69999 - code);
  EXPECT_EQ(distinct_rows(table).rows, table);
}

RC_GTEST_PROP(DistinctRows, AreThoseOfAMap, ()) {
  const auto domain = test::any_domain({1, 2, 3, 256, 300, 70000}, 4);
  const auto table = test::any_table(domain, *rc::gen::inRange<std::size_t>(0, 200));
  std::map<Row, std::uint64_t> counts;
  Rows firsts;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    const Row row = row_of(table, r);
    if (counts[row]++ == 0) firsts.push_back(row);
  }
  const auto distinct = distinct_rows(table);
  RC_ASSERT(distinct.rows == Table::from_rows(domain, firsts));
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    RC_ASSERT(distinct.multiplicity[i] == counts[firsts[i]]);
  }
}

}  // namespace
}  // namespace tandem
