// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/value_line.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "support/codecs.h"
#include "support/errors.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::error_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const std::vector<std::string>& patterns() {
  static const std::vector<std::string> kPatterns = {
      "%Y",           "%Y-%m",  "%m/%Y",    "%Y-%m-%d",       "%d.%m.%Y",       "%m/%d/%Y",
      "%Y%m%d",       "%d%m%Y", "%d1%m2%Y", "%H h, %d.%m.%Y", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S",
      "%S%M%H%d%m%Y", "år %Y"};
  return kPatterns;
}

TEST(NumberLine, ReadsDecimalNumbersAndNothingElse) {
  const auto line = number_line(1);
  const struct {
    std::string text;
    double value;
  } numbers[] = {{"12", 12.0},
                 {" 12\t", 12.0},
                 {"+12", 12.0},
                 {"-12.5", -12.5},
                 {"-0", 0.0},
                 {".5", 0.5},
                 {"5.", 5.0},
                 {"1e3", 1000.0},
                 {"1E-1", 0.1},
                 {"999999999999999", 999999999999999.0},
                 {"00000000000000000000012", 12.0},
                 {"9007199254740993", 9007199254740992.0},
                 {"1e999", kInfinity},
                 {"-1e999", -kInfinity},
                 {"1e-999", 0.0},
                 {"-1e-999", 0.0},
                 {std::string(1 << 20, '9'), kInfinity},
                 {"0" + std::string(400, '9'), kInfinity},
                 {"0.0" + std::string(400, '0') + "1", 0.0},
                 {"." + std::string(400, '0') + "1", 0.0},
                 {"." + std::string(400, '0') + "1e5", 0.0},
                 {"." + std::string(400, '0') + "1e999", kInfinity},
                 {std::string(400, '9') + "e-5", kInfinity},
                 {std::string(400, '9') + "e-999", 0.0},
                 {"1e" + std::string(99, '9'), kInfinity},
                 {"1e-" + std::string(99, '9'), 0.0},
                 {"0e" + std::string(99, '9'), 0.0}};
  for (const auto& [text, value] : numbers) EXPECT_EQ(line->parse(text), value) << text;
  for (const char* text :
       {"",    " ",   "+",     "-",   ".",    "-.",       "+-5",  "-+5",   "--5", "++5",
        "- 5", "nan", "-nan",  "inf", "-inf", "infinity", "0x10", "1_000", "1,5", "1 000",
        "1e",  "e5",  "1e5.0", "5x",  "١٢",   "１２",     "\xff", "1.2.3", "1f"}) {
    EXPECT_FALSE(line->parse(text)) << text;
  }
  for (const auto& text : {std::string("\0", 1), std::string("5\0", 2), std::string("1\0002", 3)}) {
    EXPECT_FALSE(line->parse(text));
  }
}

TEST(NumberLine, WritesAllItsDecimals) {
  const struct {
    int decimals;
    std::int64_t tick;
    const char* text;
  } cases[] = {{0, 0, "0"},
               {0, -7, "-7"},
               {1, 350000, "35000.0"},
               {1, -5, "-0.5"},
               {2, 7, "0.07"},
               {2, -100, "-1.00"},
               {15, 1, "0.000000000000001"},
               {15, kLargestTick - 1, "0.999999999999999"}};
  for (const auto& [decimals, tick, text] : cases) {
    EXPECT_EQ(number_line(decimals)->text(tick), text);
  }
  EXPECT_THROW(number_line(16), InternalError);
  EXPECT_THROW(number_line(-1), InternalError);
}

std::int64_t any_tick() {
  const auto bits = *rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(0, 64);
  const auto size = static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(kLargestTick));
  return *rc::gen::arbitrary<bool>() ? size : -size;
}

RC_GTEST_PROP(NumberLine, ATicksTextReadsBackAsItsPoint, ()) {
  const auto line = number_line(*rc::gen::inRange(0, kMostDecimals + 1));
  const auto tick = any_tick();
  RC_ASSERT(line->parse(line->text(tick)) == line->point(tick));
  RC_ASSERT(line->tick_from(line->point(tick)) == tick);
  RC_ASSERT(line->point(tick - 1) < line->point(tick));
}

RC_GTEST_PROP(NumberLine, FindsTheFirstTickAtOrAboveAPoint, ()) {
  const auto line = number_line(*rc::gen::inRange(0, kMostDecimals + 1));
  const auto tick = any_tick();
  const double share = (*rc::gen::inRange(0, 1001)) / 1000.0;
  const double low = line->point(tick);
  const double target = low + share * (line->point(tick + 1) - low);
  const auto found = line->tick_from(target);
  RC_ASSERT(line->point(found) >= target);
  RC_ASSERT(line->point(found - 1) < target);
}

