// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/row_condition.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

// The label of a code, for messages.
std::string label_of(const Schema& schema, AttributeId id, std::size_t code) {
  const auto& labels = schema.domain()[id].labels;
  return in_quotes(labels.empty() ? std::to_string(code) : labels[code]);
}

void require_whole_ranges(const ColumnCondition& clause, const Schema& schema) {
  const auto cut = std::ranges::find(clause.truth, Truth::Partly);
  if (cut == clause.truth.end()) return;
  throw UsageError(fmt::format(
      TANDEM_SETTING("where") " cuts the range {} of column {} in two, and a release knows nothing "
                              "inside a range; "
                              "choose a bound between two ranges.",
      label_of(schema, clause.attribute, static_cast<std::size_t>(cut - clause.truth.begin())),
      in_quotes(schema.domain()[clause.attribute].name)));
}

// The codes that a condition leaves a column: all where it says nothing.
ColumnCondition& clause_of(Condition& condition, const Schema& schema, AttributeId id) {
  const auto found = std::ranges::find(condition, id, &ColumnCondition::attribute);
  if (found != condition.end()) return *found;
  condition.push_back({id, std::vector<Truth>(schema.domain()[id].size, Truth::Always)});
  return condition.back();
}

bool allows(const Condition& condition, AttributeId id, std::size_t code) {
  const auto found = std::ranges::find(condition, id, &ColumnCondition::attribute);
  return found == condition.end() || found->truth[code] == Truth::Always;
}

bool allows_none(const ColumnCondition& clause) {
  return std::ranges::find(clause.truth, Truth::Always) == clause.truth.end();
}

// Takes from a condition what cannot occur together with it: where it leaves only impossible values
// on all sides of a box but one, that side's go. Whether that was so.
bool narrow(const ImpossibleBox& box, const Schema& schema, Condition& condition) {
  const ImpossibleBox::Side* open = nullptr;
  for (const auto& side : box.sides) {
    bool outside = false;
    for (std::size_t code = 0; code < side.codes.size() && !outside; ++code) {
      outside = !side.codes[code] && allows(condition, side.attribute, code);
    }
    if (!outside) continue;
    if (open != nullptr) return false;
    open = &side;
  }
  if (open == nullptr) open = &box.sides.front();  // no row is left
  bool any = false;
  auto& truth = clause_of(condition, schema, open->attribute).truth;
  for (std::size_t code = 0; code < truth.size(); ++code) {
    if (!open->codes[code] || truth[code] != Truth::Always) continue;
    truth[code] = Truth::Never;
    any = true;
  }
  return any;
}

// What the schema's rules add to a condition.
void add_implied(const Schema& schema, Condition& condition) {
  std::vector<std::vector<ImpossibleBox>> boxes;
  std::vector<std::string> texts;
  for (const auto& rule : schema.rules()) {
    boxes.push_back(impossible_boxes(std::span<const Rule>(&rule, 1)));
    texts.push_back(rule.text);
  }
  for (const auto& order : schema.relations().orders) {
    boxes.push_back(impossible_boxes(RowRules({}, std::span(&order, 1))));
    texts.push_back(order.text);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      for (const auto& box : boxes[i]) {
        if (!narrow(box, schema, condition)) continue;
        changed = true;
        if (std::ranges::none_of(condition, allows_none)) continue;
        throw UsageError(fmt::format(
            TANDEM_SETTING(
                "where") " asks for rows that cannot occur: the schema says {}; ask for others.",
            in_quotes(texts[i])));
      }
    }
  }
}

std::vector<Restriction> restrictions_of(const Condition& condition) {
  std::vector<Restriction> out;
  for (const auto& clause : condition) {
    Restriction only{clause.attribute, {}};
    for (Code code = 0; code < clause.truth.size(); ++code) {
      if (clause.truth[code] == Truth::Always) only.allowed.push_back(code);
    }
    out.push_back(std::move(only));
  }
  return out;
}

}  // namespace

RowCondition::RowCondition(const std::string& text, const Schema& schema) : text_(text) {
  if (text.empty()) return;
  try {
    std::vector<std::string> derived;
    for (const auto& some : schema.relations().derived) derived.push_back(some.column.name);
    condition_ = parse_condition(text, {schema.columns().begin(), schema.columns().end()}, derived);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format(TANDEM_SETTING("where") ": {}", error.what()));
  }
  for (const auto& clause : condition_) {
    require_whole_ranges(clause, schema);
    if (allows_none(clause)) {
      throw UsageError(
          fmt::format(TANDEM_SETTING("where") " leaves no value of column {}; allow at least one.",
                      in_quotes(schema.domain()[clause.attribute].name)));
    }
  }
  stated_ = condition_;
  add_implied(schema, condition_);
}

bool RowCondition::names(AttributeId id) const {
  return std::ranges::find(stated_, id, &ColumnCondition::attribute) != stated_.end();
}

bool RowCondition::allows(AttributeId id, Code code) const {
  return tandem::allows(stated_, id, code);
}

std::vector<Restriction> RowCondition::stated() const { return restrictions_of(stated_); }

std::vector<Restriction> RowCondition::restrictions() const { return restrictions_of(condition_); }

void RowCondition::settle(const Schema& schema, Table& rows, Rng& rng) const {
  if (schema.row_rules().empty() && empty()) return;
  std::vector<Rule> rules(schema.rules().begin(), schema.rules().end());
  // As a rule for every row, the condition is kept when others are settled.
  if (!empty()) rules.push_back({.text = text_, .when = {}, .then = condition_});
  const RowRules all(rules, schema.relations().orders);
  settle_rows(all, rows, rng);
  if (empty()) return;
  // What still breaks a rule can only be mended by breaking another.
  if (mend_rows(all, rows) > 0 || !holds(rows)) {
    throw UsageError(TANDEM_SETTING(
        "where") " and the rules of the schema leave no rows together; ask for others.");
  }
}

bool RowCondition::holds(const Table& rows) const {
  return std::ranges::all_of(condition_, [&](const ColumnCondition& clause) {
    return rows.column(clause.attribute).visit([&](auto codes) {
      return std::ranges::all_of(codes,
                                 [&](auto code) { return clause.truth[code] == Truth::Always; });
    });
  });
}

}  // namespace tandem
