// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a clock on the wall shows in a time zone, from the machine's zone files (TZif).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

class TimeZone {
 public:
  // "Europe/Zurich", "UTC", "+01:30". UsageError for a zone that this machine does not know, with
  // the column that has it.
  static TimeZone read(const std::string& name, std::string_view column = {});
  // From the bytes of a zone file. UsageError, a phrase without a subject, when they are none.
  static TimeZone parse(const std::string& bytes);

  // Seconds to add to universal time, at this universal time.
  std::int64_t offset_at(std::int64_t second) const;

 private:
  // A day of a year on which the clock is changed, and the second of that day.
  struct Change {
    enum class Kind { Month, Julian, Day } kind = Kind::Month;
    int month = 0;
    int week = 0;
    int day = 0;
    std::int64_t second = 7200;
    std::int64_t in_year(std::int64_t year) const;  // seconds since 1970, on the wall
  };
  // What holds behind the last listed change: "CET-1CEST,M3.5.0,M10.5.0/3".
  struct Rule {
    std::int64_t standard = 0;
    std::int64_t summer = 0;
    bool has_summer = false;
    Change begins{};
    Change ends{};
  };
  static Rule parse_rule(const std::string& text);
  std::int64_t by_rule(std::int64_t second) const;

  std::vector<std::int64_t> changes_;  // universal times, ascending
  std::vector<std::int64_t> offsets_;  // from each on
  std::int64_t before_ = 0;            // the first change
  Rule rule_;
  bool has_rule_ = false;
};

}  // namespace tandem
