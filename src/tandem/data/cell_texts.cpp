// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/cell_texts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "tandem/base/text.h"
#include "tandem/data/value_line.h"

namespace tandem {

namespace {

using Kind = CellMeaning::Kind;

constexpr std::int64_t kDay = 86400;
constexpr std::int64_t kFirstSecond = -62135596800;  // of the year 1
constexpr std::int64_t kLastSecond = 253402300799;   // of the year 9999
constexpr std::int64_t kMostExponent = 100'000;

// A number by its value alone: its sign, its digits without zeros at the ends, and the power of ten
// that they are multiplied with.
std::string exact_key(bool negative, std::string_view digits, std::int64_t exponent) {
  const auto first = digits.find_first_not_of('0');
  if (first == std::string_view::npos) return "0";
  const auto last = digits.find_last_not_of('0');
  exponent += static_cast<std::int64_t>(digits.size() - 1 - last);
  return fmt::format("{}{}e{}", negative ? "-" : "", digits.substr(first, last - first + 1),
                     exponent);
}

// The same of a text that is a number; nothing for another.
std::optional<std::string> exact_of(std::string_view text) {
  text = trim(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::int64_t exponent = 0;
  if (const auto e = text.find_first_of("eE"); e != std::string_view::npos) {
    const auto stated = parse_integer(text.substr(e + 1));
    if (!stated || std::abs(*stated) > kMostExponent) return {};
    exponent = *stated;
    text = text.substr(0, e);
  }
  std::string digits;
  bool point = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      digits += c;
      if (point) --exponent;
    } else {
      return {};
    }
  }
  if (digits.empty()) return {};
  return exact_key(negative, digits, exponent);
}

// A double by its exact value: it has at most 767 digits.
std::string exact_of(double value) {
  std::array<char, 900> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.800e", value);
  return *exact_of(std::string_view(text.data(), static_cast<std::size_t>(size)));
}

std::optional<double> double_of(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double out = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(out)) return {};
  return out;
}

template <class Integer>
std::string digits_of(Integer value) {
  std::array<char, 24> out{};
  const auto end = std::to_chars(out.data(), out.data() + out.size(), value).ptr;
  return {out.data(), end};
}

std::string whole_text(double value) {
  std::array<char, 400> out{};
  const int size = std::snprintf(out.data(), out.size(), "%.0f", value);
  const std::string_view text(out.data(), static_cast<std::size_t>(size));
  return text == "-0" ? "0" : std::string(text);
}

// As it stands, with all of its decimals: -24.00.
std::string plain_text(const DecimalCell& value) {
  std::string out(value.digits);
  if (value.scale < 0) {
    if (!out.empty()) out.append(static_cast<std::size_t>(-value.scale), '0');
    if (out.empty()) out = "0";
  } else {
    const auto scale = static_cast<std::size_t>(value.scale);
    if (out.size() <= scale) out.insert(0, scale + 1 - out.size(), '0');
    if (scale > 0) out.insert(out.size() - scale, 1, '.');
  }
  return value.negative && !value.digits.empty() ? fmt::format("-{}", out) : out;
}

}  // namespace

std::string size_in_digits(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  const std::uint64_t size = value < 0 ? 0 - bits : bits;
  return size == 0 ? "" : std::to_string(size);
}

std::string shortest_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific)
                       .ptr;
  std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  std::string out;
  if (text.starts_with('-')) {
    out = "-";
    text.remove_prefix(1);
  }
  const auto e = text.find('e');
  std::string_view tail = text.substr(e + 1);
  if (tail.starts_with('+')) tail.remove_prefix(1);
  int exponent = 0;
  std::from_chars(tail.data(), tail.data() + tail.size(), exponent);
  std::string digits(text.substr(0, 1));
  if (e > 2) digits += text.substr(2, e - 2);
  if (exponent < -4 || exponent >= 16) {
    out += digits.substr(0, 1);
    if (digits.size() > 1) out.append(1, '.').append(digits, 1);
    return out + fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) {
    return fmt::format("{}0.{:0>{}}{}", out, "", -exponent - 1, digits);
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  return out + digits.substr(0, whole) + "." + (digits.size() > whole ? digits.substr(whole) : "0");
}

CellTexts::CellTexts(const ColumnSchema& column) : kind_(column.cells.kind) {
  const CellMeaning& cells = column.cells;
  if (kind_ == Kind::None) kind_ = Kind::Label;
  std::vector<std::string> labels = cells.labels;
  if (column.cells.kind == Kind::None && column.codec) labels = column.codec->labels();
  if (kind_ == Kind::Date && column.codec) {
    const auto extent = column.codec->extent();
    codec_ = column.codec;
    if (extent) dates_ = extent->line;
  }
  const auto& nulls = cells.nulls;
  if (!nulls.empty() && std::ranges::find(nulls, "") == nulls.end()) null_ = nulls.front();
  for (const std::vector<std::string>* texts : {&std::as_const(labels), &cells.specials, &nulls}) {
    for (const auto& text : *texts) add_number(text);
  }
  if (kind_ == Kind::Boolean && labels.size() == 2) {
    false_ = labels[0];
    true_ = labels[1];
  } else if (kind_ == Kind::Coded || kind_ == Kind::Number) {
    false_ = "0";
    true_ = "1";
  } else if (kind_ == Kind::Label) {
    static constexpr std::array<std::array<const char*, 2>, 4> kPairs = {
        {{"false", "true"}, {"False", "True"}, {"0", "1"}, {"no", "yes"}}};
    for (const auto& [no, yes] : kPairs) {
      if (std::ranges::find(labels, no) == labels.end()) continue;
      if (std::ranges::find(labels, yes) == labels.end()) continue;
      false_ = no;
      true_ = yes;
      break;
    }
  }
}

