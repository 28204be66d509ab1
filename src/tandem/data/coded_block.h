// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of codes as bytes, for those who keep or move them outside this process: a cluster's
// executors, a folder of coded rows.
//
//   "TDB1", u32 columns, u64 rows, u8 width of each column, u8 1 with persons or 0, zeros to 8
//   bytes; then of each column its codes, of 1, 2 or 4 bytes, and zeros to 8 bytes; with persons:
//   u64 high of each row, then u64 low of each row; both 0: the row names nobody.
//
// Whole numbers are little endian.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/data/row_encoder.h"

namespace tandem {

std::string to_block(const CodedRows& rows, bool with_persons);

// The bytes of a block of so many rows.
std::size_t block_bytes(const Domain& domain, std::size_t rows, bool with_persons);

// A block that can be looked at where it lies. REQUIRES: the bytes outlive it.
class CodedBlock {
 public:
  // UsageError for bytes that are no block.
  explicit CodedBlock(std::string_view bytes);

  std::size_t rows() const { return rows_; }
  std::span<const std::uint8_t> widths() const { return widths_; }
  bool has_persons() const { return has_persons_; }

  // Its rows over a domain. UsageError where the columns are not of the domain, or a code is not.
  Table table(const Domain& domain) const;
  std::vector<PersonKey> persons() const;

 private:
  std::size_t rows_ = 0;
  std::vector<std::uint8_t> widths_;
  std::vector<const char*> columns_;
  bool has_persons_ = false;
  const char* persons_ = nullptr;
};

// Several blocks of the same columns, one after the other, over attributes of unknown size: as many
// codes as the widths have room for.
CodedRows joined_rows(std::span<const std::string_view> blocks);

}  // namespace tandem
