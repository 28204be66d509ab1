// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/calendar.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "tandem/base/rng.h"

namespace tandem {
namespace {

using enum CalendarUnit;

constexpr std::int64_t kDay = 86'400;

// A date and a time as the standard library has them.
struct Clock {
  std::chrono::year_month_day date;
  std::int64_t second = 0;  // of the day
};

Clock clock_of(std::int64_t moment) {
  const auto at = std::chrono::sys_seconds(std::chrono::seconds(moment));
  const auto day = std::chrono::floor<std::chrono::days>(at);
  return {std::chrono::year_month_day(day), (at - day).count()};
}

std::int64_t moment_of(const Clock& clock) {
  return std::chrono::sys_days(clock.date).time_since_epoch().count() * kDay + clock.second;
}

// Moments of the years 0 to 9999, and such at which something begins or ends.
std::vector<std::int64_t> moments() {
  std::vector<std::int64_t> out = {0, -1, 1, kDay - 1, kDay, -kDay, -kDay - 1};
  for (const int year : {0, 1, 1599, 1600, 1899, 1900, 1968, 1970, 2000, 2023, 2024, 9999}) {
    for (const unsigned month : {1U, 2U, 3U, 12U}) {
      const auto first =
          std::chrono::sys_days(std::chrono::year(year) / std::chrono::month(month) / 1);
      const std::int64_t begin = first.time_since_epoch().count() * kDay;
      out.insert(out.end(), {begin - 1, begin, begin + 27 * kDay, begin + 30 * kDay + 7});
    }
  }
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    out.push_back(static_cast<std::int64_t>(rng.below(315'500'000'000)) - 62'167'219'200);
  }
  return out;
}

TEST(Calendar, UnitsHaveTheirNamesInBothNumbers) {
  EXPECT_EQ(parse_calendar_unit("years"), Years);
  EXPECT_EQ(parse_calendar_unit("month"), Months);
  EXPECT_EQ(parse_calendar_unit("seconds"), Seconds);
  EXPECT_FALSE(parse_calendar_unit("day "));
  EXPECT_FALSE(parse_calendar_unit("da"));
  EXPECT_FALSE(parse_calendar_unit(""));
  EXPECT_EQ(name_of(Hours), "hours");
}

TEST(Calendar, AMomentLiesInOneOfEachUnit) {
  for (const auto moment : moments()) {
    const Clock clock = clock_of(moment);
    const std::int64_t years = static_cast<int>(clock.date.year()) - 1970;
    const std::int64_t months = years * 12 + static_cast<unsigned>(clock.date.month()) - 1;
    EXPECT_EQ(calendar_cut(moment, Years), years) << moment;
    EXPECT_EQ(calendar_cut(moment, Months), months) << moment;
    EXPECT_EQ(calendar_cut(moment, Days), (moment - clock.second) / kDay) << moment;
    EXPECT_EQ(calendar_cut(moment, Seconds), moment);
    for (const auto unit : {Years, Months, Days, Hours, Minutes, Seconds}) {
      const std::int64_t number = calendar_cut(moment, unit);
      EXPECT_LE(calendar_begin(number, unit), moment) << moment << " " << name_of(unit);
      EXPECT_GT(calendar_begin(number + 1, unit), moment) << moment << " " << name_of(unit);
      EXPECT_EQ(calendar_cut(calendar_begin(number, unit), unit), number);
    }
  }
  EXPECT_EQ(calendar_begin(1, Hours), 3600);
  EXPECT_EQ(calendar_begin(1, Minutes), 60);
}

TEST(Calendar, MonthsLaterIsTheSameDayOrTheMonthsLast) {
  Rng rng(2);
  for (const auto moment : moments()) {
    const std::int64_t amount = static_cast<std::int64_t>(rng.below(2400)) - 1200;
    Clock clock = clock_of(moment);
    const auto month = std::chrono::year_month(clock.date.year(), clock.date.month()) +
                       std::chrono::months(static_cast<int>(amount));
    clock.date = month / std::min(clock.date.day(), (month / std::chrono::last).day());
    EXPECT_EQ(calendar_shift(moment, amount, Months), moment_of(clock)) << moment << " " << amount;
    if (amount % 12 == 0) {
      EXPECT_EQ(calendar_shift(moment, amount / 12, Years), moment_of(clock));
    }
    EXPECT_EQ(calendar_shift(moment, amount, Days), moment + amount * kDay);
    EXPECT_EQ(calendar_shift(moment, amount, Hours), moment + amount * 3600);
    EXPECT_EQ(calendar_shift(moment, amount, Minutes), moment + amount * 60);
    EXPECT_EQ(calendar_shift(moment, amount, Seconds), moment + amount);
  }
}

TEST(Calendar, ShiftsEndAtTenThousandYears) {
  EXPECT_EQ(most_calendar_amount(Years), 10'000);
  EXPECT_EQ(most_calendar_amount(Months), 120'000);
  EXPECT_EQ(most_calendar_amount(Days), 3'660'000);
  EXPECT_EQ(most_calendar_amount(Hours), 3'660'000 * 24);
  EXPECT_EQ(most_calendar_amount(Seconds), std::int64_t{3'660'000} * kDay);
  for (const auto unit : {Years, Months, Days, Hours, Minutes, Seconds}) {
    const std::int64_t most = most_calendar_amount(unit);
    for (const std::int64_t sign : {-1, 1}) {
      EXPECT_EQ(calendar_shift(5, sign * (most + 1), unit), calendar_shift(5, sign * most, unit));
      EXPECT_NE(calendar_shift(5, sign * (most - 1), unit), calendar_shift(5, sign * most, unit));
    }
  }
}

}  // namespace
}  // namespace tandem
