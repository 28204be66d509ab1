// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a data dictionary says of columns: descriptions, lists of values with labels, bounds.
//
// Two forms are read, as JSON or TOML (docs/formats.md): a dictionary that maps each column to its
// "description" and "values" (value -> label, with "min" and "max" for a range), and a list of
// column types under "schema" ("values" a plain list, "min", "max", "has_null", "null_value").

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/base/document.h"

namespace tandem {

struct CodebookColumn {
  std::string name;
  std::string description;
  struct Value {
    std::string text;   // as it stands in the file
    std::string label;  // what it means, or empty
  };
  std::vector<Value> values;  // beside a range: its special values
  std::optional<double> min;
  std::optional<double> max;
};

class Codebook {
 public:
  Codebook() = default;
  explicit Codebook(std::vector<CodebookColumn> columns) : columns_(std::move(columns)) {}
  static Codebook read(const std::string& path);
  static Codebook from_document(const Document& document);  // UsageError when it is none

  const CodebookColumn* find(std::string_view name) const;  // nullptr when it says nothing of it
  const std::vector<CodebookColumn>& columns() const { return columns_; }

 private:
  std::vector<CodebookColumn> columns_;
};

}  // namespace tandem
