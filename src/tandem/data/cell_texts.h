// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a typed cell means in a column of a schema, as the text that says the same: docs/python.md,
// 'Tables in'. A cell's text depends on that cell and the schema alone.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tandem/data/column_schema.h"

namespace tandem {

// What no schema lists: U+FFFD.
inline constexpr std::string_view kNowhere = "\xef\xbf\xbd";
inline constexpr std::size_t kLongestText =
    60'000;  // characters of a cell; longer ones are nowhere
inline constexpr std::size_t kMostTextLines = 900;

// A decimal number: (negative ? -1 : 1) * digits * ten to the power of -scale.
struct DecimalCell {
  bool negative = false;
  std::string_view digits;  // without leading zeros; none: zero
  int scale = 0;
};

std::string size_in_digits(std::int64_t value);  // as a DecimalCell has them, without the sign

// A date, or a date with a time, as a clock on the wall shows it.
struct MomentCell {
  std::int64_t second = 0;  // since 1970, rounded down
  std::int32_t nanosecond = 0;
  bool clock = false;  // it has a time of day
};

class CellTexts {
 public:
  CellTexts() = default;  // of no column of a schema: cells as Python writes them
  explicit CellTexts(const ColumnSchema& column);

  const std::string& null() const { return null_; }
  const std::string& of(bool value) const { return value ? true_ : false_; }
  std::string of(std::int64_t value) const;
  std::string of(std::uint64_t value) const;
  std::string of(double value) const;  // no number: as null
  std::string of(const DecimalCell& value) const;
  std::string of(const MomentCell& value) const;
  std::string of_time(std::int64_t microsecond) const;  // of the day
  static std::string_view of(std::string_view text);    // as it is, or nowhere

  // Whether the column has texts that are numbers: then a number may mean one of them.
  bool has_numbers() const { return !texts_.empty(); }

 private:
  void add_number(const std::string& text);
  const std::string* text_of(const std::string& exact) const;

  CellMeaning::Kind kind_ = CellMeaning::Kind::None;
  std::shared_ptr<const Codec> codec_;  // of dates, whose line writes them
  const ValueLine* dates_ = nullptr;
  std::string null_;
  std::string false_ = "false";
  std::string true_ = "true";
  // Texts of the schema that are numbers, by their values; the first of equal ones.
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::size_t> by_exact_;
  std::unordered_map<std::int64_t, std::size_t> by_integer_;
  std::unordered_map<double, std::size_t> by_double_;
};

// A double's shortest text that reads back as it, as Python writes it: 0.1, 24.0, 1e+16.
std::string shortest_text(double value);

}  // namespace tandem
