// SPDX-License-Identifier: Apache-2.0
#pragma once
// From typed cells of one column to its codes: the codec's other door. A cell has the code of the
// text that says the same (cell_texts.h); where that is known without the text, none is made.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tandem/data/cell_texts.h"
#include "tandem/data/field_memo.h"

namespace tandem {

class ColumnCoder {
 public:
  // REQUIRES: the column outlives its coder, and stays where it is.
  explicit ColumnCoder(const ColumnSchema& column);

  Code null() const { return null_; }
  Code nowhere() const { return nowhere_; }
  Code of(bool value) { return of_bool_[value ? 1 : 0]; }

  Code of(std::int64_t value) {
    const auto at = static_cast<std::uint64_t>(value) + kBelowZero;
    if (at < small_.size()) {
      Code& known = small_[at];
      if (known == kUnknown) known = integer(value);
      return known;
    }
    return remembered(static_cast<std::uint64_t>(value), integers_, [&] { return integer(value); });
  }
  Code of(std::uint64_t value) {
    if (value <= static_cast<std::uint64_t>(INT64_MAX)) return of(static_cast<std::int64_t>(value));
    return code_of(texts_.of(value));
  }
  Code of(double value) {
    return remembered(std::bit_cast<std::uint64_t>(value), doubles_, [&] { return real(value); });
  }
  Code of(const DecimalCell& value) const { return code_of(texts_.of(value)); }
  Code of_small_decimal(std::int64_t digits, int scale);  // digits times ten to the power of -scale
  Code of(const MomentCell& value) {
    const std::int64_t day = value.second / kDay;
    const auto at = static_cast<std::uint64_t>(day - kFirstDay);
    if (at >= days_.size() || day * kDay != value.second) return moment(value);
    Code& known = days_[at];
    if (known == kUnknown) known = moment(value);
    return known;
  }
  Code of_time(std::int64_t microsecond) const { return code_of(texts_.of_time(microsecond)); }
  // `readable`: bytes from the text's first on that may be read.
  Code of(std::string_view text, std::size_t readable) {
    if (text.size() > kShort) return code_of(CellTexts::of(text));
    if (readable >= kCsvPadding + kShort) return short_texts_.encode(text).code;
    std::array<char, kCsvPadding + kShort> room{};
    std::copy(text.begin(), text.end(), room.begin());
    return short_texts_.encode({room.data(), text.size()}).code;
  }

 private:
  static constexpr std::uint64_t kBelowZero = 256;
  static constexpr std::size_t kSmall = 4096;
  static constexpr Code kUnknown = ~Code{0};
  static constexpr std::size_t kShort = 15;
  static constexpr std::int64_t kDay = 86'400;        // seconds
  static constexpr std::int64_t kFirstDay = -25'567;  // 1900, of those that are remembered
  static constexpr std::size_t kDays = 73'050;        // to 2100

  // Codes of numbers, by their bits. Full of ever new ones, it is given up.
  struct Memo {
    static constexpr std::size_t kEntries = 4096;
    struct Entry {
      std::uint64_t bits = 0;
      Code code = kUnknown;
    };
    std::vector<Entry> entries{};
    std::size_t misses = 0;
    bool given_up = false;
  };

  template <class Make>
  Code remembered(std::uint64_t bits, Memo& memo, Make&& make) {
    if (memo.given_up) return make();
    if (memo.entries.empty()) memo.entries.resize(Memo::kEntries);
    auto& entry = memo.entries[(bits * 0x9e3779b97f4a7c15ULL) >> 52];
    if (entry.code != kUnknown && entry.bits == bits) return entry.code;
    // Where a number costs little by itself, a memo that misses often costs more.
    if ((line_ || dates_) && ++memo.misses > 8 * Memo::kEntries) memo.given_up = true;
    entry = {bits, make()};
    return entry.code;
  }

  Code code_of(std::string_view text) const { return codec_->encode(text).code; }
  // A point of the line, unless a text of the schema may mean it. A value of the column is never
  // one of its special texts.
  template <class Value>
  Code point(double at, const Value& value) const {
    const auto code = codec_->encode_point(at);
    if (code->fit == Fit::Exact || !texts_.has_numbers()) return code->code;
    return code_of(texts_.of(value));
  }
  Code integer(std::int64_t value) const;
  Code real(double value) const;
  Code moment(const MomentCell& value);

  const Codec* codec_;
  CellTexts texts_;
  FieldMemo short_texts_;
  bool line_ = false;   // numbers are points of a line
  bool dates_ = false;  // moments are
  Code null_ = 0;
  Code nowhere_ = 0;
  std::array<Code, 2> of_bool_{};
  std::vector<Code> small_;  // of whole numbers from -kBelowZero on
  Memo integers_;
  Memo doubles_;
  Memo decimals_;
  int decimal_scale_ = 0;  // of those that are remembered
  Memo moments_;
  std::vector<Code> days_;  // of a column of dates, from kFirstDay on
};

}  // namespace tandem
