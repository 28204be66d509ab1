// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/time_zone.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"
#include "tandem/base/rng.h"

namespace tandem {
namespace {

using test::error_of;

std::int64_t offset_of_system(std::int64_t second) {
  const auto time = static_cast<std::time_t>(second);
  std::tm wall{};
  localtime_r(&time, &wall);
  return wall.tm_gmtoff;
}

TEST(TimeZone, AgreesWithTheSystem) {
  Rng rng(1);
  for (const std::string name :
       {"Europe/Zurich", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe",
        "Australia/Sydney", "Asia/Kathmandu", "Europe/Dublin", "Africa/Casablanca", "Pacific/Apia",
        "America/Nuuk", "Asia/Tehran", "Etc/GMT+5", "America/Santiago"}) {
    if (!std::filesystem::exists("/usr/share/zoneinfo/" + name)) continue;
    const TimeZone zone = TimeZone::read(name);
    setenv("TZ", name.c_str(), 1);
    tzset();
    for (int i = 0; i < 20'000; ++i) {
      // From 1900 to 2200; libc knows no more of some zones before.
      const auto second = static_cast<std::int64_t>(rng.below(9'467'000'000)) - 2'208'000'000;
      ASSERT_EQ(zone.offset_at(second), offset_of_system(second)) << name << " at " << second;
    }
  }
  unsetenv("TZ");
  tzset();
}

// A zone file: changes, each to one of the offsets, and a rule for what is behind them.
struct ZoneFile {
  char version = '2';
  std::vector<std::int64_t> changes = {};
  std::vector<unsigned char> kinds = {};
  std::vector<std::int64_t> offsets = {0};
  std::string rule = {};
};

std::string bytes_of(const ZoneFile& zone) {
  const auto number = [](std::int64_t value, int bytes) {
    std::string out;
    for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
    return out;
  };
  const auto part = [&](int width) {
    std::string out = std::string("TZif") + zone.version + std::string(15, '\0');
    const auto sizes = {std::size_t{1},      std::size_t{1},      std::size_t{2},
                        zone.changes.size(), zone.offsets.size(), std::size_t{4}};
    for (const auto size : sizes) out += number(static_cast<std::int64_t>(size), 4);
    for (const auto change : zone.changes) out += number(change, width);
    for (const auto kind : zone.kinds) out += static_cast<char>(kind);
    for (const auto offset : zone.offsets) out += number(offset, 4) + std::string(2, '\0');
    return out + std::string(4, 'A') +
           std::string(2 * (static_cast<std::size_t>(width) + 4), '\0') + std::string(2, '\0');
  };
  if (zone.version < '2') return part(4);
  return part(4) + part(8) + "\n" + zone.rule + "\n";
}

TEST(TimeZone, RulesAreThoseOfTheSystem) {
  Rng rng(5);
  for (const std::string rule :
       {"CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0",
        "<+0330>-3:30<+0430>,J79/24,J263/24", "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1",
        "AAA-10BBB-10:30,M10.1.0,M4.1.0", "XXX3YYY,J59,J300", "XXX3YYY,J60,J365/12",
        "XXX-3YYY,59/0,300/1:30:15", "IST-1GMT0,M10.5.0,M3.5.0/1", "ABC-9:30", "ABC9:30:45",
        "XXX3YYY,M12.5.6,M2.4.3", "XXX+3YYY,0/0,J100"}) {
    const TimeZone zone = TimeZone::parse(bytes_of({.rule = rule}));
    setenv("TZ", rule.c_str(), 1);
    tzset();
    for (int i = 0; i < 5'000; ++i) {
      // libc knows no rules before 1970.
      const auto second = static_cast<std::int64_t>(rng.below(7'000'000'000)) + 40'000'000;
      ASSERT_EQ(zone.offset_at(second), offset_of_system(second)) << rule << " at " << second;
    }
    // Where a clock is changed, to the second.
    for (std::int64_t day = 1'700'000'000; day < 1'731'600'000; day += 86'400) {
      const std::int64_t before = offset_of_system(day);
      if (offset_of_system(day + 86'400) == before) continue;
      std::int64_t low = day;
      std::int64_t high = day + 86'400;
      while (high - low > 1) {
        const std::int64_t middle = (low + high) / 2;
        (offset_of_system(middle) == before ? low : high) = middle;
      }
      EXPECT_EQ(zone.offset_at(low), before) << rule;
      EXPECT_EQ(zone.offset_at(high), offset_of_system(high)) << rule;
    }
  }
  unsetenv("TZ");
  tzset();
}

TEST(TimeZone, ChangesHoldFromTheirSecondOn) {
  for (const char version : {'\0', '2', '3'}) {
    const TimeZone zone = TimeZone::parse(bytes_of({.version = version,
                                                    .changes = {-1000, 500, 2000},
                                                    .kinds = {1, 2, 0},
                                                    .offsets = {60, -3600, 7200}}));
    EXPECT_EQ(zone.offset_at(-1001), 60);
    EXPECT_EQ(zone.offset_at(-1000), -3600);
    EXPECT_EQ(zone.offset_at(499), -3600);
    EXPECT_EQ(zone.offset_at(500), 7200);
    EXPECT_EQ(zone.offset_at(2000), 60);
    EXPECT_EQ(zone.offset_at(4'000'000'000), 60);
  }
  // Behind the last change, its rule holds.
  const TimeZone ruled =
      TimeZone::parse(bytes_of({.changes = {0}, .kinds = {0}, .offsets = {60}, .rule = "ABC-2"}));
  EXPECT_EQ(ruled.offset_at(-1), 60);
  EXPECT_EQ(ruled.offset_at(0), 7200);
}

TEST(TimeZone, RefusesFilesThatSayWhatCanNotBe) {
  const auto error = [](const ZoneFile& zone) {
    return error_of<UsageError>([&] { TimeZone::parse(bytes_of(zone)); });
  };
  EXPECT_EQ(error({.changes = {5, 4}, .kinds = {0, 0}}), "has changes out of order");
  EXPECT_EQ(error({.changes = {5}, .kinds = {1}}), "names an offset that it does not have");
  EXPECT_EQ(error({.offsets = {}}), "names no offset");
  for (const std::string rule :
       {"<abc", "<abc>", "CET", "CET-", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0/2M4.1.1",
        "CET-1CEST,M13.1.0,M1.1.1", "CET-1CEST,M0.1.0,M1.1.1", "CET-1CEST,M1.0.0,M1.1.1",
        "CET-1CEST,M1.6.0,M1.1.1", "CET-1CEST,M1.1.7,M1.1.1", "CET-1CEST,Jx,J1"}) {
    EXPECT_EQ(error({.rule = rule}), "has a rule that can't be read") << rule;
  }
}

TEST(TimeZone, KnowsOffsetsByThemselves) {
  EXPECT_EQ(TimeZone::read("UTC").offset_at(1'600'000'000), 0);
  EXPECT_EQ(TimeZone::read("+01:30").offset_at(0), 5400);
  EXPECT_EQ(TimeZone::read("-0800").offset_at(0), -28800);
  EXPECT_EQ(TimeZone::read("+02").offset_at(0), 7200);
}

TEST(TimeZone, ANameMayHaveAnyLetterAndDigit) {
  for (const std::string name : {"Zulu", "NZ", "Etc/GMT0", "Etc/GMT+9", "Etc/GMT-14", "Asia/Almaty",
                                 "Africa/Brazzaville", "America/Port_of_Spain", "Asia/Baku"}) {
    if (!std::filesystem::exists("/usr/share/zoneinfo/" + name)) continue;
    EXPECT_NO_THROW(TimeZone::read(name)) << name;
  }
}

TEST(TimeZone, RefusesWhatIsNone) {
  for (const std::string name : {"", "Nowhere/Atall", "../../etc/passwd", "/etc/passwd", "+1",
                                 "+1:2", "Europe", "a b", "Europe/Zurich\n"}) {
    EXPECT_NE(error_of<UsageError>([&] { TimeZone::read(name); }).find("is not known"),
              std::string::npos)
        << name;
  }
}

TEST(TimeZone, RefusesDamagedFiles) {
  const std::string path = "/usr/share/zoneinfo/Europe/Zurich";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no zone files here";
  const std::string bytes = test::read_file(path);
  TimeZone::parse(bytes);
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    try {
      TimeZone::parse(bytes.substr(0, size)).offset_at(4'000'000'000);
    } catch (const UsageError&) {
    }
  }
  Rng rng(2);
  for (int i = 0; i < 2000; ++i) {
    std::string broken = bytes;
    for (int k = 0; k < 3; ++k)
      broken[rng.below(broken.size())] = static_cast<char>(rng.below(256));
    try {
      TimeZone::parse(broken).offset_at(4'000'000'000);
    } catch (const UsageError&) {
    }
  }
}

}  // namespace
}  // namespace tandem
