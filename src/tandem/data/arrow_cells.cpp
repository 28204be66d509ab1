// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/arrow_cells.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

using Layout = ArrowType::Layout;

std::int64_t unit_of(char letter) {
  switch (letter) {
    case 's':
      return 1;
    case 'm':
      return 1'000;
    case 'u':
      return 1'000'000;
    case 'n':
      return 1'000'000'000;
    default:
      return 0;
  }
}

[[noreturn]] void unknown_format(std::string_view format, std::string_view column) {
  throw UsageError(
      fmt::format("The column {} of the rows has the Arrow format {}, which this version "
                  "does not know; convert it to numbers, text or dates.",
                  in_quotes(column), in_quotes(format)));
}

ArrowType decimal_type(std::string_view format, std::string_view column) {
  const auto parts = split(format.substr(2), ',');
  ArrowType out{.layout = Layout::Decimal, .bits = 128};
  const auto scale = parts.size() > 1 ? parse_integer(parts[1]) : std::nullopt;
  const auto bits = parts.size() > 2 ? parse_integer(parts[2]) : 128;
  if (!scale || std::abs(*scale) > 1000 || !bits ||
      (*bits != 32 && *bits != 64 && *bits != 128 && *bits != 256)) {
    unknown_format(format, column);
  }
  out.scale = static_cast<int>(*scale);
  out.bits = static_cast<int>(*bits);
  return out;
}

ArrowType time_type(std::string_view format, std::string_view column) {
  if (format == "tdD") return {.layout = Layout::Date32};
  if (format == "tdm") return {.layout = Layout::Date64};
  if (format.size() < 3) unknown_format(format, column);
  const std::int64_t unit = unit_of(format[2]);
  if (format[1] == 't' && unit > 0 && format.size() == 3) {
    return {.layout = Layout::Time, .bits = unit <= 1000 ? 32 : 64, .unit = unit};
  }
  if (format[1] == 's' && unit > 0 && format.size() >= 4 && format[3] == ':') {
    ArrowType out{.layout = Layout::Moment, .unit = unit};
    const std::string zone(format.substr(4));
    if (!zone.empty()) out.zone = std::make_shared<const TimeZone>(TimeZone::read(zone, column));
    return out;
  }
  if (format[1] == 'D' || format[1] == 'i') return {.layout = Layout::Nowhere};
  unknown_format(format, column);
}

ArrowType plain_type(std::string_view format, std::string_view column) {
  static constexpr std::pair<char, Layout> kLetters[] = {
      {'n', Layout::Null},   {'b', Layout::Bool},   {'c', Layout::Int8},   {'C', Layout::UInt8},
      {'s', Layout::Int16},  {'S', Layout::UInt16}, {'i', Layout::Int32},  {'I', Layout::UInt32},
      {'l', Layout::Int64},  {'L', Layout::UInt64}, {'e', Layout::Half},   {'f', Layout::Float},
      {'g', Layout::Double}, {'u', Layout::Text32}, {'U', Layout::Text64}, {'z', Layout::Text32},
      {'Z', Layout::Text64}};
  if (format.size() == 1) {
    for (const auto& [letter, layout] : kLetters) {
      if (format[0] == letter) return {.layout = layout};
    }
  }
  // Bytes are read as text: some readers take a column for bytes as soon as one cell is no UTF-8,
  // and one cell must not decide what the others mean.
  if (format == "vu" || format == "vz") return {.layout = Layout::TextView};
  if (format.starts_with("w:")) return {.layout = Layout::Nowhere};
  if (format.starts_with("d:")) return decimal_type(format, column);
  if (format.starts_with('t')) return time_type(format, column);
  if (format.starts_with('+')) return {.layout = Layout::Nested};
  unknown_format(format, column);
}

bool is_index(Layout layout) { return layout >= Layout::Int8 && layout <= Layout::UInt64; }

// The first is what is null.
std::int64_t least_buffers(Layout layout) {
  switch (layout) {
    case Layout::Null:
    case Layout::Nested:
    case Layout::Nowhere:
      return 0;
    case Layout::Text32:
    case Layout::Text64:
    case Layout::TextView:
      return 3;
    default:
      return 2;
  }
}

