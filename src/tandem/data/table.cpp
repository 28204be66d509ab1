// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/table.h"

#include <algorithm>
#include <bit>

#include "tandem/base/check.h"

namespace tandem {

std::size_t code_width(Code attribute_size) {
  if (attribute_size <= 1U << 8) return 1;
  return attribute_size <= 1U << 16 ? 2 : 4;
}

Column::Column(Code attribute_size, std::size_t rows) {
  switch (code_width(attribute_size)) {
    case 1:
      codes_ = std::vector<std::uint8_t>(rows);
      break;
    case 2:
      codes_ = std::vector<std::uint16_t>(rows);
      break;
    default:
      codes_ = std::vector<std::uint32_t>(rows);
  }
}

std::size_t Column::rows() const {
  return visit([](auto codes) { return codes.size(); });
}

std::size_t Column::bytes() const {
  return visit([](auto codes) { return codes.size_bytes(); });
}

Code Column::operator[](std::size_t row) const {
  return visit([&](auto codes) { return static_cast<Code>(codes[row]); });
}

void Column::set(std::size_t row, Code code) {
  visit([&](auto codes) { codes[row] = static_cast<typename decltype(codes)::value_type>(code); });
}

Table::Table(Domain domain, std::size_t rows) : domain_(std::move(domain)), rows_(rows) {
  for (const auto& attribute : domain_.attributes()) columns_.emplace_back(attribute.size, rows);
}

Table::Table(Domain domain, std::vector<Column> columns)
    : domain_(std::move(domain)), columns_(std::move(columns)) {
  check(columns_.size() == domain_.size(), "a table has one column for each attribute");
  rows_ = columns_.empty() ? 0 : columns_.front().rows();
  for (AttributeId id = 0; id < domain_.size(); ++id) {
    check(columns_[id].rows() == rows_, "the columns of a table are equally long");
    const Code size = domain_[id].size;
    columns_[id].visit([&](auto codes) {
      Code largest = 0;
      for (const Code code : codes) largest = std::max(largest, code);
      check(codes.empty() || largest < size, "a code lies outside its attribute");
    });
  }
}

Table Table::from_rows(Domain domain, std::span<const std::vector<Code>> rows) {
  Table table(std::move(domain), rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    check(rows[r].size() == table.domain_.size(), "a row has one code for each attribute");
    for (AttributeId id = 0; id < table.domain_.size(); ++id) {
      check(rows[r][id] < table.domain_[id].size, "a code lies outside its attribute");
      table.columns_[id].set(r, rows[r][id]);
    }
  }
  return table;
}

std::size_t Table::bytes() const {
  std::size_t bytes = 0;
  for (const auto& column : columns_) bytes += column.bytes();
  return bytes;
}

Table Table::select(std::span<const std::size_t> rows) const {
  Table out(domain_, rows.size());
  for (AttributeId id = 0; id < domain_.size(); ++id) {
    columns_[id].visit([&](auto from) {
      out.columns_[id].visit([&](auto to) {
        using To = typename decltype(to)::value_type;
        for (std::size_t r = 0; r < rows.size(); ++r) to[r] = static_cast<To>(from[rows[r]]);
      });
    });
  }
  return out;
}

DistinctRows distinct_rows(const Table& table) {
  const std::size_t rows = table.rows();
  const auto attributes = static_cast<AttributeId>(table.domain().size());

  std::vector<std::uint64_t> hashes(rows, 0x9e3779b97f4a7c15ULL);
  for (AttributeId id = 0; id < attributes; ++id) {
    table.column(id).visit([&](auto codes) {
      for (std::size_t r = 0; r < rows; ++r) {
        std::uint64_t h = (hashes[r] ^ codes[r]) * 0xff51afd7ed558ccdULL;
        hashes[r] = h ^ (h >> 32);
      }
    });
  }
  const auto equal = [&](std::size_t a, std::size_t b) {
    for (AttributeId id = 0; id < attributes; ++id) {
      if (table.column(id)[a] != table.column(id)[b]) return false;
    }
    return true;
  };

  // Open addressing over the positions of first appearances; equal hashes are compared in full.
  constexpr auto kFree = static_cast<std::size_t>(-1);
  std::vector<std::size_t> slots(std::bit_ceil(std::max<std::size_t>(rows * 2, 2)), kFree);
  const std::size_t mask = slots.size() - 1;
  std::vector<std::size_t> firsts;
  std::vector<std::uint64_t> multiplicity;
  std::vector<std::size_t> which(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    std::size_t at = hashes[r] & mask;
    while (slots[at] != kFree &&
           (hashes[firsts[slots[at]]] != hashes[r] || !equal(firsts[slots[at]], r))) {
      at = (at + 1) & mask;
    }
    if (slots[at] == kFree) {
      slots[at] = firsts.size();
      firsts.push_back(r);
      multiplicity.push_back(0);
    }
    which[r] = slots[at];
    ++multiplicity[slots[at]];
  }
  return {table.select(firsts), std::move(multiplicity), std::move(which)};
}

}  // namespace tandem
