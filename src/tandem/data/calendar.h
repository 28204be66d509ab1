// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arithmetic on the calendar, in seconds since the beginning of 1970.

#include <cstdint>
#include <optional>
#include <string_view>

namespace tandem {

enum class CalendarUnit { Years, Months, Days, Hours, Minutes, Seconds };  // the largest first

// "days" or "day", and the like.
std::optional<CalendarUnit> parse_calendar_unit(std::string_view word);
std::string_view name_of(CalendarUnit unit);  // "days"

// The number of the unit that a moment lies in, counted from that of 1970; and where it begins.
std::int64_t calendar_cut(std::int64_t moment, CalendarUnit unit);
std::int64_t calendar_begin(std::int64_t number, CalendarUnit unit);

// A moment so many units later, at most kMostCalendarYears. A day that its new month lacks becomes
// the month's last, so moments never overtake each other.
std::int64_t calendar_shift(std::int64_t moment, std::int64_t amount, CalendarUnit unit);

inline constexpr std::int64_t kMostCalendarYears = 10'000;  // the years of dates are 0 to 9999
std::int64_t most_calendar_amount(CalendarUnit unit);       // of kMostCalendarYears

}  // namespace tandem
