// SPDX-License-Identifier: Apache-2.0
#pragma once
// What cannot occur: "if age < 15 then marital = single", and rows that break an order between
// columns. Public knowledge, from the schema.
//
// A row that breaks one is not dropped: it is mended, by a function of that row and the rules
// alone, so the number of rows and every sensitivity stay as they are.

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/data/condition.h"
#include "tandem/data/order.h"
#include "tandem/data/table.h"

namespace tandem {

struct Rule {
  std::string text;  // "if ... then ...", for messages
  Condition when;
  Condition then;
};

// Whether a row, a code for each attribute, breaks a rule.
bool breaks(const Rule& rule, std::span<const Code> row);

// All that rows must keep.
struct RowRules {
  RowRules() = default;
  RowRules(std::span<const Rule> of_rules, std::span<const Order> of_orders = {})
      : rules(of_rules), orders(of_orders) {}
  RowRules(const std::vector<Rule>& of_rules) : rules(of_rules) {}

  std::span<const Rule> rules;
  std::span<const Order> orders;
  bool empty() const { return rules.empty() && orders.empty(); }
};

// Combinations of codes that cannot occur: one code of each listed set at a time.
struct ImpossibleBox {
  struct Side {
    AttributeId attribute = 0;
    std::vector<bool> codes;
  };
  std::vector<Side> sides;
};

// A code belongs to a box only when the rule excludes all of its values. An order's boxes are
// disjoint and at most kMostBoxesOfOrder; of one that is finer, some pairs that it excludes are in
// none.
inline constexpr std::size_t kMostBoxesOfOrder = 1024;
std::vector<ImpossibleBox> impossible_boxes(const RowRules& rules);

// Rules in order, then orders. A column that breaks a `then` takes the first code that fulfils it
// and whatever else the rules that apply to the row say of this column; the first that fulfils it
// alone if nothing fulfils all. The higher column of an order that is broken takes the nearest
// range that keeps it, of those that these rules allow, or of all; if it has none, the lower column
// does. All again while one changed something, at most as many times as there are rules and orders.
// A row that then still breaks one (rules that contradict each other) stays so. Returns how many
// rows changed: private when the table is.
std::size_t mend_rows(const RowRules& rules, Table& table);

// For rows that a model made: rows that break a rule exchange values of a column with others where
// that leaves fewer rules broken, so every column keeps its values. What can't be settled so is
// mended, and a row that even so breaks an order takes over what rules name of one that breaks
// nothing. Not for private rows: what becomes of one depends on the others.
void settle_rows(const RowRules& rules, Table& table, Rng& rng);

}  // namespace tandem
