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
#include "tandem/data/relations.h"
#include "tandem/data/rules.h"
#include "tandem/data/text_format.h"

namespace tandem {

class Schema {
 public:
  Schema() = default;
  explicit Schema(std::vector<ColumnSchema> columns, TextFormat format = {},
                  std::vector<Rule> rules = {}, Relations relations = {});
  static Schema read(const std::string& path);  // by extension: .toml, else JSON
  static Schema from_document(const Document& document);

  Schema with_format(TextFormat format) const;
  // The same codes, written in another way. REQUIRES: a codec for each column, of its size.
  Schema with_codecs(std::vector<std::shared_ptr<const Codec>> codecs) const;

  const Domain& domain() const { return domain_; }
  std::span<const ColumnSchema> columns() const { return columns_; }  // those that are measured
  std::span<const Rule> rules() const { return rules_; }              // what cannot occur
  const Relations& relations() const { return relations_; }           // what holds between columns
  RowRules row_rules() const { return {rules_, relations_.orders}; }
  const TextFormat& format() const { return format_; }  // of private files, and of what is written

 private:
  std::vector<ColumnSchema> columns_;
  TextFormat format_;
  std::vector<Rule> rules_;
  Relations relations_;
  Domain domain_;
};

}  // namespace tandem
