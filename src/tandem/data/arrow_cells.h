// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layouts of Arrow's columns that tandem reads, and the cells in them one by one.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "tandem/base/check.h"
#include "tandem/data/arrow.h"
#include "tandem/data/cell_texts.h"
#include "tandem/data/time_zone.h"

namespace tandem {

// The type of a column, from the format of its schema.
struct ArrowType {
  enum class Layout {
    Null,
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Half,
    Float,
    Double,
    Decimal,
    Date32,
    Date64,
    Time,
    Moment,
    Text32,
    Text64,
    TextView,
    Nowhere,  // durations, intervals, bytes of a fixed size: no schema has such values
    Nested
  };
  Layout layout = Layout::Nowhere;
  int bits = 0;                                  // of a Decimal or Time
  int scale = 0;                                 // of a Decimal
  std::int64_t unit = 1;                         // ticks a second of a Time or Moment
  std::shared_ptr<const TimeZone> zone = {};     // of a Moment; none: the clock on the wall
  std::shared_ptr<const ArrowType> values = {};  // of a dictionary; the layout is its indices'
};

// UsageError for a format that is none, or a time zone that the machine does not know.
ArrowType arrow_type(const ArrowSchema& schema);

// UsageError for an array that can't be one of this type: too few buffers, or too short.
void check_array(const ArrowType& type, const ArrowArray& array, std::int64_t first,
                 std::int64_t rows);

// One column of one batch, to be looked at cell by cell.
class ArrowCells {
 public:
  // REQUIRES: check_array was content, and type and array outlive this.
  ArrowCells(const ArrowType& type, const ArrowArray& array);

  const ArrowType& type() const { return type_; }

  // Tells the sink of the cells [first, first + rows) of the array, its offset left aside, in
  // order. A sink has null(), nowhere(), of(bool), of(int64), of(uint64), of(double),
  // small_decimal(int64, scale), of(DecimalCell), of(MomentCell), of_time(microseconds),
  // of(text, readable bytes) and entry(index), for dictionaries.
  template <class Sink>
  void tell(std::int64_t first, std::int64_t rows, Sink& sink) const;

