// SPDX-License-Identifier: Apache-2.0
#pragma once
// A table that grows batch by batch.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "tandem/data/table.h"

namespace tandem {

// Room for all rows is set aside as soon as their number can be guessed: untouched, it costs
// nothing, and codes are held once.
class GrowingTable {
 public:
  explicit GrowingTable(const Domain& domain) : domain_(domain) { clear(); }

  std::size_t rows() const { return rows_; }

  // Before `more` rows are appended; `in_all`: a guess of all rows there will be, or 0.
  void reserve(std::size_t more, std::size_t in_all) {
    const std::size_t wanted = rows_ + more;
    for (auto& column : columns_) {
      std::visit(
          [&](auto& codes) {
            if (wanted <= codes.capacity()) return;
            codes.reserve(std::max(wanted + wanted / 8, in_all));
          },
          column);
    }
  }

  // Codes column after column, each in its attribute's width.
  void append(std::size_t rows, const std::byte* from) {
    rows_ += rows;
    for (auto& column : columns_) {
      std::visit(
          [&]<class T>(std::vector<T>& codes) {
            codes.resize(rows_);
            const std::size_t bytes = rows * sizeof(T);
            if (bytes > 0) std::memcpy(codes.data() + rows_ - rows, from, bytes);
            from += bytes;
          },
          column);
    }
  }

  // The rows of a table over the same domain.
  void append(const Table& table) {
    rows_ += table.rows();
    for (AttributeId id = 0; id < columns_.size(); ++id) {
      std::visit(
          [&]<class T>(std::vector<T>& codes) {
            codes.resize(rows_);
            table.column(id).visit([&](auto from) {
              std::transform(from.begin(), from.end(),
                             codes.end() - static_cast<std::ptrdiff_t>(from.size()),
                             [](auto code) { return static_cast<T>(code); });
            });
          },
          columns_[id]);
    }
  }

  // The table, and an empty one stays behind.
  Table take() {
    std::vector<Column> columns;
    for (auto& column : columns_) columns.emplace_back(std::move(column));
    clear();
    return {domain_, std::move(columns)};
  }

 private:
  void clear() {
    rows_ = 0;
    columns_.clear();
    for (const auto& attribute : domain_.attributes()) {
      const std::size_t width = code_width(attribute.size);
      if (width == 1) {
        columns_.emplace_back(std::vector<std::uint8_t>());
      } else if (width == 2) {
        columns_.emplace_back(std::vector<std::uint16_t>());
      } else {
        columns_.emplace_back(std::vector<std::uint32_t>());
      }
    }
  }

  Domain domain_;
  std::vector<Column::Codes> columns_;
  std::size_t rows_ = 0;
};

}  // namespace tandem
