// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/rules.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "support/random_tables.h"
#include "tandem/data/schema.h"

namespace tandem {
namespace {

using Row = std::vector<Code>;

Row row_of(const Table& table, std::size_t row) {
  Row out;
  for (AttributeId id = 0; id < table.domain().size(); ++id) out.push_back(table.column(id)[row]);
  return out;
}

bool breaks(const Rule& rule, const Row& row) {
  const auto has = [&](Truth truth) {
    return [&row, truth](const auto& c) { return c.truth[row[c.attribute]] == truth; };
  };
  return std::ranges::all_of(rule.when, has(Truth::Always)) &&
         std::ranges::any_of(rule.then, has(Truth::Never));
}

bool breaks_any(const std::vector<Rule>& rules, const Row& row) {
  return std::ranges::any_of(rules, [&](const auto& rule) { return breaks(rule, row); });
}

bool inside(const ImpossibleBox& box, const Row& row) {
  return std::ranges::all_of(box.sides,
                             [&](const auto& side) { return side.codes[row[side.attribute]]; });
}

ColumnCondition any_clause(const Domain& domain, AttributeId attribute) {
  ColumnCondition out{.attribute = attribute, .truth = {}};
  for (Code code = 0; code < domain[attribute].size; ++code) {
    out.truth.push_back(*rc::gen::element(Truth::Never, Truth::Partly, Truth::Always));
  }
  return out;
}

// Conditions on some of the attributes from `first` up to, not with, `end`.
Condition any_condition(const Domain& domain, AttributeId first, AttributeId end) {
  Condition out;
  while (out.empty()) {
    for (auto id = first; id < end; ++id) {
      if (*rc::gen::inRange(0, 3) == 0) out.push_back(any_clause(domain, id));
    }
  }
  return out;
}

Domain five_columns() {
  std::vector<Attribute> attributes;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    attributes.push_back({name, *rc::gen::inRange<Code>(1, 6), {}});
  }
  return Domain(std::move(attributes));
}

// Any rules at all: they may contradict each other and themselves.
std::vector<Rule> any_rules(const Domain& domain) {
  std::vector<Rule> out;
  for (int i = *rc::gen::inRange(0, 7); i > 0; --i) {
    out.push_back(
        {.text = "", .when = any_condition(domain, 0, 5), .then = any_condition(domain, 0, 5)});
  }
  return out;
}

// Rules that follow the order of the columns, in any order themselves, and that one code of each
// column always fulfils: every row can be mended.
std::vector<Rule> consistent_rules(const Domain& domain) {
  std::vector<Rule> out;
  std::array<Code, 5> good{};
  for (AttributeId id = 0; id < 5; ++id) good[id] = *rc::gen::inRange<Code>(0, domain[id].size);
  for (int i = *rc::gen::inRange(0, 7); i > 0; --i) {
    const auto cut = *rc::gen::inRange<AttributeId>(1, 5);
    out.push_back(
        {.text = "", .when = any_condition(domain, 0, cut), .then = any_condition(domain, cut, 5)});
    for (auto& clause : out.back().then) clause.truth[good[clause.attribute]] = Truth::Always;
  }
  return out;
}

RC_GTEST_PROP(MendRows, DependsOnTheRowAlone, ()) {
  const auto domain = five_columns();
  const auto rules = any_rules(domain);
  const auto table = test::any_table(domain, 30);
  Table mended = table;
  const auto changed = mend_rows(rules, mended);
  RC_ASSERT(mended.rows() == table.rows());
  std::size_t different = 0;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    different += row_of(mended, r) != row_of(table, r) ? 1U : 0U;
    if (!breaks_any(rules, row_of(table, r))) RC_ASSERT(row_of(mended, r) == row_of(table, r));
  }
  RC_ASSERT(changed == different);
  // Any rows in any order, some twice.
  std::vector<std::size_t> picked(20);
  for (auto& row : picked) row = *rc::gen::inRange<std::size_t>(0, 30);
  Table part = table.select(picked);
  mend_rows(rules, part);
  RC_ASSERT(part == mended.select(picked));
}

RC_GTEST_PROP(MendRows, LeavesNoRowThatBreaksConsistentRules, ()) {
  const auto domain = five_columns();
  const auto rules = consistent_rules(domain);
  const auto boxes = impossible_boxes(rules);
  Table table = test::any_table(domain, 30);
  mend_rows(rules, table);
  for (std::size_t r = 0; r < table.rows(); ++r) {
    RC_ASSERT(!breaks_any(rules, row_of(table, r)));
    RC_ASSERT(std::ranges::none_of(boxes,
                                   [&](const auto& box) { return inside(box, row_of(table, r)); }));
  }
  Table again = table;
  RC_ASSERT(mend_rows(rules, again) == 0U);
  RC_ASSERT(again == table);
}