 private:
  bool is_null(std::int64_t at) const {
    return validity_ != nullptr && (validity_[at >> 3] >> (at & 7) & 1) == 0;
  }
  template <class T>
  static T load(const unsigned char* from, std::int64_t at) {
    T out;
    std::memcpy(&out, from + at * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return out;
  }
  const unsigned char* buffer(std::int64_t which) const {
    return static_cast<const unsigned char*>(array_.buffers[which]);
  }
  template <class Sink, class Cell>
  void each(std::int64_t first, std::int64_t rows, Sink& sink, Cell&& cell) const {
    const std::int64_t begin = first + array_.offset;
    if (validity_ == nullptr) {
      for (std::int64_t i = begin; i < begin + rows; ++i) cell(i);
      return;
    }
    for (std::int64_t i = begin; i < begin + rows; ++i) {
      if (is_null(i)) {
        sink.null();
      } else {
        cell(i);
      }
    }
  }
  template <class T, class As, class Sink>
  void numbers(std::int64_t first, std::int64_t rows, Sink& sink) const {
    each(first, rows, sink, [&](std::int64_t i) {
      if (type_.values != nullptr) {
        const auto index = load<T>(data_, i);
        // Beyond 63 bits no index can be right.
        sink.entry(static_cast<std::int64_t>(index));
      } else {
        sink.of(static_cast<As>(load<T>(data_, i)));
      }
    });
  }
  template <class Sink>
  void decimal(std::int64_t at, Sink& sink) const;
  template <class Sink>
  void moment(std::int64_t ticks, Sink& sink) const;
  template <class Offset, class Sink>
  void texts(std::int64_t first, std::int64_t rows, Sink& sink) const;
  template <class Sink>
  void views(std::int64_t first, std::int64_t rows, Sink& sink) const;
  static double of_half(std::uint16_t bits);
  // The digits of a whole number of so many bytes, lowest first, into `room`; whether it is
  // negative.
  static bool digits_of(const unsigned char* from, int bytes, std::string& room);

  const ArrowType& type_;
  const ArrowArray& array_;
  const unsigned char* validity_ = nullptr;
  const unsigned char* data_ = nullptr;
};

// Whether the row of a struct array is null as a whole.
bool is_null_row(const ArrowArray& rows, std::int64_t row);

// ---- Inside ----

template <class Sink>
void ArrowCells::decimal(std::int64_t at, Sink& sink) const {
  const int bytes = type_.bits / 8;
  const unsigned char* from = data_ + at * bytes;
  std::int64_t low = 0;
  bool small = true;
  if (bytes == 4) {
    low = load<std::int32_t>(from, 0);
  } else {
    low = load<std::int64_t>(from, 0);
    const unsigned char sign = low < 0 ? 0xFF : 0x00;
    for (int i = 8; i < bytes; ++i) small = small && from[i] == sign;
  }
  if (small) {
    sink.small_decimal(low, type_.scale);
    return;
  }
  std::string room;
  const bool negative = digits_of(from, bytes, room);
  sink.of(DecimalCell{.negative = negative, .digits = room, .scale = type_.scale});
}

template <class Sink>
void ArrowCells::moment(std::int64_t ticks, Sink& sink) const {
  std::int64_t second = ticks / type_.unit;
  std::int64_t rest = ticks % type_.unit;
  if (rest < 0) {
    rest += type_.unit;
    --second;
  }
  constexpr std::int64_t kFar = 400'000'000'000;  // seconds: beyond the year 9999, on any clock
  if (type_.zone && second > -kFar && second < kFar) second += type_.zone->offset_at(second);
  sink.of(MomentCell{.second = second,
                     .nanosecond = static_cast<std::int32_t>(rest * (1'000'000'000 / type_.unit)),
                     .clock = true});
}

template <class Offset, class Sink>
void ArrowCells::texts(std::int64_t first, std::int64_t rows, Sink& sink) const {
  const unsigned char* bytes = buffer(2);
  // As long as the whole array says that its texts are, which may be more than these rows' last
  // offset says. Without a buffer of texts, which may be missing where all are empty, none is
  // there.
  const std::int64_t all =
      bytes == nullptr ? 0 : load<Offset>(data_, array_.offset + array_.length);
  each(first, rows, sink, [&](std::int64_t i) {
    const std::int64_t begin = load<Offset>(data_, i);
    const std::int64_t end = load<Offset>(data_, i + 1);
    if (begin < 0 || end < begin || end > all) {
      sink.nowhere();
      return;
    }
    const char* text = begin == end ? "" : reinterpret_cast<const char*>(bytes + begin);
    sink.of(std::string_view(text, static_cast<std::size_t>(end - begin)),
            begin == end ? 0 : static_cast<std::size_t>(all - begin));
  });
}

template <class Sink>
void ArrowCells::views(std::int64_t first, std::int64_t rows, Sink& sink) const {
  const unsigned char* sizes = array_.n_buffers > 3 ? buffer(array_.n_buffers - 1) : nullptr;
  const std::int64_t pieces = sizes == nullptr ? 0 : array_.n_buffers - 3;
  each(first, rows, sink, [&](std::int64_t i) {
    const unsigned char* view = data_ + i * 16;
    const auto size = load<std::int32_t>(view, 0);
    if (size >= 0 && size <= 12) {
      sink.of(
          std::string_view(reinterpret_cast<const char*>(view + 4), static_cast<std::size_t>(size)),
          12);
      return;
    }
    const auto piece = load<std::int32_t>(view, 2);
    const auto begin = load<std::int32_t>(view, 3);
    if (size < 0 || piece < 0 || piece >= pieces || begin < 0 || buffer(2 + piece) == nullptr ||
        load<std::int64_t>(sizes, piece) - begin < size) {
      sink.nowhere();
      return;
    }
    sink.of(std::string_view(reinterpret_cast<const char*>(buffer(2 + piece)) + begin,
                             static_cast<std::size_t>(size)),
            static_cast<std::size_t>(load<std::int64_t>(sizes, piece) - begin));
  });
}

template <class Sink>
void ArrowCells::tell(std::int64_t first, std::int64_t rows, Sink& sink) const {
  using Layout = ArrowType::Layout;
  if (rows == 0) return;  // then an array may be without buffers
  switch (type_.layout) {
    case Layout::Null:
      for (std::int64_t i = 0; i < rows; ++i) sink.null();
      return;
    case Layout::Bool:
      return each(first, rows, sink,
                  [&](std::int64_t i) { sink.of((data_[i >> 3] >> (i & 7) & 1) != 0); });
    case Layout::Int8:
      return numbers<std::int8_t, std::int64_t>(first, rows, sink);
    case Layout::Int16:
      return numbers<std::int16_t, std::int64_t>(first, rows, sink);
    case Layout::Int32:
      return numbers<std::int32_t, std::int64_t>(first, rows, sink);
    case Layout::Int64:
      return numbers<std::int64_t, std::int64_t>(first, rows, sink);
    case Layout::UInt8:
      return numbers<std::uint8_t, std::int64_t>(first, rows, sink);
    case Layout::UInt16:
      return numbers<std::uint16_t, std::int64_t>(first, rows, sink);
    case Layout::UInt32:
      return numbers<std::uint32_t, std::int64_t>(first, rows, sink);
    case Layout::UInt64:
      return numbers<std::uint64_t, std::uint64_t>(first, rows, sink);
    case Layout::Half:
      return each(first, rows, sink,
                  [&](std::int64_t i) { sink.of(of_half(load<std::uint16_t>(data_, i))); });
    case Layout::Float:
      return each(first, rows, sink,
                  [&](std::int64_t i) { sink.of(static_cast<double>(load<float>(data_, i))); });
    case Layout::Double:
      return each(first, rows, sink, [&](std::int64_t i) { sink.of(load<double>(data_, i)); });
    case Layout::Decimal:
      return each(first, rows, sink, [&](std::int64_t i) { decimal(i, sink); });
    case Layout::Date32:
      return each(first, rows, sink, [&](std::int64_t i) {
        sink.of(MomentCell{.second = std::int64_t{load<std::int32_t>(data_, i)} * 86400});
      });
    case Layout::Date64:
      return each(first, rows, sink, [&](std::int64_t i) {
        const auto ms = load<std::int64_t>(data_, i);
        const std::int64_t days = ms / 86'400'000 - (ms % 86'400'000 < 0 ? 1 : 0);
        sink.of(MomentCell{.second = days * 86400});
      });
    case Layout::Time:
      return each(first, rows, sink, [&](std::int64_t i) {
        const std::int64_t ticks = type_.bits == 32 ? std::int64_t{load<std::int32_t>(data_, i)}
                                                    : load<std::int64_t>(data_, i);
        constexpr std::int64_t kMicro = 1'000'000;
        const bool fits = ticks >= 0 && ticks / type_.unit < 86400;
        sink.of_time(!fits                  ? -1
                     : type_.unit <= kMicro ? ticks * (kMicro / type_.unit)
                                            : ticks / (type_.unit / kMicro));
      });
    case Layout::Moment:
      return each(first, rows, sink,
                  [&](std::int64_t i) { moment(load<std::int64_t>(data_, i), sink); });
    case Layout::Text32:
      return texts<std::int32_t>(first, rows, sink);
    case Layout::Text64:
      return texts<std::int64_t>(first, rows, sink);
    case Layout::TextView:
      return views(first, rows, sink);
    case Layout::Nowhere:
    case Layout::Nested:
      return each(first, rows, sink, [&](std::int64_t /*i*/) { sink.nowhere(); });
  }
}

}  // namespace tandem
