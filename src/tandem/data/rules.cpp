// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/rules.h"

#include <algorithm>
#include <cstdint>

namespace tandem {

namespace {

std::vector<bool> codes_with(const ColumnCondition& condition, Truth truth) {
  std::vector<bool> out;
  for (const Truth t : condition.truth) out.push_back(t == truth);
  return out;
}

// The code a row takes that breaks a condition: the first that fulfils it, wholly if one does.
Code first_fulfilling(const ColumnCondition& condition) {
  const auto best = std::ranges::max_element(condition.truth);  // the first of the largest
  return static_cast<Code>(best - condition.truth.begin());
}

// Marks the rows it changes; true when there are any.
bool mend_by(const Rule& rule, Table& table, std::vector<std::uint8_t>& changed) {
  std::vector<std::uint8_t> applies(table.rows(), 1);
  for (const auto& [attribute, truth] : rule.when) {
    table.column(attribute).visit([&](auto codes) {
      for (std::size_t r = 0; r < codes.size(); ++r) applies[r] &= truth[codes[r]] == Truth::Always;
    });
  }
  bool any = false;
  for (const auto& clause : rule.then) {
    const Code mended = first_fulfilling(clause);
    if (clause.truth[mended] == Truth::Never) continue;  // nothing fulfils it
    table.column(clause.attribute).visit([&](auto codes) {
      for (std::size_t r = 0; r < codes.size(); ++r) {
        if (applies[r] == 0 || clause.truth[codes[r]] != Truth::Never) continue;
        codes[r] = static_cast<typename decltype(codes)::value_type>(mended);
        changed[r] = 1;
        any = true;
      }
    });
  }
  return any;
}

}  // namespace

std::vector<ImpossibleBox> impossible_boxes(std::span<const Rule> rules) {
  std::vector<ImpossibleBox> out;
  for (const auto& rule : rules) {
    for (const auto& clause : rule.then) {
      ImpossibleBox box;
      for (const auto& when : rule.when) {
        box.sides.push_back(
            {.attribute = when.attribute, .codes = codes_with(when, Truth::Always)});
      }
      auto excluded = codes_with(clause, Truth::Never);
      const auto same =
          std::ranges::find(box.sides, clause.attribute, &ImpossibleBox::Side::attribute);
      if (same == box.sides.end()) {
        box.sides.push_back({.attribute = clause.attribute, .codes = std::move(excluded)});
      } else {
        for (std::size_t i = 0; i < excluded.size(); ++i) {
          same->codes[i] = same->codes[i] && excluded[i];
        }
      }
      const bool empty = std::ranges::any_of(
          box.sides, [](const auto& side) { return std::ranges::count(side.codes, true) == 0; });
      if (!empty) out.push_back(std::move(box));
    }
  }
  return out;
}

std::size_t mend_rows(std::span<const Rule> rules, Table& table) {
  std::vector<std::uint8_t> changed(rules.empty() ? 0 : table.rows(), 0);
  for (std::size_t pass = 0; pass < rules.size(); ++pass) {
    bool any = false;
    for (const auto& rule : rules) any = mend_by(rule, table, changed) || any;
    if (!any) break;
  }
  return static_cast<std::size_t>(std::ranges::count(changed, 1));
}

}  // namespace tandem