TEST(DateLine, KnowsTheCalendar) {
  const struct {
    const char* pattern;
    const char* text;
    std::int64_t tick;
  } dates[] = {{"%Y-%m-%d", "1970-01-01", 0},
               {"%Y-%m-%d", " 1970-01-02 ", 1},
               {"%Y-%m-%d", "1970-1-2", 1},
               {"%Y-%m-%d", "1969-12-31", -1},
               {"%Y-%m-%d", "2000-02-29", 11016},
               {"%Y-%m-%d", "0000-01-01", -719528},
               {"%Y-%m-%d", "0000-02-29", -719469},
               {"%Y-%m-%d", "9999-12-31", 2932896},
               {"%Y", "1969", -1},
               {"%Y", "0000", -1970},
               {"%m/%Y", "12/1969", -1},
               {"%Y%m%d", "19700102", 1},
               {"%Y-%m-%d %H:%M:%S", "1969-12-31 23:59:59", -1},
               {"%Y-%m-%dT%H:%M", "1970-01-01T01:01", 61},
               {"%H h, %d.%m.%Y", "23 h, 31.12.1969", -1}};
  for (const auto& [pattern, text, tick] : dates) {
    const auto line = date_line(pattern);
    EXPECT_EQ(line->parse(text), static_cast<double>(tick)) << text;
  }
  for (const char* text :
       {"",           "-",           "2021-02-29",  "1900-02-29",  "2021-00-01",
        "2021-13-01", "2021-01-00",  "2021-04-31",  "10000-01-01", "999-01-01",
        "-001-01-01", "+2021-01-01", "2021-01-01x", "2021-01-011", "2021-01",
        "2021/01/01", "x2021-01-01", "2021--1-01",  "20210101",    "٢٠٢١-01-01"}) {
    EXPECT_FALSE(date_line("%Y-%m-%d")->parse(text)) << text;
  }
  for (const char* text : {"2021-01-01 24:00:00", "2021-01-01 00:60:00", "2021-01-01 00:00:60"}) {
    EXPECT_FALSE(date_line("%Y-%m-%d %H:%M:%S")->parse(text)) << text;
  }
}

RC_GTEST_PROP(DateLine, EveryTickFromYear0To9999ReadsBack, ()) {
  for (const auto& pattern : patterns()) {
    const auto line = date_line(pattern);
    const auto bound = [&](bool last) {  // by the pattern itself, its parts written out
      std::string text = pattern;
      for (const auto& [part, low, high] :
           std::vector<std::array<std::string, 3>>{{"%Y", "0000", "9999"},
                                                   {"%m", "01", "12"},
                                                   {"%d", "01", "31"},
                                                   {"%H", "00", "23"},
                                                   {"%M", "00", "59"},
                                                   {"%S", "00", "59"}}) {
        const auto at = text.find(part);
        if (at != std::string::npos) text.replace(at, 2, last ? high : low);
      }
      const auto point = line->parse(text);
      RC_ASSERT(point.has_value());
      return static_cast<std::int64_t>(*point);
    };
    const auto first = bound(false);
    const auto last = bound(true);
    for (const auto tick :
         {first, last, *rc::gen::inRange(first, last + 1), std::int64_t{0}, std::int64_t{-1}}) {
      RC_ASSERT(line->parse(line->text(tick)) == static_cast<double>(tick));
    }
    RC_ASSERT(line->text(first) < line->text(last) || pattern[1] != 'Y');
  }
}

TEST(DateLine, RefusesOtherPatterns) {
  const struct {
    const char* pattern;
    const char* message;
  } cases[] = {
      {"", "the pattern '' needs %Y; write the larger parts of a date beside the finer ones."},
      {"day",
       "the pattern 'day' needs %Y; write the larger parts of a date beside the finer ones."},
      {"%m-%d",
       "the pattern '%m-%d' needs %Y; write the larger parts of a date beside the finer ones."},
      {"%Y-%d",
       "the pattern '%Y-%d' needs %m; write the larger parts of a date beside the finer ones."},
      {"%Y%%", "the pattern '%Y%%' has a part other than %Y, %m, %d, %H, %M and %S; use these."},
      {"%Y%", "the pattern '%Y%' has a part other than %Y, %m, %d, %H, %M and %S; use these."},
      {"%y", "the pattern '%y' has a part other than %Y, %m, %d, %H, %M and %S; use these."},
      {"%Y %Y", "the pattern '%Y %Y' has %Y twice; keep one."},
      {" %Y",
       "the pattern ' %Y' has a space at an end; leave it out, since a date is read with or "
       "without."}};
  for (const auto& [pattern, message] : cases) {
    const std::string text = pattern;
    EXPECT_EQ(error_of<UsageError>([&] { date_line(text); }), message);
  }
}

TEST(NextCalendar, BeginsTheNextMonthQuarterYearOrDecade) {
  const auto days = date_line("%Y-%m-%d");
  const auto next = [&](const char* text, const char* unit) {
    const auto tick = static_cast<std::int64_t>(*days->parse(text));
    return days->text(next_calendar(*days, tick, unit));
  };
  EXPECT_EQ(next("2020-02-29", "month"), "2020-03-01");
  EXPECT_EQ(next("1969-12-31", "month"), "1970-01-01");
  EXPECT_EQ(next("2020-03-31", "quarter"), "2020-04-01");
  EXPECT_EQ(next("2020-10-01", "quarter"), "2021-01-01");
  EXPECT_EQ(next("1969-07-20", "year"), "1970-01-01");
  EXPECT_EQ(next("1969-07-20", "decade"), "1970-01-01");
  EXPECT_EQ(next("0000-07-20", "decade"), "0010-01-01");
  const auto seconds = date_line("%Y-%m-%d %H:%M:%S");
  EXPECT_EQ(seconds->text(next_calendar(*seconds, -1, "year")), "1970-01-01 00:00:00");
  EXPECT_THROW(next_calendar(*number_line(0), 0, "year"), InternalError);
}

}  // namespace
}  // namespace tandem
