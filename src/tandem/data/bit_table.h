// SPDX-License-Identifier: Apache-2.0
#pragma once
// A table as bits: for each indicator the rows that have it, as a bitmap or as a list of rows,
// whichever is smaller: at most 4 bytes a one, and at most a bit a row and column.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "tandem/data/domain.h"
#include "tandem/data/indicator.h"
#include "tandem/data/table.h"

namespace tandem {

// The rows that have one indicator.
class BitColumn {
 public:
  BitColumn() = default;
  // Ascending, each once, below `rows`.
  BitColumn(std::vector<std::uint32_t> ascending, std::size_t rows);

  std::size_t ones() const { return ones_; }
  std::size_t bytes() const;
  bool listed() const { return bits_.index() == 0; }  // rather than a bitmap
  // ORs the bits of the rows from 64 * first_word on into `out`.
  void fill(std::size_t first_word, std::span<std::uint64_t> out) const;
  // Calls f with every row that has it, in order.
  template <class F>
  void for_each(F&& f) const {
    if (const auto* list = std::get_if<0>(&bits_)) {
      for (const auto row : *list) f(std::size_t{row});
      return;
    }
    const auto& words = *std::get_if<1>(&bits_);
    for (std::size_t w = 0; w < words.size(); ++w) {
      for (std::uint64_t left = words[w]; left != 0; left &= left - 1) {
        f(w * kWordBits + static_cast<std::size_t>(std::countr_zero(left)));
      }
    }
  }

 private:
  std::variant<std::vector<std::uint32_t>, std::vector<std::uint64_t>> bits_;
  std::size_t ones_ = 0;
};

class BitTable {
 public:
  // `indicators` ascending, each once, with their columns; attributes of two codes have code 1.
  BitTable(Domain domain, std::size_t rows, std::vector<Indicator> indicators,
           std::vector<BitColumn> columns);
  // The wanted indicators of a table; every one of every attribute.
  static BitTable of(const Table& table, std::span<const Indicator> wanted);
  static BitTable of(const Table& table);

  const Domain& domain() const { return domain_; }
  std::size_t rows() const { return rows_; }
  std::size_t bytes() const;
  std::span<const Indicator> indicators() const { return indicators_; }
  std::span<const BitColumn> columns() const { return columns_; }
  // Nothing where the table was made without it.
  const BitColumn* find(const Indicator& indicator) const;

  // Blocks of some of its indicators. REQUIRES: the table has them, and outlives the blocks.
  std::unique_ptr<IndicatorBlocks> blocks(std::span<const Indicator> indicators) const;
  // An attribute's codes, row by row. REQUIRES: the table has all its indicators, or all but one.
  Column codes(AttributeId attribute) const;
  BitTable select(std::span<const std::size_t> rows) const;  // ascending

 private:
  Domain domain_;
  std::size_t rows_ = 0;
  std::vector<Indicator> indicators_;
  std::vector<BitColumn> columns_;
};

// Every indicator of every attribute. UsageError where there are more than `most`.
std::vector<Indicator> all_indicators(const Domain& domain,
                                      std::size_t most = std::size_t{1} << 26);

// Blocks straight from a table's codes. REQUIRES: the table outlives them.
std::unique_ptr<IndicatorBlocks> table_blocks(const Table& table,
                                              std::span<const Indicator> indicators);

}  // namespace tandem
