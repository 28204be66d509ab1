// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/condition.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/column_schema.h"
#include "tandem/data/word_reader.h"

namespace tandem {

namespace {

constexpr Code kMostCodes = Code{1} << 21;  // of a column in a condition, which has a byte for each

constexpr std::array<std::pair<std::string_view, Comparison>, 6> kOperators = {
    {{"!=", Comparison::NotEqual},
     {"<=", Comparison::LessOrEqual},
     {">=", Comparison::GreaterOrEqual},
     {"=", Comparison::Equal},
     {"<", Comparison::Less},
     {">", Comparison::Greater}}};

class Parser {
 public:
  Parser(std::string_view text, const std::vector<ColumnSchema>& columns,
         std::span<const std::string> derived)
      : words_(text), columns_(columns), derived_(derived) {}

  Condition parse() {
    Condition out;
    for (;;) {
      add(out, clause());
      if (words_.at_end()) return out;
      if (!words_.take_word("and")) {
        fail(fmt::format("'and' is missing before {}", in_quotes(words_.rest())));
      }
    }
  }

 private:
  ColumnCondition clause() {
    const std::string name = words_.word("a column's name");
    const auto found = std::ranges::find(columns_, name, &ColumnSchema::name);
    if (found == columns_.end()) {
      const bool is_derived = std::ranges::find(derived_, name) != derived_.end();
      fail(in_quotes(name) +
           (is_derived ? " is derived from other columns; name those" : " is not a column"));
    }
    if (found->codec->size() > kMostCodes) {
      fail(fmt::format("column {} has more values than a rule can look at, {}", in_quotes(name),
                       with_commas(kMostCodes)));
    }
    ColumnCondition out{.attribute = static_cast<AttributeId>(found - columns_.begin()),
                        .truth = {}};
    const auto compare = [&](Comparison comparison) {
      const std::string value = words_.word("a value");
      try {
        return found->codec->compare(comparison, value);
      } catch (const UsageError& error) {
        fail(fmt::format("column {} {}", in_quotes(name), error.what()));
      }
    };
    if (words_.take_word("in")) {
      if (!words_.take("(")) fail("'(' is missing after 'in'");
      do {
        const auto next = compare(Comparison::Equal);
        if (out.truth.empty()) out.truth.resize(next.size(), Truth::Never);
        for (std::size_t i = 0; i < next.size(); ++i) {
          out.truth[i] = std::max(out.truth[i], next[i]);
        }
      } while (words_.take(","));
      if (!words_.take(")")) fail("')' is missing after the values of 'in'");
      return out;
    }
    for (const auto& [symbol, comparison] : kOperators) {
      if (!words_.take(symbol)) continue;
      out.truth = compare(comparison);
      return out;
    }
    fail(fmt::format("{} needs =, !=, <, <=, >, >= or 'in' after it", in_quotes(name)));
  }

  static void add(Condition& condition, ColumnCondition clause) {
    const auto same = std::ranges::find(condition, clause.attribute, &ColumnCondition::attribute);
    if (same == condition.end()) {
      condition.push_back(std::move(clause));
      return;
    }
    for (std::size_t i = 0; i < clause.truth.size(); ++i) {
      same->truth[i] = std::min(same->truth[i], clause.truth[i]);
    }
  }

  [[noreturn]] static void fail(const std::string& problem) { throw UsageError(problem); }

  WordReader words_;
  const std::vector<ColumnSchema>& columns_;
  std::span<const std::string> derived_;
};

}  // namespace

Condition parse_condition(std::string_view text, const std::vector<ColumnSchema>& columns,
                          std::span<const std::string> derived) {
  try {
    return Parser(text, columns, derived).parse();
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("the condition {} can't be read: {}.", in_quotes(text), error.what()));
  }
}

}  // namespace tandem
