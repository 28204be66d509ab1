// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the columns of a table are: public knowledge that turns raw rows into codes and back.
//
// Read from TOML, from JSON with the same keys, or from private-pgm's plain {"column": size} JSON.
// docs/schema.md describes the format.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/data/column_schema.h"
#include "tandem/data/domain.h"
#include "tandem/data/rules.h"
#include "tandem/data/text_format.h"

namespace tandem {

class Schema {
 public:
  Schema() = default;
  explicit Schema(std::vector<ColumnSchema> columns, TextFormat format = {},
                  std::vector<Rule> rules = {});
  static Schema read(const std::string& path);  // by extension: .toml, else JSON
  static Schema from_document(const Document& document);

  Schema with_format(TextFormat format) const;

  const Domain& domain() const { return domain_; }
  std::span<const ColumnSchema> columns() const { return columns_; }
  std::span<const Rule> rules() const { return rules_; }  // what cannot occur
  const TextFormat& format() const { return format_; }  // of private files, and of what is written

 private:
  std::vector<ColumnSchema> columns_;
  TextFormat format_;
  std::vector<Rule> rules_;
  Domain domain_;
};

}  // namespace tandem
