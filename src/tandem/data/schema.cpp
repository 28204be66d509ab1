// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/schema.h"

#include <fmt/core.h>

#include <array>
#include <unordered_map>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

constexpr std::int64_t kLargestAttribute = std::int64_t{1} << 31;
constexpr std::size_t kMostColumns = std::size_t{1} << 16;
constexpr int kFormat = 1;

// A value as it stands in the file: a string, or a whole number.
std::string value_text(const Document& value) {
  if (value.is_string()) return value.as_string();
  if (value.is_integer()) return std::to_string(value.as_integer());
  value.fail(fmt::format("is {}; write it as a string, the way it stands in the file.",
                         value.type_name()));
}

std::shared_ptr<const Codec> categorical(const Document& column) {
  const Document* size = column.find("size");
  const Document* values = column.find("values");
  if ((size == nullptr) == (values == nullptr)) {
    column.fail("needs either 'values', the list of its values, or 'size', for codes 0 to size-1.");
  }
  if (size != nullptr) {
    if (const auto* unknown = column.find("unknown")) {
      unknown->fail("goes with 'values'; a code beyond 'size' becomes the nearest one.");
    }
    return coded_codec(static_cast<Code>(size->as_integer(1, kLargestAttribute)));
  }

  std::vector<std::string> texts;
  std::unordered_map<std::string, Code> codes;
  for (const auto& value : values->as_array()) {
    texts.push_back(value_text(value));
    if (!codes.emplace(texts.back(), static_cast<Code>(texts.size() - 1)).second) {
      value.fail(fmt::format("repeats {}; keep one.", in_quotes(texts.back())));
    }
  }
  if (texts.empty()) values->fail("is empty; a column needs at least one value.");

  Code unknown_code = 0;
  if (const auto* unknown = column.find("unknown")) {
    const auto found = codes.find(value_text(*unknown));
    if (found == codes.end()) unknown->fail("is not among 'values'; add it there.");
    unknown_code = found->second;
  }
  return labelled_codec(std::move(texts), unknown_code);
}

ColumnSchema column_from(const Document& document) {
  static constexpr std::array<std::string_view, 6> kKeys = {"name", "kind",    "values",
                                                            "size", "unknown", "description"};
  document.allow_only(kKeys);
  ColumnSchema column;
  column.name = document.at("name").as_string();
  if (const auto* text = document.find("description")) column.description = text->as_string();
  if (const auto* kind = document.find("kind"); kind && kind->as_string() != "categorical") {
    kind->fail(fmt::format("is {}; choose 'categorical'.", in_quotes(kind->as_string())));
  }
  column.codec = categorical(document);
  return column;
}

void check_format(const Document& document) {
  const auto* format = document.find("format");
  if (format != nullptr && format->as_integer() != kFormat) {
    format->fail(fmt::format("is {}, and this tandem reads {}; use a tandem that knows it.",
                             format->as_integer(), kFormat));
  }
}

}  // namespace

Schema::Schema(std::vector<ColumnSchema> columns, TextFormat format)
    : columns_(std::move(columns)), format_(format) {
  std::vector<Attribute> attributes;
  attributes.reserve(columns_.size());
  for (const auto& column : columns_) {
    attributes.push_back(
        {.name = column.name, .size = column.codec->size(), .labels = column.codec->labels()});
  }
  domain_ = Domain(std::move(attributes));
}

Schema Schema::read(const std::string& path) { return from_document(Document::read(path)); }

Schema Schema::from_document(const Document& document) {
  if (!document.is_object()) {
    document.fail("is not a schema; it holds a table of columns (docs/schema.md).");
  }
  std::vector<ColumnSchema> columns;
  const Document* list = document.find("columns");
  const Document* singular = document.find("column");  // TOML's [[column]] reads best so
  if (list != nullptr && list->is_array() && singular != nullptr) {
    document.fail("has both 'columns' and 'column'; keep one.");
  }
  if (list == nullptr) list = singular;
  if (list != nullptr && list->is_array()) {
    static constexpr std::array<std::string_view, 4> kKeys = {"format", "columns", "column",
                                                              "description"};
    document.allow_only(kKeys);
    check_format(document);
    for (const auto& column : list->as_array()) columns.push_back(column_from(column));
  } else {
    // private-pgm's {"age": 85, "sex": 2}: every member a column with its size.
    for (const auto& [name, size] : document.as_object()) {
      if (!size.is_integer()) {
        size.fail(
            fmt::format("is {}; expected a column's number of values, or a schema with "
                        "'columns' (docs/schema.md).",
                        size.type_name()));
      }
      const auto codes = static_cast<Code>(size.as_integer(1, kLargestAttribute));
      columns.push_back({.name = name, .description = {}, .codec = coded_codec(codes)});
    }
  }
  if (columns.empty()) document.fail("has no columns; add at least one.");
  if (columns.size() > kMostColumns) {
    document.fail(fmt::format("has {} columns; the most is {}.", with_commas(columns.size()),
                              with_commas(kMostColumns)));
  }
  try {
    return Schema(std::move(columns));
  } catch (const SchemaError& error) {
    throw SchemaError(document.where() + ": " + error.what());
  }
}

}  // namespace tandem
