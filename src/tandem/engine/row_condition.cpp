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
      "--where cuts the range {} of column {} in two, and a release knows nothing inside a range; "
      "choose a bound between two ranges.",
      label_of(schema, clause.attribute, static_cast<std::size_t>(cut - clause.truth.begin())),
      in_quotes(schema.domain()[clause.attribute].name)));
}

// Whether a rule says that no row can fulfil the condition.
bool excludes(const Rule& rule, const Condition& condition) {
  const auto allows_outside = [&](const ImpossibleBox::Side& side) {
    const auto clause = std::ranges::find(condition, side.attribute, &ColumnCondition::attribute);
    if (clause == condition.end()) {
      return std::ranges::find(side.codes, false) != side.codes.end();
    }
    for (std::size_t code = 0; code < side.codes.size(); ++code) {
      if (clause->truth[code] == Truth::Always && !side.codes[code]) return true;
    }
    return false;
  };
  return std::ranges::any_of(impossible_boxes(std::span(&rule, 1)), [&](const auto& box) {
    return std::ranges::none_of(box.sides, allows_outside);
  });
}

}  // namespace

RowCondition::RowCondition(const std::string& text, const Schema& schema) : text_(text) {
  if (text.empty()) return;
  try {
    condition_ = parse_condition(text, {schema.columns().begin(), schema.columns().end()});
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--where: {}", error.what()));
  }
  for (const auto& clause : condition_) {
    require_whole_ranges(clause, schema);
    if (std::ranges::find(clause.truth, Truth::Always) == clause.truth.end()) {
      throw UsageError(fmt::format("--where leaves no value of column {}; allow at least one.",
                                   in_quotes(schema.domain()[clause.attribute].name)));
    }
  }
  for (const auto& rule : schema.rules()) {
    if (excludes(rule, condition_)) {
      throw UsageError(fmt::format(
          "--where asks for rows that cannot occur: the schema says {}; ask for others.",
          in_quotes(rule.text)));
    }
  }
}

std::vector<Restriction> RowCondition::restrictions() const {
  std::vector<Restriction> out;
  for (const auto& clause : condition_) {
    Restriction only{clause.attribute, {}};
    for (Code code = 0; code < clause.truth.size(); ++code) {
      if (clause.truth[code] == Truth::Always) only.allowed.push_back(code);
    }
    out.push_back(std::move(only));
  }
  return out;
}

void RowCondition::settle(const Schema& schema, Table& rows, Rng& rng) const {
  if (schema.rules().empty()) return;
  std::vector<Rule> rules(schema.rules().begin(), schema.rules().end());
  // As a rule for every row, the condition is kept when others are settled.
  if (!empty()) rules.push_back({.text = text_, .when = {}, .then = condition_});
  settle_rows(rules, rows, rng);
  for (const auto& clause : condition_) {
    const bool kept = rows.column(clause.attribute).visit([&](auto codes) {
      return std::ranges::all_of(codes,
                                 [&](auto code) { return clause.truth[code] == Truth::Always; });
    });
    if (!kept) {
      throw UsageError(
          "--where and the rules of the schema leave no rows together; ask for others.");
    }
  }
}

}  // namespace tandem
