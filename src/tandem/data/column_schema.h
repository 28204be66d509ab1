// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one column is, read from its part of a schema.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/data/codec.h"

namespace tandem {

inline constexpr std::int64_t kLargestAttribute = std::int64_t{1} << 31;

// What the column says of cells that are no texts: data/cell_texts.h.
struct CellMeaning {
  enum class Kind { None, Label, Coded, Boolean, Number, Date };
  Kind kind = Kind::None;
  std::vector<std::string> labels = {};  // of Label and Boolean
  std::vector<std::string> specials = {};
  std::vector<std::string> nulls = {};
};

struct ColumnSchema {
  std::string name;
  std::string description;
  std::shared_ptr<const Codec> codec;  // shared: copies of a schema read the same rules
  // Values inside a range are drawn as the public data has them there, once it is known.
  bool inside_as_public = false;
  std::string null_text = {};  // what is written where there is no value
  CellMeaning cells = {};
};

// UsageError that says where and what, when the column can't be understood.
ColumnSchema read_column(const Document& document);

inline constexpr std::size_t kMostColumns = std::size_t{1} << 20;  // of a schema

// Whether a part of a schema describes many equal columns, which have `prefix` and `count` where
// others have a name.
bool is_numbered(const Document& document);

// Those columns: the prefix with the numbers from `first` (0) on. They share a codec.
// UsageError for more than kMostColumns together with those that are there.
void append_numbered(const Document& document, std::vector<ColumnSchema>& columns);

}  // namespace tandem