RC_GTEST_PROP(ImpossibleBoxes, HoldTheRowsThatBreakARuleAndNoOthers, ()) {
  const auto domain = five_columns();
  const auto rules = any_rules(domain);
  const auto boxes = impossible_boxes(rules);
  const auto table = test::any_table(domain, 50);
  for (std::size_t r = 0; r < table.rows(); ++r) {
    const auto row = row_of(table, r);
    RC_ASSERT(breaks_any(rules, row) ==
              std::ranges::any_of(boxes, [&](const auto& box) { return inside(box, row); }));
  }
  for (const auto& box : boxes) {
    for (const auto& side : box.sides) RC_ASSERT(std::ranges::count(side.codes, true) > 0);
  }
}

Order any_order() {
  Order out{.text = "",
            .low = 0,
            .high = 1,
            .lowest = {},
            .highest = {},
            .low_place = {},
            .high_place = {}};
  const auto places = [](std::int64_t of_extras) {
    std::vector<std::int64_t> places_of;
    for (int i = *rc::gen::inRange(1, 9); i > 0; --i) {
      places_of.push_back(*rc::gen::inRange(0, 5) == 0 ? of_extras
                                                       : *rc::gen::inRange<std::int64_t>(-3, 12));
    }
    return places_of;
  };
  out.lowest = places(kBeforeAll);
  out.highest = places(kAfterAll);
  return out;
}

RC_GTEST_PROP(ImpossibleBoxes, OfAnOrderHoldEachPairThatItExcludesOnceAndNoOther, ()) {
  const Order order = any_order();
  const std::vector<ImpossibleBox> boxes = impossible_boxes({{}, std::span(&order, 1)});
  for (Code low = 0; low < order.lowest.size(); ++low) {
    for (Code high = 0; high < order.highest.size(); ++high) {
      const auto holding = std::ranges::count_if(boxes, [&](const auto& box) {
        return inside(box, {low, high});
      });
      RC_ASSERT(holding == (order.excludes(low, high) ? 1 : 0));
    }
  }
}

TEST(ImpossibleBoxes, OfALongOrderAreFewAndHoldNoPairThatMayBe) {
  Order order{.text = "",
              .low = 0,
              .high = 1,
              .lowest = {},
              .highest = {},
              .low_place = {},
              .high_place = {}};
  constexpr std::int64_t kCodes = 2500;
  for (std::int64_t code = 0; code < kCodes; ++code) {
    order.lowest.push_back(code);
    order.highest.push_back(code);
  }
  const auto boxes = impossible_boxes({{}, std::span(&order, 1)});
  EXPECT_LE(boxes.size(), kMostBoxesOfOrder);
  EXPECT_GT(boxes.size(), kMostBoxesOfOrder / 2);
  const std::size_t grain = kCodes / kMostBoxesOfOrder + 1;
  for (Code low = 0; low < kCodes; low += 7) {
    for (Code high = 0; high < kCodes; high += 11) {
      const auto holding = std::ranges::count_if(boxes, [&](const auto& box) {
        return inside(box, {low, high});
      });
      EXPECT_LE(holding, order.excludes(low, high) ? 1 : 0) << low << " " << high;
      if (low >= high + grain) {
        EXPECT_EQ(holding, 1) << low << " " << high;
      }
    }
  }
}

// The rows of a table with the columns age (0-4, 5-9, 10-19), marital and income, as codes.
Schema census(const std::string& rules) {
  return Schema::from_document(Document::parse_toml(R"(
[[column]]
name = "age"
kind = "integer"
min = 0
max = 19
edges = [5, 10]
[[column]]
name = "marital"
values = ["married", "widowed", "single", "N"]
[[column]]
name = "income"
kind = "integer"
min = 0
max = 99
bins = 10
special = "N"
null = ""
)" + rules,
                                                    "s.toml"));
}

Row mended(const Schema& schema, const Row& row) {
  auto table = Table::from_rows(schema.domain(), std::vector<Row>{row});
  mend_rows(schema.rules(), table);
  return row_of(table, 0);
}

TEST(MendRows, TakesTheFirstCodeThatFulfilsAllThatIsSaid) {
  const auto schema = census(R"(
[[rule]]
if = "age < 10"
then = "marital != married and income = N"
[[rule]]
if = "age < 10"
then = "marital != widowed"
[[rule]]
if = "age < 5"
then = "marital = N"
)");
  EXPECT_EQ(mended(schema, {0, 0, 3}), (Row{0, 3, 10}));
  EXPECT_EQ(mended(schema, {1, 0, 10}), (Row{1, 2, 10}));  // not widowed, which is next
  EXPECT_EQ(mended(schema, {1, 1, 11}), (Row{1, 2, 10}));
  EXPECT_EQ(mended(schema, {1, 3, 10}), (Row{1, 3, 10}));
  EXPECT_EQ(mended(schema, {2, 0, 3}), (Row{2, 0, 3}));
  EXPECT_EQ(impossible_boxes(schema.rules()).size(), 4U);
}

