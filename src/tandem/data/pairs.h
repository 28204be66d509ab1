// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists of 'user,item': a line for each item that a user has. Users are rows, items are columns of
// two values, and which items exist is public: the schema says. Plain or gzip, UTF-8.
//
//   user,item
//   anna,i17
//   anna,i4
//   bert,
//
// A user with nothing is a row of zeros, written as one line without an item. docs/files.md says
// what becomes of odd lines.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tandem/data/bit_table.h"
#include "tandem/data/csv.h"

namespace tandem {

inline constexpr std::size_t kLongestPair = 4096;  // bytes of a line; what follows is not looked at

struct PairsOptions {
  RowPolicy policy = RowPolicy::MustFit;
  ReadProgress progress = {};
  Cancel cancel = {};
};

// SchemaError for a schema that lists of pairs can't hold: with other than two values a column,
// names that a line can't show, or another encoding.
void require_pairs(const Schema& schema);

// UsageError when the first line is 'user,item'. With RowPolicy::MustFit, UsageError with the
// line for one that is no pair.
//
// With RowPolicy::Repair every line speaks of the user it begins with and of nobody else, in
// silence: an item that the schema lacks, or none, leaves the user without it; a line without a
// user is nobody's. So a user's lines make one row, whatever they hold, or none where there are no
// lines; the same item twice counts once. Takes 4 bytes a pair, and twice that while it reads.
BitTable read_pairs(const std::string& path, const Schema& schema, const PairsOptions& options);

// Appends the columns that a row has, in order.
using ItemsOfRow = std::function<void(std::size_t row, std::vector<AttributeId>& items)>;

// Rows 0 .. rows-1 as pairs, each row's number being its user. SourceError when the disk is full.
void write_pairs(const std::string& path, const Schema& schema, std::size_t rows,
                 const ItemsOfRow& items_of);

}  // namespace tandem
