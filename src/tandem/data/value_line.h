// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts as points on a line: decimal numbers and dates. Locale-free.
//
// What is written lies on a grid of ticks (0.01, a day, a second); what is read may lie between
// ticks. A tick's text reads back as exactly its point.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tandem/data/calendar.h"

namespace tandem {

class ValueLine {
 public:
  virtual ~ValueLine() = default;
  virtual std::optional<double> parse(std::string_view text) const = 0;  // infinite if too large
  virtual void print(std::int64_t tick, std::string& to) const = 0;      // appends
  virtual double point(std::int64_t tick) const = 0;
  virtual std::string_view noun() const = 0;  // for messages: "a number"
  virtual bool numeric() const = 0;
  virtual int decimals() const { return 0; }  // digits after the point of a number
  // The point of a date: the tick in which a clock shows this second since 1970. Nothing for
  // numbers.
  virtual std::optional<double> point_at(std::int64_t /*second*/) const { return {}; }
  // What a tick of a date is, counted from 1970; nothing for numbers.
  virtual std::optional<CalendarUnit> calendar_unit() const { return {}; }

  std::string text(std::int64_t tick) const;
  // The first tick at or above a point. The point's distance from 0 is below kLargestTick ticks.
  std::int64_t tick_from(double point) const;
};

// Ticks from the first to the last, both included.
struct TickRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool empty() const { return last < first; }
  bool operator==(const TickRange&) const = default;
};

// Fifteen digits: as many as a double tells apart wherever the point stands.
inline constexpr std::int64_t kLargestTick = 1'000'000'000'000'000;
inline constexpr int kMostDecimals = 15;

// Numbers with so many digits after the point, always written: 35000.0 has one.
std::unique_ptr<ValueLine> number_line(int decimals);

// Dates by a pattern of %Y %m %d %H %M %S and literal text; a tick is the finest of them.
// UsageError for any other pattern.
std::unique_ptr<ValueLine> date_line(const std::string& pattern);

// The tick that begins the calendar's `unit` ("month", "quarter", "year" or "decade") after that of
// `tick`, on a line made by date_line.
std::int64_t next_calendar(const ValueLine& line, std::int64_t tick, std::string_view unit);

}  // namespace tandem
