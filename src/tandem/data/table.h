// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of codes, stored by column in the narrowest of 8, 16 or 32 bits that fits the attribute.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "tandem/data/attribute.h"
#include "tandem/data/domain.h"

namespace tandem {

class Column {
 public:
  using Codes = std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>,
                             std::vector<std::uint32_t>>;

  Column() = default;
  Column(Code attribute_size, std::size_t rows);              // all zero
  explicit Column(Codes codes) : codes_(std::move(codes)) {}  // of the attribute's width

  std::size_t rows() const;
  std::size_t bytes() const;
  Code operator[](std::size_t row) const;
  void set(std::size_t row, Code code);

  // Calls f with a std::span<const std::uint8_t>, uint16_t or uint32_t: for loops over rows.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit([&](const auto& codes) { return f(std::span(codes)); }, codes_);
  }
  template <class F>
  decltype(auto) visit(F&& f) {
    return std::visit([&](auto& codes) { return f(std::span(codes)); }, codes_);
  }

  bool operator==(const Column&) const = default;

 private:
  Codes codes_;
};

// Bytes one code of an attribute of this size takes: 1, 2 or 4.
std::size_t code_width(Code attribute_size);

class Table {
 public:
  Table() = default;
  Table(Domain domain, std::size_t rows);             // all codes zero
  Table(Domain domain, std::vector<Column> columns);  // of equal length, within the domain
  // For tests and small tables: one list of codes a row.
  static Table from_rows(Domain domain, std::span<const std::vector<Code>> rows);

  const Domain& domain() const { return domain_; }
  std::size_t rows() const { return rows_; }
  std::size_t bytes() const;
  const Column& column(AttributeId id) const { return columns_[id]; }
  Column& column(AttributeId id) { return columns_[id]; }

  Table select(std::span<const std::size_t> rows) const;  // those rows, in that order

  bool operator==(const Table&) const = default;

 private:
  Domain domain_;
  std::size_t rows_ = 0;
  std::vector<Column> columns_;
};

// The different rows of a table, in order of first appearance, and how often each occurs.
struct DistinctRows {
  Table rows;
  std::vector<std::uint64_t> multiplicity;
  std::vector<std::size_t> which;  // for each row of the table: its place among the different ones
};
DistinctRows distinct_rows(const Table& table);

}  // namespace tandem
