// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/time_zone.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

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

TEST(TimeZone, KnowsOffsetsByThemselves) {
  EXPECT_EQ(TimeZone::read("UTC").offset_at(1'600'000'000), 0);
  EXPECT_EQ(TimeZone::read("+01:30").offset_at(0), 5400);
  EXPECT_EQ(TimeZone::read("-0800").offset_at(0), -28800);
  EXPECT_EQ(TimeZone::read("+02").offset_at(0), 7200);
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
