// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/column_coder.h"

namespace tandem {

namespace {

constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::int64_t kExact = std::int64_t{1} << 53;
constexpr std::int64_t kFirstSecond = -62135596800;  // of the year 1
constexpr std::int64_t kLastSecond = 253402300799;   // of the year 9999

}  // namespace

ColumnCoder::ColumnCoder(const ColumnSchema& column)
    : codec_(column.codec.get()),
      texts_(column),
      short_texts_(*column.codec),
      small_(kSmall + static_cast<std::size_t>(kBelowZero), kUnknown) {
  const auto extent = codec_->extent();
  const bool calendar = extent && extent->line->calendar_unit();
  line_ = extent && !calendar;
  dates_ = calendar && column.cells.kind == CellMeaning::Kind::Date;
  if (dates_) days_.assign(kDays, kUnknown);
  null_ = code_of(texts_.null());
  nowhere_ = code_of(kNowhere);
  of_bool_ = {code_of(texts_.of(false)), code_of(texts_.of(true))};
}

Code ColumnCoder::integer(std::int64_t value) const {
  // To the nearest double, as the digits would be read.
  if (line_) return point(static_cast<double>(value), value);
  return code_of(texts_.of(value));
}

Code ColumnCoder::real(double value) const {
  if (line_ && std::isfinite(value)) return point(value, value);
  return code_of(texts_.of(value));
}

Code ColumnCoder::of_small_decimal(std::int64_t small, int scale) {
  if (scale != decimal_scale_) {
    decimals_ = {};
    decimal_scale_ = scale;
  }
  return remembered(static_cast<std::uint64_t>(small), decimals_, [&] {
    const std::string digits = size_in_digits(small);
    const DecimalCell value{.negative = small < 0, .digits = digits, .scale = scale};
    // Two exact doubles and one rounding: what reading the digits gives.
    if (line_ && scale >= 0 && scale < static_cast<int>(kPowers.size()) && small >= -kExact &&
        small <= kExact) {
      return point(static_cast<double>(small) / kPowers[static_cast<std::size_t>(scale)], value);
    }
    return of(value);
  });
}

Code ColumnCoder::moment(const MomentCell& value) {
  const bool in_calendar = value.second >= kFirstSecond && value.second <= kLastSecond;
  if (dates_ && in_calendar) {
    return remembered(static_cast<std::uint64_t>(value.second), moments_, [&] {
      const auto point = codec_->extent()->line->point_at(value.second);
      const auto code = codec_->encode_point(*point);
      // What lies beyond the bounds may be a special text.
      return code->fit == Fit::Exact ? code->code : code_of(texts_.of(value));
    });
  }
  return code_of(texts_.of(value));
}

}  // namespace tandem
