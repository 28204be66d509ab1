// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/codebook.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>

#include "tandem/base/text.h"

namespace tandem {

namespace {

std::string text_of(const Document& value) {
  if (value.is_string()) return value.as_string();
  if (value.is_integer()) return std::to_string(value.as_integer());
  return fmt::format("{}", value.as_number());  // an error that says where, unless it is a number
}

// Bounds are numbers, or texts that hold one.
double bound_of(const Document& value) {
  if (!value.is_string()) return value.as_number();
  const auto number = parse_number(trim(value.as_string()));
  if (!number) value.fail(fmt::format("is {}, not a number.", in_quotes(value.as_string())));
  return *number;
}

void read_values(const Document& values, CodebookColumn& column) {
  std::unordered_set<std::string> seen;
  const auto add = [&](const Document& at, std::string text, std::string label) {
    if (!seen.insert(text).second) {
      at.fail(fmt::format("repeats {}; keep one.", in_quotes(text)));
    }
    column.values.push_back({std::move(text), std::move(label)});
  };
  if (values.is_array()) {
    for (const auto& value : values.as_array()) add(value, text_of(value), "");
    return;
  }
  for (const auto& [text, label] : values.as_object()) {
    if (text == "min") {
      column.min = bound_of(label);
    } else if (text == "max") {
      column.max = bound_of(label);
    } else {
      add(label, text, label.is_null() ? "" : text_of(label));
    }
  }
}

CodebookColumn read_entry(const std::string& name, const Document& entry) {
  CodebookColumn column;
  column.name = name;
  if (!entry.is_object()) {
    entry.fail(
        fmt::format("is {}; a codebook holds an object for each column, with its "
                    "'description' and 'values' (docs/schema.md).",
                    entry.type_name()));
  }
  if (const auto* text = entry.find("description")) column.description = text_of(*text);
  if (const auto* values = entry.find("values")) read_values(*values, column);
  if (const auto* min = entry.find("min")) column.min = bound_of(*min);
  if (const auto* max = entry.find("max")) column.max = bound_of(*max);
  if (const auto* null = entry.find("null_value")) {
    const std::string text = text_of(*null);
    const bool listed =
        std::ranges::any_of(column.values, [&](const auto& value) { return value.text == text; });
    if (!listed) column.values.push_back({text, "null"});
  }
  if (column.min.has_value() != column.max.has_value()) {
    entry.fail("has only one of 'min' and 'max'; give both or none.");
  }
  if (column.min && *column.min > *column.max) entry.fail("has a 'max' below its 'min'.");
  return column;
}

}  // namespace

Codebook Codebook::read(const std::string& path) { return from_document(Document::read(path)); }

Codebook Codebook::from_document(const Document& document) {
  if (!document.is_object()) document.fail("is not a codebook; it holds an object of columns.");
  const auto* types = document.find("schema");
  const Document& list = types != nullptr && types->is_object() ? *types : document;
  std::vector<CodebookColumn> columns;
  for (const auto& [name, entry] : list.as_object()) columns.push_back(read_entry(name, entry));
  return Codebook(std::move(columns));
}

const CodebookColumn* Codebook::find(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name, &CodebookColumn::name);
  return found == columns_.end() ? nullptr : &*found;
}

}  // namespace tandem
