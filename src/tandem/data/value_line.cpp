// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/value_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

std::string ValueLine::text(std::int64_t tick) const {
  std::string out;
  print(tick, out);
  return out;
}

std::int64_t ValueLine::tick_from(double target) const {
  // A first guess by division, made exact by looking at its neighbours.
  const double per_tick = point(1) - point(0);
  auto tick = static_cast<std::int64_t>(std::floor(target / per_tick)) - 2;
  while (point(tick) < target) ++tick;
  return tick;
}

namespace {

constexpr std::array<double, kMostDecimals + 1> kPowersOfTen = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// A number too large or too small for a double, as from_chars has found it: infinite, or 0.
double beyond_double(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const auto e = text.find_first_of("eE");
  // It is 0.d... times ten to the power of `magnitude`, d not being 0.
  const auto digits = text.substr(0, e);
  const auto point = std::min(digits.find('.'), digits.size());
  const auto leading = std::min(digits.find_first_not_of("0."), digits.size());
  auto magnitude = static_cast<double>(point) - static_cast<double>(leading);
  if (leading > point) magnitude += 1.0;  // the point itself is no digit
  if (e != std::string_view::npos) {
    const auto exponent = text.substr(e + 1);
    const double endless = exponent.starts_with('-') ? -1e18 : 1e18;
    const auto whole = parse_integer(exponent);
    magnitude += whole ? static_cast<double>(*whole) : endless;
  }
  if (magnitude <= 0.0) return 0.0;
  return negative ? -std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::infinity();
}

// With leading zeros where there are fewer digits than `least`.
void append_digits(std::uint64_t number, std::size_t least, std::string& to) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const auto count = static_cast<std::size_t>(end - digits.data());
  if (count < least) to.append(least - count, '0');
  to.append(digits.data(), count);
}

class NumberLine final : public ValueLine {
 public:
  explicit NumberLine(int decimals)
      : decimals_(decimals), power_(kPowersOfTen[static_cast<std::size_t>(decimals)]) {}

  std::optional<double> parse(std::string_view text) const override {
    // The common case by hand: one to fifteen digits.
    if (!text.empty() && text.size() <= 15) {
      std::int64_t whole = 0;
      bool digits = true;
      for (const char c : text) {
        const auto digit = static_cast<unsigned char>(c - '0');
        digits = digits && digit <= 9;
        whole = whole * 10 + digit;
      }
      if (digits) return static_cast<double>(whole);
    }
    text = trim(text);
    const bool plus = text.starts_with('+');
    if (plus) text.remove_prefix(1);
    const auto first = !plus && text.starts_with('-') ? text.substr(1) : text;
    // from_chars also reads 'nan' and 'inf'; a number starts with a digit or a point.
    if (first.empty() || (first[0] != '.' && (first[0] < '0' || first[0] > '9'))) return {};
    double value = 0.0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (stop != end || error == std::errc::invalid_argument) return {};
    return error == std::errc{} ? value : beyond_double(text);
  }

  void print(std::int64_t tick, std::string& to) const override {
    if (tick < 0) to += '-';
    const auto size = static_cast<std::uint64_t>(tick < 0 ? -tick : tick);
    const auto power = static_cast<std::uint64_t>(power_);
    append_digits(size / power, 1, to);
    if (decimals_ > 0) {
      to += '.';
      append_digits(size % power, static_cast<std::size_t>(decimals_), to);
    }
  }

  // Two exact doubles and one rounding: what from_chars makes of the printed text.
  double point(std::int64_t tick) const override { return static_cast<double>(tick) / power_; }

  std::string_view noun() const override { return decimals_ == 0 ? "a whole number" : "a number"; }
  bool numeric() const override { return true; }
  int decimals() const override { return decimals_; }

 private:
  int decimals_;
  double power_;
};

constexpr std::string_view kDateParts = "YmdHMS";  // from the largest to the finest
constexpr std::int64_t kSecondsOfDay = 86400;

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

class DateLine final : public ValueLine {
 public:
  using Fields = std::array<int, 6>;  // year, month, day, hour, minute, second
  enum Part : std::size_t { Year, Month, Day, Hour, Minute, Second };

