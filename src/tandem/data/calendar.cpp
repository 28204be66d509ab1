// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/calendar.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace tandem {

namespace {

constexpr std::array<std::string_view, 6> kNames = {"years", "months",  "days",
                                                    "hours", "minutes", "seconds"};
constexpr std::int64_t kSecondsOfDay = 86400;

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

std::int64_t seconds_of(CalendarUnit unit) {
  switch (unit) {
    case CalendarUnit::Hours:
      return 3600;
    case CalendarUnit::Minutes:
      return 60;
    case CalendarUnit::Seconds:
      return 1;
    default:
      return kSecondsOfDay;
  }
}

std::chrono::year_month_day date_of(std::int64_t moment) {
  return std::chrono::sys_days(std::chrono::days(floor_div(moment, kSecondsOfDay)));
}

// Months since January 1970.
std::int64_t month_number(const std::chrono::year_month_day& date) {
  return std::int64_t{static_cast<int>(date.year()) - 1970} * 12 +
         static_cast<unsigned>(date.month()) - 1;
}

std::chrono::year_month month_of(std::int64_t number) {
  const std::int64_t years = floor_div(number, 12);
  return std::chrono::year(static_cast<int>(1970 + years)) /
         std::chrono::month(static_cast<unsigned>(number - years * 12) + 1);
}

std::int64_t seconds_at(const std::chrono::year_month_day& date) {
  return std::chrono::sys_days(date).time_since_epoch().count() * kSecondsOfDay;
}

}  // namespace

std::optional<CalendarUnit> parse_calendar_unit(std::string_view word) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const auto name = kNames[i];
    if (word == name || word == name.substr(0, name.size() - 1)) {
      return static_cast<CalendarUnit>(i);
    }
  }
  return {};
}

std::string_view name_of(CalendarUnit unit) { return kNames[static_cast<std::size_t>(unit)]; }

std::int64_t calendar_cut(std::int64_t moment, CalendarUnit unit) {
  if (unit > CalendarUnit::Months) return floor_div(moment, seconds_of(unit));
  const std::int64_t months = month_number(date_of(moment));
  return unit == CalendarUnit::Months ? months : floor_div(months, 12);
}

std::int64_t calendar_begin(std::int64_t number, CalendarUnit unit) {
  if (unit > CalendarUnit::Months) return number * seconds_of(unit);
  return seconds_at(month_of(unit == CalendarUnit::Months ? number : number * 12) /
                    std::chrono::day(1));
}

std::int64_t calendar_shift(std::int64_t moment, std::int64_t amount, CalendarUnit unit) {
  const std::int64_t most = most_calendar_amount(unit);
  amount = std::clamp(amount, -most, most);
  if (unit > CalendarUnit::Months) return moment + amount * seconds_of(unit);
  const auto date = date_of(moment);
  const std::int64_t months = unit == CalendarUnit::Months ? amount : amount * 12;
  const auto month = month_of(month_number(date) + months);
  const auto last = (month / std::chrono::last).day();
  return seconds_at(month / std::min(date.day(), last)) + moment -
         floor_div(moment, kSecondsOfDay) * kSecondsOfDay;
}

std::int64_t most_calendar_amount(CalendarUnit unit) {
  constexpr std::int64_t kDays = kMostCalendarYears * 366;
  if (unit == CalendarUnit::Years) return kMostCalendarYears;
  if (unit == CalendarUnit::Months) return kMostCalendarYears * 12;
  return kDays * (kSecondsOfDay / seconds_of(unit));
}

}  // namespace tandem
