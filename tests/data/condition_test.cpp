// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/condition.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.h"
#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/data/column_schema.h"

namespace tandem {
namespace {

using test::error_of;

constexpr const char* kColumns = R"toml(
[[column]]
name = "age"
kind = "integer"
min = 0
max = 30
edges = [5, 6, 15]
special = "N"
null = ["", "NA"]
[[column]]
name = "score"
kind = "real"
min = -0.5
max = 0.5
bins = 4
[[column]]
name = "born"
kind = "date"
pattern = "%m/%Y"
min = "11/1968"
max = "12/1971"
bins = "year"
[[column]]
name = "marital status"
values = ["single", "married", "it's (over)", "and"]
[[column]]
name = "level"
kind = "ordinal"
values = ["low", "mid", "high"]
other = "else"
[[column]]
name = "flag"
kind = "boolean"
[[column]]
name = "code"
size = 5
[[column]]
name = "huge"
size = 2147483648
)toml";

const std::vector<ColumnSchema>& columns() {
  static const auto kRead = [] {
    std::vector<ColumnSchema> out;
    const auto document = Document::parse_toml(kColumns, "c.toml");
    for (const auto& column : document.at("column").as_array()) out.push_back(read_column(column));
    return out;
  }();
  return kRead;
}

// A column as the brute-force evaluator knows it: its values in order, and those beside the order.
struct KnownColumn {
  std::string name;
  std::vector<std::string> values;
  std::vector<std::string> extras;
  bool ordered = true;
};

const std::vector<KnownColumn>& known_columns() {
  static const auto kKnown = [] {
    std::vector<KnownColumn> out = {
        {"age", {}, {"N", ""}},
        {"score", {}, {}},
        {"born", {}, {}},
        {"marital status", {"single", "married", "it's (over)", "and"}, {}, false},
        {"level", {"low", "mid", "high"}, {"else"}},
        {"flag", {"false", "true"}, {}},
        {"code", {"0", "1", "2", "3", "4"}, {}}};
    for (int age = 0; age <= 30; ++age) out[0].values.push_back(std::to_string(age));
    for (int tenth = -5; tenth <= 5; ++tenth) {
      out[1].values.push_back(fmt::format("{:.1f}", tenth / 10.0));
    }
    out[2].values = {"11/1968", "12/1968"};
    for (int year = 1969; year <= 1971; ++year) {
      for (int month = 1; month <= 12; ++month) {
        out[2].values.push_back(fmt::format("{:02}/{}", month, year));
      }
    }
    return out;
  }();
  return kKnown;
}

constexpr std::array<const char*, 6> kOperators = {"=", "!=", "<", "<=", ">", ">="};

struct Clause {
  std::size_t column = 0;
  int comparison = -1;  // of kOperators, or -1 for 'in'
  std::vector<std::string> values;

