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
#include "tandem/data/codec.h"
#include "tandem/data/domain.h"
#include "tandem/data/text_format.h"

namespace tandem {

struct ColumnSchema {
  std::string name;
  std::string description;
  std::shared_ptr<const Codec> codec;  // shared: copies of a schema read the same rules
};

class Schema {
 public:
  Schema() = default;
  explicit Schema(std::vector<ColumnSchema> columns, TextFormat format = {});
  static Schema read(const std::string& path);  // by extension: .toml, else JSON
  static Schema from_document(const Document& document);

  const Domain& domain() const { return domain_; }
  std::span<const ColumnSchema> columns() const { return columns_; }
  const TextFormat& format() const { return format_; }  // of private files, and of what is written

 private:
  std::vector<ColumnSchema> columns_;
  TextFormat format_;
  Domain domain_;
};

}  // namespace tandem
