// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/schema.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/possible_row.h"

namespace tandem {

namespace {

constexpr std::size_t kMostListedColumns = std::size_t{1} << 16;
constexpr int kFormat = 1;

void check_version(const Document& document) {
  const auto* format = document.find("format");
  if (format != nullptr && format->as_integer() != kFormat) {
    format->fail(fmt::format("is {}, and this tandem reads {}; use a tandem that knows it.",
                             format->as_integer(), kFormat));
  }
}

// What a draft was made from (engine/draft/drafted_from.h); nothing here depends on it.
bool is_origin(std::string_view text) {
  if (text.starts_with("table:")) return is_sha256_hex(text.substr(6));
  const auto dash = std::min(text.find('-'), text.size());
  return is_sha256_hex(text.substr(0, dash)) &&
         (dash == text.size() || is_sha256_hex(text.substr(dash + 1)));
}

void check_origin(const Document& document) {
  const auto* origins = document.find("drafted_from");
  if (origins == nullptr) return;
  for (const auto& origin : origins->as_array()) {
    if (!is_origin(origin.as_string())) {
      origin.fail("is no digest of what a schema was drafted from; leave it as it was drafted.");
    }
  }
}

char read_character(const Document& value) {
  const auto character = parse_character(value.as_string());
  if (!character) {
    value.fail(fmt::format("is {}; write one character, or 'tab'.", in_quotes(value.as_string())));
  }
  return *character;
}

TextFormat read_format(const Document& document) {
  static constexpr std::array<std::string_view, 5> kKeys = {"encoding", "delimiter", "quote",
                                                            "decimal", "records"};
  document.allow_only(kKeys);
  TextFormat format;
  if (const auto* encoding = document.find("encoding")) {
    const auto known = parse_encoding(encoding->as_string());
    if (!known) {
      encoding->fail(fmt::format("is {}; choose 'utf-8', 'latin-1', 'utf-16le' or 'utf-16be'.",
                                 in_quotes(encoding->as_string())));
    }
    format.encoding = *known;
  }
  if (const auto* delimiter = document.find("delimiter")) {
    format.delimiter = read_character(*delimiter);
  }
  if (const auto* quote = document.find("quote")) format.quote = read_character(*quote);
  if (const auto* decimal = document.find("decimal")) {
    format.decimal_mark = read_character(*decimal);
    if (format.decimal_mark != '.' && format.decimal_mark != ',') {
      decimal->fail(fmt::format("is {}; choose '.' or ','.", in_quotes(decimal->as_string())));
    }
  }
  if (const auto* records = document.find("records")) {
    const auto known = parse_records(records->as_string());
    if (!known) {
      records->fail(
          fmt::format("is {}; choose 'lines' or 'quoted'.", in_quotes(records->as_string())));
    }
    format.records = *known;
  }
  try {
    require_usable(format);
  } catch (const SchemaError& error) {
    document.fail(fmt::format("can't be used: {}", error.what()));
  }
  return format;
}

void require_few(std::size_t columns, const Document& document) {
  if (columns <= kMostListedColumns) return;
  document.fail(fmt::format("has {} columns; the most is {}.", with_commas(columns),
                            with_commas(kMostListedColumns)));
}

Rule read_rule(const Document& document, const std::vector<ColumnSchema>& columns,
               std::span<const std::string> derived) {
  static constexpr std::array<std::string_view, 3> kKeys = {"if", "then", "description"};
  document.allow_only(kKeys);
  const auto condition = [&](const Document& text) {
    try {
      return parse_condition(text.as_string(), columns, derived);
    } catch (const UsageError& error) {
      text.fail(fmt::format("is wrong: {}", error.what()));
    }
  };
  const auto& when = document.at("if");
  const auto& then = document.at("then");
  Rule rule{.text = fmt::format("if {} then {}", when.as_string(), then.as_string()),
            .when = condition(when),
            .then = condition(then)};
  for (const auto& clause : rule.then) {
    if (std::ranges::max(clause.truth) == Truth::Never) {
      then.fail(fmt::format("can't be fulfilled: no value of {} does.",
                            in_quotes(columns[clause.attribute].name)));
    }
  }
  // A rule that does nothing would go unnoticed; mostly a range wants to be cut.
  for (const auto& clause : rule.when) {
    if (std::ranges::max(clause.truth) != Truth::Always) {
      when.fail(
          fmt::format("never holds: no value or whole range of {} fulfils it; cut ranges "
                      "where the rule begins.",
                      in_quotes(columns[clause.attribute].name)));
    }
  }
  if (impossible_boxes(std::span<const Rule>(&rule, 1)).empty()) {
    then.fail("rules nothing out: every value or range fulfils it, at least in part.");
  }
  return rule;
}

}  // namespace

namespace {

// A list under its plural name or, as TOML reads best, under its singular; null without either.
const Document* either(const Document& document, std::string_view plural,
                       std::string_view singular) {
  const Document* many = document.find(plural);
  const Document* one = document.find(singular);
  if (many != nullptr && one != nullptr) {
    document.fail(
        fmt::format("has both {} and {}; keep one.", in_quotes(plural), in_quotes(singular)));
  }
  return many != nullptr ? many : one;
}

// UsageError for the first order with which no row is left. Rules that leave none by themselves are
// found when they are first used.
void require_row(const Schema& schema, const Document& relations) {
  if (schema.relations().orders.empty()) return;
  auto boxes = impossible_boxes(schema.rules());
  if (!may_have_row(schema.domain(), boxes)) return;
  for (const auto& order : schema.relations().orders) {
    for (auto& box : impossible_boxes(RowRules({}, std::span(&order, 1)))) {
      boxes.push_back(std::move(box));
    }
    if (may_have_row(schema.domain(), boxes)) continue;
    relations.fail(
        fmt::format("can't be kept: with {} the rules and other relations leave no row; loosen "
                    "one of them.",
                    in_quotes(order.text)));
  }
}

}  // namespace

Schema::Schema(std::vector<ColumnSchema> columns, TextFormat format, std::vector<Rule> rules,
               Relations relations)
    : columns_(std::move(columns)),
      format_(format),
      rules_(std::move(rules)),
      relations_(std::move(relations)) {
  std::vector<Attribute> attributes;
  attributes.reserve(columns_.size());
  for (const auto& column : columns_) {
    attributes.push_back({.name = column.name,
                          .size = column.codec->size(),
                          .labels = column.codec->labels(),
                          .ordered = column.codec->ordered()});
  }
  std::vector<std::string> derived;
  for (const auto& some : relations_.derived) derived.push_back(some.column.name);
  domain_ = Domain(std::move(attributes), std::move(derived));
}

Schema Schema::with_format(TextFormat format) const {
  Schema out = *this;
  out.format_ = format;
  return out;
}

Schema Schema::with_codecs(std::vector<std::shared_ptr<const Codec>> codecs) const {
  Schema out = *this;
  check(codecs.size() == columns_.size(), "each column has a codec");
  for (std::size_t i = 0; i < codecs.size(); ++i) {
    check(codecs[i]->size() == columns_[i].codec->size(), "a column keeps its codes");
    out.columns_[i].codec = std::move(codecs[i]);
  }
  return out;
}

Schema Schema::read(const std::string& path) { return from_document(Document::read(path)); }

Schema Schema::from_document(const Document& document) {
  if (!document.is_object()) {
    document.fail("is not a schema; it holds a table of columns (docs/schema.md).");
  }
  std::vector<ColumnSchema> columns;
  TextFormat format;
  std::vector<Rule> rules;
  Relations relations;
  const Document* relation_list = nullptr;
  const Document* list = document.find("columns");
  const Document* singular = document.find("column");  // TOML's [[column]] reads best so
  if (list != nullptr && list->is_array() && singular != nullptr) {
    document.fail("has both 'columns' and 'column'; keep one.");
  }
  if (list == nullptr) list = singular;
  if (list != nullptr && list->is_array()) {
    static constexpr std::array<std::string_view, 10> kKeys = {
        "format", "columns", "column",    "description", "csv",
        "rules",  "rule",    "relations", "relation",    "drafted_from"};
    document.allow_only(kKeys);
    check_version(document);
    check_origin(document);
    require_few(list->as_array().size(), document);
    for (const auto& column : list->as_array()) {
      if (is_numbered(column)) {
        append_numbered(column, columns);
      } else {
        columns.push_back(read_column(column));
      }
    }
    if (const auto* csv = document.find("csv")) format = read_format(*csv);
    relation_list = either(document, "relations", "relation");
    if (relation_list != nullptr) relations = read_relations(*relation_list, columns);
    std::vector<std::string> derived;
    for (const auto& some : relations.derived) derived.push_back(some.column.name);
    if (const auto* rule_list = either(document, "rules", "rule")) {
      for (const auto& item : rule_list->as_array()) {
        rules.push_back(read_rule(item, columns, derived));
      }
    }
  } else {
    // private-pgm's {"age": 85, "sex": 2}: every member a column with its size.
    require_few(document.as_object().size(), document);
    for (const auto& [name, size] : document.as_object()) {
      if (!size.is_integer()) {
        size.fail(
            fmt::format("is {}; expected a column's number of values, or a schema with "
                        "'columns' (docs/schema.md).",
                        size.type_name()));
      }
      const auto codes = static_cast<Code>(size.as_integer(1, kLargestAttribute));
      columns.push_back({.name = name,
                         .description = {},
                         .codec = coded_codec(codes),
                         .cells = {.kind = CellMeaning::Kind::Coded}});
    }
  }
  if (columns.empty()) document.fail("has no columns; add at least one.");
  try {
    Schema schema(std::move(columns), format, std::move(rules), std::move(relations));
    if (relation_list != nullptr) require_row(schema, *relation_list);
    return schema;
  } catch (const SchemaError& error) {
    throw SchemaError(document.where() + ": " + error.what());
  }
}

}  // namespace tandem
