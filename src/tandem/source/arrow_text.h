// SPDX-License-Identifier: Apache-2.0
#pragma once
// Batches of typed cells as texts: what the same table is as a CSV file. A cell has the text that
// its code is that of (data/cell_texts.h), so both are read alike.

#include <string>
#include <string_view>
#include <vector>

#include "tandem/data/arrow_cells.h"

namespace tandem {

// The texts of one column of one batch.
struct TextColumn {
  std::string bytes;
  std::vector<std::size_t> ends;

  std::size_t rows() const { return ends.size(); }
  std::string_view operator[](std::size_t row) const {
    const std::size_t begin = row == 0 ? 0 : ends[row - 1];
    return std::string_view(bytes).substr(begin, ends[row] - begin);
  }
};

// REQUIRES: check_array was content.
TextColumn texts_of(const ArrowType& type, const ArrowArray& array, std::int64_t first,
                    std::int64_t rows, const CellTexts& texts);

// Appends a value as a field of CSV (RFC 4180), in quotes where it needs them.
void append_field(std::string_view value, std::string& to);

}  // namespace tandem
