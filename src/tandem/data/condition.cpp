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
  Parser(std::string_view text, const std::vector<ColumnSchema>& columns)
      : whole_(text), rest_(text), columns_(columns) {}

  Condition parse() {
    Condition out;
    for (;;) {
      add(out, clause());
      skip_space();
      if (rest_.empty()) return out;
      if (!take_word("and")) fail(fmt::format("'and' is missing before {}", in_quotes(rest_)));
    }
  }

 private:
  ColumnCondition clause() {
    const std::string name = word("a column's name");
    const auto found = std::ranges::find(columns_, name, &ColumnSchema::name);
    if (found == columns_.end()) fail(fmt::format("{} is not a column", in_quotes(name)));
    if (found->codec->size() > kMostCodes) {
      fail(fmt::format("column {} has more values than a rule can look at, {}", in_quotes(name),
                       with_commas(kMostCodes)));
    }
    ColumnCondition out{.attribute = static_cast<AttributeId>(found - columns_.begin()),
                        .truth = {}};
    const auto compare = [&](Comparison comparison) {
      const std::string value = word("a value");
      try {
        return found->codec->compare(comparison, value);
      } catch (const UsageError& error) {
        fail(fmt::format("column {} {}", in_quotes(name), error.what()));
      }
    };
    if (take_word("in")) {
      if (!take("(")) fail("'(' is missing after 'in'");
      do {
        const auto next = compare(Comparison::Equal);
        if (out.truth.empty()) out.truth.resize(next.size(), Truth::Never);
        for (std::size_t i = 0; i < next.size(); ++i) {
          out.truth[i] = std::max(out.truth[i], next[i]);
        }
      } while (take(","));
      if (!take(")")) fail("')' is missing after the values of 'in'");
      return out;
    }
    for (const auto& [symbol, comparison] : kOperators) {
      if (!take(symbol)) continue;
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

  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size()));
  }

  bool take(std::string_view symbol) {
    skip_space();
    if (!rest_.starts_with(symbol)) return false;
    rest_.remove_prefix(symbol.size());
    return true;
  }

  bool take_word(std::string_view keyword) {
    skip_space();
    const auto bare = rest_.substr(0, rest_.find_first_of(kEndsOfWord));
    if (bare != keyword) return false;
    rest_.remove_prefix(keyword.size());
    return true;
  }

  std::string word(std::string_view what) {
    skip_space();
    if (rest_.starts_with('\'') || rest_.starts_with('"')) {
      const auto end = rest_.find(rest_[0], 1);
      if (end == std::string_view::npos) fail("a quote is never closed");
      std::string out(rest_.substr(1, end - 1));
      rest_.remove_prefix(end + 1);
      return out;
    }
    const auto bare = rest_.substr(0, rest_.find_first_of(kEndsOfWord));
    if (bare.empty()) fail(fmt::format("{} is missing", what));
    rest_.remove_prefix(bare.size());
    return std::string(bare);
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw UsageError(
        fmt::format("the condition {} can't be read: {}.", in_quotes(whole_), problem));
  }

  static constexpr std::string_view kSpace = " \t\r\n";
  static constexpr std::string_view kEndsOfWord = " \t\r\n=!<>(),'\"";

  std::string_view whole_;
  std::string_view rest_;
  const std::vector<ColumnSchema>& columns_;
};

}  // namespace

Condition parse_condition(std::string_view text, const std::vector<ColumnSchema>& columns) {
  return Parser(text, columns).parse();
}

}  // namespace tandem