  explicit DateLine(const std::string& pattern) {
    if (trim(pattern) != pattern) {
      throw UsageError(
          fmt::format("the pattern {} has a space at an end; leave it out, since a "
                      "date is read with or without.",
                      in_quotes(pattern)));
    }
    std::array<bool, 6> has{};
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] != '%') {
        pieces_.push_back({.literal = pattern[i]});
        continue;
      }
      const auto part = ++i < pattern.size() ? kDateParts.find(pattern[i]) : kDateParts.npos;
      if (part == kDateParts.npos) {
        throw UsageError(fmt::format(
            "the pattern {} has a part other than %Y, %m, %d, %H, %M and %S; use these.",
            in_quotes(pattern)));
      }
      if (std::exchange(has[part], true)) {
        throw UsageError(
            fmt::format("the pattern {} has %{} twice; keep one.", in_quotes(pattern), pattern[i]));
      }
      pieces_.push_back({.part = static_cast<int>(part)});
      finest_ = std::max(finest_, part);
    }
    for (std::size_t part = 0; part <= finest_; ++part) {
      if (!has[part]) {
        throw UsageError(
            fmt::format("the pattern {} needs %{}; write the larger parts of a date "
                        "beside the finer ones.",
                        in_quotes(pattern), kDateParts[part]));
      }
    }
  }

  std::optional<double> parse(std::string_view text) const override {
    text = trim(text);
    Fields fields = {1970, 1, 1, 0, 0, 0};
    std::size_t at = 0;
    for (const auto& piece : pieces_) {
      if (piece.part < 0) {
        if (at >= text.size() || text[at] != piece.literal) return {};
        ++at;
        continue;
      }
      const std::size_t most = piece.part == Year ? 4 : 2;
      const std::size_t start = at;
      int value = 0;
      while (at - start < most && at < text.size() && text[at] >= '0' && text[at] <= '9') {
        value = value * 10 + (text[at++] - '0');
      }
      if (at - start < (piece.part == Year ? 4 : 1)) return {};
      fields[static_cast<std::size_t>(piece.part)] = value;
    }
    if (at != text.size() || !date_of(fields).ok()) return {};
    if (fields[Hour] > 23 || fields[Minute] > 59 || fields[Second] > 59) return {};
    return static_cast<double>(tick_of(fields));
  }

  void print(std::int64_t tick, std::string& to) const override {
    const Fields fields = fields_of(tick);
    for (const auto& piece : pieces_) {
      if (piece.part < 0) {
        to += piece.literal;
      } else {
        append_digits(static_cast<std::uint64_t>(fields[static_cast<std::size_t>(piece.part)]),
                      piece.part == Year ? 4 : 2, to);
      }
    }
  }

  double point(std::int64_t tick) const override { return static_cast<double>(tick); }
  std::optional<double> point_at(std::int64_t second) const override {
    if (finest_ >= Day) return static_cast<double>(floor_div(second, seconds_of_tick()));
    const std::chrono::year_month_day date{
        std::chrono::sys_days(std::chrono::days(floor_div(second, kSecondsOfDay)))};
    return static_cast<double>(
        tick_of({static_cast<int>(date.year()),
                 static_cast<int>(static_cast<unsigned>(date.month())), 1, 0, 0, 0}));
  }
  std::string_view noun() const override { return "a date"; }
  bool numeric() const override { return false; }
  std::optional<CalendarUnit> calendar_unit() const override {
    return static_cast<CalendarUnit>(finest_);  // the parts of a date are in the same order
  }

  std::int64_t tick_of(const Fields& fields) const {
    if (finest_ == Year) return fields[Year] - 1970;
    if (finest_ == Month) return std::int64_t{fields[Year] - 1970} * 12 + fields[Month] - 1;
    const std::int64_t days = std::chrono::sys_days(date_of(fields)).time_since_epoch().count();
    const std::int64_t seconds =
        std::int64_t{fields[Hour]} * 3600 + std::int64_t{fields[Minute]} * 60 + fields[Second];
    return (days * kSecondsOfDay + seconds) / seconds_of_tick();
  }

  Fields fields_of(std::int64_t tick) const {
    if (finest_ <= Month) {
      const std::int64_t months = finest_ == Year ? tick * 12 : tick;
      const std::int64_t years = floor_div(months, 12);
      return {
          static_cast<int>(1970 + years), static_cast<int>(months - years * 12) + 1, 1, 0, 0, 0};
    }
    const std::int64_t all = tick * seconds_of_tick();
    const std::int64_t days = floor_div(all, kSecondsOfDay);
    const auto second = static_cast<int>(all - days * kSecondsOfDay);
    const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(days))};
    return {static_cast<int>(date.year()),
            static_cast<int>(static_cast<unsigned>(date.month())),
            static_cast<int>(static_cast<unsigned>(date.day())),
            second / 3600,
            second / 60 % 60,
            second % 60};
  }

 private:
  struct Piece {
    int part = -1;  // or none, then a literal
    char literal = '\0';
  };

  static std::chrono::year_month_day date_of(const Fields& fields) {
    return {std::chrono::year(fields[Year]),
            std::chrono::month(static_cast<unsigned>(fields[Month])),
            std::chrono::day(static_cast<unsigned>(fields[Day]))};
  }

  std::int64_t seconds_of_tick() const {
    return finest_ == Day ? kSecondsOfDay : finest_ == Hour ? 3600 : finest_ == Minute ? 60 : 1;
  }

  std::vector<Piece> pieces_;
  std::size_t finest_ = Year;
};

}  // namespace

std::unique_ptr<ValueLine> number_line(int decimals) {
  check(decimals >= 0 && decimals <= kMostDecimals, "a number has 0 to 15 decimals");
  return std::make_unique<NumberLine>(decimals);
}

std::unique_ptr<ValueLine> date_line(const std::string& pattern) {
  return std::make_unique<DateLine>(pattern);
}

std::int64_t next_calendar(const ValueLine& line, std::int64_t tick, std::string_view unit) {
  const auto* dates = dynamic_cast<const DateLine*>(&line);
  check(dates != nullptr, "a calendar is for dates");
  auto [year, month, day, hour, minute, second] = dates->fields_of(tick);
  if (unit == "month" || unit == "quarter") {
    const int length = unit == "month" ? 1 : 3;
    const int months = (month - 1) / length * length + length;
    return dates->tick_of({year + months / 12, months % 12 + 1, 1, 0, 0, 0});
  }
  const int years = unit == "year" ? 1 : 10;
  return dates->tick_of({year / years * years + years, 1, 1, 0, 0, 0});
}

}  // namespace tandem
