// SPDX-License-Identifier: Apache-2.0
#pragma once
// The people of a table by a column that names them: how many rows each has, and ids that may be
// two spellings of one.
//
// Ids are kept as 64-bit hashes: 24 bytes a row, whatever their texts are.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem {

struct PeopleFit {
  std::size_t people = 0;
  std::size_t blank_rows = 0;     // that name nobody, and are dropped
  std::size_t most_rows = 0;      // of one person
  std::size_t above_bound = 0;    // people with more rows than the bound
  std::size_t dropped_rows = 0;   // theirs beyond the bound
  std::size_t spelled_alike = 0;  // people whose id differs from another's in case, spaces or zeros
  // Rows, from 0, of two such ids, for the first few.
  std::vector<std::pair<std::size_t, std::size_t>> alike_rows;
};

class PeopleTally {
 public:
  void add(std::string_view field);               // of the next row
  void append(const PeopleTally& more);           // the rows after these
  PeopleFit finish(std::size_t rows_per_person);  // once

 private:
  struct Id {
    std::uint64_t folded = 0;  // of what is left without case, spaces and leading zeros
    std::uint64_t exact = 0;
    std::uint64_t row = 0;
  };
  std::deque<Id> ids_;  // grows without a copy
  std::size_t rows_ = 0;
};

}  // namespace tandem
