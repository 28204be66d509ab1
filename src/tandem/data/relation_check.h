// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many rows of a table break each relation of the schema, judged by their texts. Of private
// rows the counts are private.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/data/schema.h"

namespace tandem {

struct BrokenRelation {
  std::string text;        // as it stands in the schema
  std::size_t judged = 0;  // rows that have all its values, or of a derived column, all rows
  std::size_t broken = 0;
};

class RelationCheck {
 public:
  // For rows whose fields have these names. A relation that names another one judges no row.
  // REQUIRES: the schema outlives it.
  RelationCheck(const Schema& schema, std::span<const std::string> names, char decimal_mark = '.');

  void add(std::span<const std::string_view> fields);

  // Orders first, then derived columns.
  const std::vector<BrokenRelation>& counts() const { return counts_; }

 private:
  struct Field {
    std::size_t at = 0;
    const Codec* codec = nullptr;
  };
  std::optional<std::int64_t> tick(const Field& field, std::string_view text);

  const Relations& relations_;
  bool comma_;
  std::vector<std::optional<Field>> measured_;  // by attribute
  std::vector<std::optional<Field>> derived_;
  std::vector<std::optional<std::int64_t>> values_;
  std::string room_;
  std::vector<BrokenRelation> counts_;
};

// The same of a whole file, which anyone may read: public, or made.
std::vector<BrokenRelation> count_broken(const Schema& schema, const std::string& path);

}  // namespace tandem
