// SPDX-License-Identifier: Apache-2.0
#pragma once
// Columns as bits: whether a row has one code of one attribute, for 64 rows in a word.

#include <compare>
#include <cstddef>
#include <cstdint>

#include "tandem/data/attribute.h"

namespace tandem {

// The bit of a row that says whether `attribute` has `code`. An attribute of two codes has one
// indicator, that of code 1: the other is its opposite.
struct Indicator {
  AttributeId attribute = 0;
  Code code = 0;
  auto operator<=>(const Indicator&) const = default;
};

inline constexpr std::size_t kWordBits = 64;  // rows in a word of bits

constexpr std::size_t words_of(std::size_t rows) { return (rows + kWordBits - 1) / kWordBits; }

// The bits of a fixed list of indicators, block of rows by block of rows, so that whoever counts
// never needs all rows of all columns at once.
class IndicatorBlocks {
 public:
  virtual ~IndicatorBlocks() = default;
  virtual std::size_t rows() const = 0;
  // Bits of the rows from 64 * first_word on: those of the list's indicator i go to
  // out[i * words .. (i+1) * words). `out` is all zero before, and rows past the last stay zero.
  // Several threads may call it at once.
  virtual void fill(std::size_t first_word, std::size_t words, std::uint64_t* out) const = 0;
};

}  // namespace tandem