void CellTexts::add_number(const std::string& text) {
  const auto exact = exact_of(std::string_view(text));
  if (!exact) return;
  const std::size_t at = texts_.size();
  texts_.push_back(text);
  const auto add = [&](const std::string& key) {
    by_exact_.emplace(key, at);
    const auto e = key.find('e');
    const auto power = e == std::string::npos ? 0 : parse_integer(key.substr(e + 1)).value_or(-1);
    if (power < 0 || power > 18) return;
    const auto whole =
        parse_integer(key.substr(0, e) + std::string(static_cast<std::size_t>(power), '0'));
    if (whole) by_integer_.emplace(*whole, at);
  };
  add(*exact);
  if (const auto value = double_of(text)) {
    add(exact_of(*value));
    by_double_.emplace(*value == 0.0 ? 0.0 : *value, at);
  }
}

const std::string* CellTexts::text_of(const std::string& exact) const {
  const auto found = by_exact_.find(exact);
  return found == by_exact_.end() ? nullptr : &texts_[found->second];
}

std::string CellTexts::of(std::int64_t value) const {
  if (!texts_.empty()) {
    const auto found = by_integer_.find(value);
    if (found != by_integer_.end()) return texts_[found->second];
  }
  return digits_of(value);
}

std::string CellTexts::of(std::uint64_t value) const {
  if (value <= static_cast<std::uint64_t>(INT64_MAX)) return of(static_cast<std::int64_t>(value));
  std::string digits = digits_of(value);
  if (!texts_.empty()) {
    if (const auto* text = text_of(exact_key(false, digits, 0))) return *text;
  }
  return digits;
}

std::string CellTexts::of(double value) const {
  if (std::isnan(value)) return null_;
  if (!texts_.empty()) {
    const auto found = by_double_.find(value == 0.0 ? 0.0 : value);
    if (found != by_double_.end()) return texts_[found->second];
  }
  // Where a schema has labels, codes or whole numbers, 24.0 is 24.
  const bool whole = std::isfinite(value) && value == std::floor(value);
  if (whole && (kind_ == Kind::Label || kind_ == Kind::Coded || kind_ == Kind::Boolean)) {
    return whole_text(value);
  }
  return shortest_text(value);
}

std::string CellTexts::of(const DecimalCell& value) const {
  if (!texts_.empty()) {
    if (const auto* text = text_of(exact_key(value.negative, value.digits, -value.scale))) {
      return *text;
    }
  }
  std::string text = plain_text(value);
  if (kind_ == Kind::Label || kind_ == Kind::Coded || kind_ == Kind::Boolean) {
    const auto point = text.find('.');
    if (point != std::string::npos && text.find_first_not_of('0', point + 1) == std::string::npos) {
      text.resize(point);
    }
  }
  return text;
}

std::string CellTexts::of(const MomentCell& value) const {
  if (value.second < kFirstSecond || value.second > kLastSecond) return std::string(kNowhere);
  if (dates_ != nullptr) {
    const auto point = dates_->point_at(value.second);
    return point ? dates_->text(static_cast<std::int64_t>(*point)) : std::string(kNowhere);
  }
  static const auto days = date_line("%Y-%m-%d");
  static const auto seconds = date_line("%Y-%m-%d %H:%M:%S");
  const std::int64_t of_day = (value.second % kDay + kDay) % kDay;
  const std::int32_t micro = value.nanosecond / 1000;
  if (!value.clock || (of_day == 0 && micro == 0))
    return days->text((value.second - of_day) / kDay);
  std::string out = seconds->text(value.second);
  if (value.nanosecond % 1000 != 0) return out + fmt::format(".{:09}", value.nanosecond);
  return micro != 0 ? out + fmt::format(".{:06}", micro) : out;
}

std::string CellTexts::of_time(std::int64_t microsecond) const {
  constexpr std::int64_t kSecond = 1'000'000;
  if (microsecond < 0 || microsecond >= kDay * kSecond) return std::string(kNowhere);
  const std::int64_t second = microsecond / kSecond;
  std::string out = fmt::format("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
  return microsecond % kSecond == 0 ? out : out + fmt::format(".{:06}", microsecond % kSecond);
}

std::string_view CellTexts::of(std::string_view text) {
  if (text.size() < kMostTextLines) return text;
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  if (lines >= kMostTextLines) return kNowhere;
  if (text.size() <= kLongestText) return text;
  const auto characters = static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
  return characters <= kLongestText ? text : kNowhere;
}

}  // namespace tandem