TEST(MendRows, FollowsRulesThatCallEachOtherInAnyOrder) {
  const auto schema = census(R"(
[[rule]]
if = "income = N"
then = "marital = single"
[[rule]]
if = "age < 5"
then = "income = N"
)");
  EXPECT_EQ(mended(schema, {0, 0, 3}), (Row{0, 2, 10}));
}

TEST(MendRows, LeavesARangeThatIsOnlyPartlyExcluded) {
  const auto schema = census(R"(
[[rule]]
if = "income > 44"
then = "age >= 7"
)");
  EXPECT_EQ(mended(schema, {0, 0, 5}), (Row{2, 0, 5}));  // wholly: 10 to 19
  EXPECT_EQ(mended(schema, {1, 0, 5}), (Row{1, 0, 5}));  // 5 to 9 has 7
  EXPECT_EQ(mended(schema, {0, 0, 4}), (Row{0, 0, 4}));  // 40 to 49 is not all above 44
}

TEST(MendRows, ContradictionsEndAndKeepTheRow) {
  const auto schema = census(R"(
[[rule]]
if = "age < 5"
then = "marital = single"
[[rule]]
if = "marital = single"
then = "marital = married"
)");
  EXPECT_EQ(mended(schema, {0, 3, 0}).size(), 3U);
  EXPECT_EQ(mended(schema, {0, 3, 0}), mended(schema, {0, 3, 0}));
  // What nothing fulfils changes nothing. A schema refuses such a rule.
  const std::vector<Rule> rules = {{.text = "",
                                    .when = {{.attribute = 0, .truth = {Truth::Always}}},
                                    .then = {{.attribute = 0, .truth = {Truth::Never}}}}};
  Table table(Domain({{"a", 1, {}}}), 3);
  EXPECT_EQ(mend_rows(rules, table), 0U);
}

TEST(MendRows, NoRulesNoRowsNoChange) {
  Table table(Domain({{"a", 300, {}}}), 3);
  EXPECT_EQ(mend_rows({}, table), 0U);
  const std::vector<Rule> rules = {
      {.text = "",
       .when = {{.attribute = 0, .truth = std::vector<Truth>(300, Truth::Always)}},
       .then = {{.attribute = 0, .truth = std::vector<Truth>(300, Truth::Always)}}}};
  Table empty(Domain({{"a", 300, {}}}), 0);
  EXPECT_EQ(mend_rows(rules, empty), 0U);
  EXPECT_EQ(mend_rows(rules, table), 0U);
}

RC_GTEST_PROP(SettleRows, KeepsTheValuesOfEveryColumnWhereItCan, ()) {
  // Whoever is young is single, and only they: the margins allow it.
  const Domain domain({{"age", 2, {}}, {"marital", 2, {}}, {"x", 3, {}}});
  const std::vector<Rule> rules = {
      {"", {{0, {Truth::Always, Truth::Never}}}, {{1, {Truth::Always, Truth::Never}}}},
      {"", {{0, {Truth::Never, Truth::Always}}}, {{1, {Truth::Never, Truth::Always}}}}};
  const auto young = *rc::gen::inRange<std::size_t>(1, 200);
  Table table(domain, 400);
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  for (AttributeId id = 0; id < 2; ++id) {
    std::vector<Code> codes(400, 1);
    std::fill_n(codes.begin(), young, 0U);
    rng.shuffle(std::span(codes));
    for (std::size_t r = 0; r < 400; ++r) table.column(id).set(r, codes[r]);
  }
  settle_rows(rules, table, rng);
  std::size_t zeros = 0;
  for (std::size_t r = 0; r < 400; ++r) {
    RC_ASSERT(!breaks_any(rules, row_of(table, r)));
    zeros += table.column(1)[r] == 0 ? 1 : 0;
  }
  const auto moved = zeros > young ? zeros - young : young - zeros;
  RC_ASSERT(moved <= 4U);
}

RC_GTEST_PROP(SettleRows, LeavesNoMoreBrokenThanMendingDoes, ()) {
  const auto domain = five_columns();
  const auto rules = any_rules(domain);
  Table table = test::any_table(domain, 60);
  Table mended = table;
  mend_rows(rules, mended);
  Rng rng(7);
  const auto rows = table.rows();
  settle_rows(rules, table, rng);
  RC_ASSERT(table.rows() == rows);
  Table again = table;
  if (mend_rows(rules, again) == 0) return;  // settled, or as far as mending goes
  RC_ASSERT(std::ranges::any_of(rules, [&](const auto& rule) {
    for (std::size_t r = 0; r < rows; ++r) {
      if (breaks(rule, row_of(mended, r))) return true;
    }
    return false;
  }));
}

}  // namespace
}  // namespace tandem
