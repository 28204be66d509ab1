// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tandem::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kMegabyte = 1'000'000;

struct ProgressTest : testing::Test {
  void after(int milliseconds_more) { now += milliseconds(milliseconds_more); }
  void start() {
    bar.emplace(
        "Reading", [this](const std::string& text) { lines.push_back(text); },
        [this] { return now; });
  }

  steady_clock::time_point now;
  std::vector<std::string> lines;
  std::optional<ProgressBar> bar;
};

TEST_F(ProgressTest, QuickWorkShowsNothing) {
  start();
  after(400);
  bar->bytes(50, 100);
  bar.reset();
  EXPECT_TRUE(lines.empty());
}

TEST_F(ProgressTest, SaysHowFarHowFastAndHowLong) {
  start();
  after(2000);
  bar->bytes(50 * kMegabyte, 200 * kMegabyte);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0],
            "\r\x1b[KReading [######..................]  25%  50.0 MB of 200 MB, 25.0 MB/s, "
            "6 s left");
}

TEST_F(ProgressTest, SaysMinutesToo) {
  start();
  after(60'000);
  bar->bytes(kMegabyte, 4 * kMegabyte);
  EXPECT_NE(lines.at(0).find("3 min 00 s left"), std::string::npos);
}

TEST_F(ProgressTest, WithoutAnEndItSaysWhatIsDone) {
  start();
  after(1000);
  bar->bytes(3 * kMegabyte, 0);
  EXPECT_EQ(lines.at(0), "\r\x1b[KReading: 3.0 MB, 3.0 MB/s");
}

TEST_F(ProgressTest, DrawsSeldom) {
  start();
  after(1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    after(1);
    bar->bytes(i, 1000);
  }
  EXPECT_LE(lines.size(), 10U);
  EXPECT_GE(lines.size(), 9U);
}

TEST_F(ProgressTest, LeavesNoLineBehind) {
  start();
  after(1000);
  bar->bytes(1, 2);
  bar.reset();
  EXPECT_EQ(lines.back(), "\r\x1b[K");
}

TEST_F(ProgressTest, MoreThanAllIsAll) {
  start();
  after(1000);
  bar->bytes(300, 200);
  EXPECT_NE(lines.at(0).find("100%"), std::string::npos);
}

TEST(Progress, IsSilentWithoutATerminal) {
  testing::internal::CaptureStderr();
  {
    ProgressBar bar("Reading", true);
    std::this_thread::sleep_for(milliseconds(600));  // long enough to show on a terminal
    bar.bytes(1, 2);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace tandem::cli