  bool fulfilled_by(const std::string& text) const {
    if (comparison < 0) return std::ranges::find(values, text) != values.end();
    if (comparison == 0) return text == values[0];
    if (comparison == 1) return text != values[0];
    const auto& all = known_columns()[column].values;
    const auto left = std::ranges::find(all, text) - all.begin();
    const auto right = std::ranges::find(all, values[0]) - all.begin();
    if (left == std::ssize(all)) return false;  // an extra
    const std::array<bool, 4> holds = {left<right, left <= right, left> right, left >= right};
    return holds[static_cast<std::size_t>(comparison - 2)];
  }
};

std::string any_space(bool needed) {
  return *rc::gen::element<std::string>(needed ? " " : "", " ", " \t", "\n ", "\r\n");
}

std::string written(const std::string& text) {
  const bool bare = !text.empty() && text.find_first_of(" \t\n=!<>(),'\"") == std::string::npos;
  if (bare && *rc::gen::arbitrary<bool>()) return text;
  const bool apostrophe = text.find('\'') != std::string::npos;
  return apostrophe || *rc::gen::arbitrary<bool>() ? '"' + text + '"' : "'" + text + "'";
}

Clause any_clause() {
  Clause out;
  out.column = *rc::gen::inRange<std::size_t>(0, known_columns().size());
  const auto& column = known_columns()[out.column];
  out.comparison = *rc::gen::inRange(-1, column.ordered ? 6 : 2);
  auto choices = column.values;
  if (out.comparison < 2) {
    choices.insert(choices.end(), column.extras.begin(), column.extras.end());
  }
  const int count = out.comparison < 0 ? *rc::gen::inRange(1, 5) : 1;
  for (int i = 0; i < count; ++i) out.values.push_back(*rc::gen::elementOf(choices));
  return out;
}

std::string written(const Clause& clause) {
  std::string out = written(known_columns()[clause.column].name);
  if (clause.comparison >= 0) {
    return out + any_space(false) + kOperators[static_cast<std::size_t>(clause.comparison)] +
           any_space(false) + written(clause.values[0]);
  }
  out += any_space(true) + "in" + any_space(false) + "(";
  for (std::size_t i = 0; i < clause.values.size(); ++i) {
    out += (i > 0 ? "," : "") + any_space(false) + written(clause.values[i]) + any_space(false);
  }
  return out + ")";
}

RC_GTEST_PROP(Condition, SaysOfEveryCodeWhatHoldsForItsValues, ()) {
  std::vector<Clause> clauses;
  std::string text;
  for (int i = *rc::gen::inRange(1, 5); i > 0; --i) {
    clauses.push_back(any_clause());
    if (!text.empty()) text += any_space(true) + "and" + any_space(true);
    text += written(clauses.back());
  }
  const auto condition = parse_condition(text, columns());
  for (const auto& found : condition) {
    const auto attribute = found.attribute;
    const auto& truth = found.truth;
    const auto& known = known_columns()[attribute];
    const auto& codec = *columns()[attribute].codec;
    RC_ASSERT(truth.size() == codec.size());
    std::vector<std::array<int, 2>> counts(codec.size());  // values that don't, and that do
    const auto own = [&](const Clause& clause) { return clause.column == attribute; };
    for (const auto* texts : {&known.values, &known.extras}) {
      for (const auto& value : *texts) {
        const bool holds = std::ranges::all_of(
            clauses, [&](const auto& c) { return !own(c) || c.fulfilled_by(value); });
        ++counts[codec.encode(value).code][holds ? 1 : 0];
      }
    }
    // One comparison is exact; several of them, and lists, may leave a range in doubt.
    const auto first = std::ranges::find_if(clauses, own);
    const bool single = std::ranges::count_if(clauses, own) == 1 && first->comparison >= 0;
    for (Code code = 0; code < codec.size(); ++code) {
      const auto [no, yes] = counts[code];
      RC_ASSERT(no + yes > 0);
      if (truth[code] == Truth::Always) RC_ASSERT(no == 0);
      if (truth[code] == Truth::Never) RC_ASSERT(yes == 0);
      if (truth[code] == Truth::Partly && (single || no + yes == 1)) RC_ASSERT(no > 0 && yes > 0);
    }
  }
  std::vector<AttributeId> named;
  for (const auto& clause : condition) named.push_back(clause.attribute);
  std::ranges::sort(named);
  RC_ASSERT(std::ranges::adjacent_find(named) == named.end());  // each column once
}

TEST(Condition, SaysWhatIsWrong) {
  const struct {
    const char* text;
    const char* problem;
  } cases[] = {
      {"", "a column's name is missing"},
      {"  ", "a column's name is missing"},
      {"= 5", "a column's name is missing"},
      {"ages < 5", "'ages' is not a column"},
      {"age", "'age' needs =, !=, <, <=, >, >= or 'in' after it"},
      {"age is 5", "'age' needs =, !=, <, <=, >, >= or 'in' after it"},
      {"age <", "a value is missing"},
      {"age == 5", "a value is missing"},
      {"age <> 5", "a value is missing"},
      {"age < 5 or code = 1", "'and' is missing before 'or code = 1'"},
      {"age < 5 code = 1", "'and' is missing before 'code = 1'"},
      {"age < 5 and", "a column's name is missing"},
      {"age < '5", "a quote is never closed"},
      {"age in 5", "'(' is missing after 'in'"},
      {"age in (5", "')' is missing after the values of 'in'"},
      {"age in ()", "a value is missing"},
      {"age in (5,)", "a value is missing"},
      {"age < x", "column 'age' is compared with 'x', which is not a whole number"},
      {"age < N", "column 'age' has 'N' beside its range; compare it with = or !="},
      {"score < x", "column 'score' is compared with 'x', which is not a number"},
      {"born < 1970", "column 'born' is compared with '1970', which is not a date"},
      {"'marital status' = widowed", "column 'marital status' has no value 'widowed'"},
      {"'marital status' < married",
       "column 'marital status' has values without an order; compare with = or !=, or make it "
       "ordinal"},
      {"code = 5", "column 'code' has no value '5'"},
      {"code = -1", "column 'code' has no value '-1'"},
      {"flag = maybe", "column 'flag' has no value 'maybe'"},
      {"huge = 1", "column 'huge' has more values than a rule can look at, 2,097,152"}};
  for (const auto& [text, problem] : cases) {
    const std::string condition = text;
    EXPECT_EQ(error_of<UsageError>([&] { parse_condition(condition, columns()); }),
              fmt::format("the condition '{}' can't be read: {}.", text, problem));
  }
}

RC_GTEST_PROP(Condition, AnyTextIsReadOrRefused, (const std::string& text)) {
  for (const std::string& whole : {text, "age < " + text, "age in (5" + text}) {
    try {
      RC_ASSERT(!parse_condition(whole, columns()).empty());
    } catch (const UsageError& error) {
      RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
}

}  // namespace
}  // namespace tandem