[[noreturn]] void broken() {
  throw UsageError(
      "A batch of the rows is no Arrow array of its schema; hand over what the frame library "
      "gives, unchanged.");
}

// A dictionary is nameless, so the column is named along with it.
ArrowType type_of(const ArrowSchema& schema, std::string_view column) {
  const std::string_view format = schema.format == nullptr ? "" : schema.format;
  ArrowType out = plain_type(format, column);
  if (schema.dictionary != nullptr) {
    // One level is looked at: however deep they go, deeper ones are refused.
    if (!is_index(out.layout) || schema.dictionary->dictionary != nullptr) {
      unknown_format(format, column);
    }
    ArrowType values = type_of(*schema.dictionary, column);
    if (values.layout == Layout::Nested) return values;
    out.values = std::make_shared<const ArrowType>(std::move(values));
  }
  return out;
}

}  // namespace

ArrowType arrow_type(const ArrowSchema& schema) {
  return type_of(schema, schema.name == nullptr ? "" : schema.name);
}

void check_array(const ArrowType& type, const ArrowArray& array, std::int64_t first,
                 std::int64_t rows) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 64;
  if (array.offset < 0 || array.length < 0 || first < 0 || rows < 0 || array.offset > kMost ||
      array.length > kMost || first > kMost || rows > array.length - first) {
    broken();
  }
  const std::int64_t least = least_buffers(type.layout);
  // Views without texts of their own may leave out the sizes of these.
  if (array.n_buffers < (type.layout == Layout::TextView ? 2 : least)) broken();
  if (rows > 0 && least > 0 && (array.buffers == nullptr || array.buffers[1] == nullptr)) broken();
  if (type.values != nullptr) {
    if (array.dictionary == nullptr) broken();
    check_array(*type.values, *array.dictionary, 0, array.dictionary->length);
  }
}

ArrowCells::ArrowCells(const ArrowType& type, const ArrowArray& array)
    : type_(type), array_(array) {
  const bool may_have_nulls = array.null_count != 0 && type.layout != Layout::Null;
  if (may_have_nulls && array.n_buffers > 0 && array.buffers != nullptr &&
      type.layout != Layout::Nested) {
    validity_ = buffer(0);
  }
  if (array.n_buffers > 1 && array.buffers != nullptr) data_ = buffer(1);
}

double ArrowCells::of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double out = 0.0;
  if (exponent == 31) {
    out = fraction == 0 ? std::numeric_limits<double>::infinity()
                        : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    out = std::ldexp(fraction, -24);
  } else {
    out = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -out : out;
}

bool ArrowCells::digits_of(const unsigned char* from, int bytes, std::string& room) {
  // In parts of 32 bits, the lowest first; divided again and again by a billion.
  std::vector<std::uint32_t> parts(static_cast<std::size_t>(bytes / 4));
  std::memcpy(parts.data(), from, static_cast<std::size_t>(bytes));
  const bool negative = (parts.back() & 0x80000000U) != 0;
  if (negative) {
    std::uint64_t carry = 1;
    for (auto& part : parts) {
      carry += static_cast<std::uint32_t>(~part);
      part = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  std::vector<std::uint32_t> groups;
  while (std::ranges::any_of(parts, [](std::uint32_t part) { return part != 0; })) {
    std::uint64_t rest = 0;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      rest = rest << 32 | *part;
      *part = static_cast<std::uint32_t>(rest / 1'000'000'000);
      rest %= 1'000'000'000;
    }
    groups.push_back(static_cast<std::uint32_t>(rest));
  }
  room.clear();
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    room += room.empty() ? fmt::format("{}", *group) : fmt::format("{:09}", *group);
  }
  return negative;
}

bool is_null_row(const ArrowArray& rows, std::int64_t row) {
  if (rows.null_count == 0 || rows.n_buffers < 1 || rows.buffers == nullptr ||
      rows.buffers[0] == nullptr) {
    return false;
  }
  const auto* validity = static_cast<const unsigned char*>(rows.buffers[0]);
  const std::int64_t at = row + rows.offset;
  return (validity[at >> 3] >> (at & 7) & 1) == 0;
}

}  // namespace tandem
