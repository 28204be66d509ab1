// SPDX-License-Identifier: Apache-2.0
// The chart of error against budget: what stands in it, where, and that nothing overlaps.

#include "tandem/report/line_chart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "support/errors.h"

namespace tandem::report {
namespace {

using test::contains;

LineChart example() {
  LineChart chart{.stamp = "",
                  .title = "A title",
                  .notes = {"A note."},
                  .x_name = "budget",
                  .y_name = "error",
                  .right_name = "sample",
                  .series = {{"one", {{0.1, 0.5, 0.4, 0.6}, {1, 0.2, 0.15, 0.25}}},
                             {"two", {{0.1, 0.45, 0.4, 0.5}, {1, 0.201, 0.2, 0.21}}}},
                  .levels = {{"public", 0.2}},
                  .right = {{0.9, "1%"}, {0.3, "10%"}, {0.2, "20%"}}};
  return chart;
}

// The height at which a text stands.
double height_of(const std::string& picture, const std::string& words) {
  const std::regex pattern("<text class=\"[^\"]*\" x=\"[0-9.]*\" y=\"([0-9.]*)\"[^>]*>" + words +
                           "</text>");
  std::smatch found;
  EXPECT_TRUE(std::regex_search(picture, found, pattern)) << words;
  return found.empty() ? 0.0 : std::stod(found[1]);
}

TEST(LineChart, SaysEverythingInWords) {
  const std::string picture = draw(example(), Look::Either);
  for (const char* words : {">A title<", ">A note.<", ">budget<", ">error<", ">sample<", ">one<",
                            ">two<", ">public<", ">10%<", ">20%<", ">0.1<", ">1<"}) {
    EXPECT_TRUE(contains(picture, words)) << words;
  }
  EXPECT_TRUE(contains(picture, "one: 0.5 at 0.1, 0.2 at 1.")) << "for those who can't see it";
}

TEST(LineChart, TheSameChartGivesTheSameBytes) {
  EXPECT_EQ(draw(example(), Look::Dark), draw(example(), Look::Dark));
}

TEST(LineChart, NamesOfLinesThatMeetStandApart) {
  const std::string picture = draw(example(), Look::Either);
  std::vector<double> heights = {height_of(picture, "one"), height_of(picture, "two"),
                                 height_of(picture, "public")};
  std::ranges::sort(heights);
  EXPECT_GE(heights[1] - heights[0], 13.5);
  EXPECT_GE(heights[2] - heights[1], 13.5);
}

TEST(LineChart, TheRightScaleAgreesWithTheLeft) {
  const std::string picture = draw(example(), Look::Either);
  EXPECT_FALSE(contains(picture, ">1%<")) << "0.9 lies above all lines";
  // 20% stands at 0.2, where the left axis has its number.
  EXPECT_NEAR(height_of(picture, "20%"), height_of(picture, "0.2"), 0.02);
}

TEST(LineChart, AStampStandsAboveTheTitle) {
  LineChart chart = example();
  chart.stamp = "INTERNAL";
  const std::string picture = draw(chart, Look::Either);
  EXPECT_LT(height_of(picture, "INTERNAL"), height_of(picture, "A title"));
}

TEST(LineChart, OddChartsAreDrawnToo) {
  LineChart nothing;
  EXPECT_TRUE(draw(nothing, Look::Light).ends_with("</svg>\n"));
  LineChart one = example();
  one.series = {{"one", {{1, 0.0, 0.0, 0.0}}}, {"none", {}}};
  one.levels.clear();
  EXPECT_TRUE(contains(draw(one, Look::Light), ">one<"));
  LineChart many = example();
  many.series.clear();
  for (int i = 0; i < 40; ++i) {
    many.series.push_back({"line" + std::to_string(i), {{0.1, 1.0, 1.0, 1.0}, {1, 1.0, 1.0, 1.0}}});
  }
  const std::string picture = draw(many, Look::Light);
  std::vector<double> heights;
  for (int i = 0; i < 40; ++i) heights.push_back(height_of(picture, "line" + std::to_string(i)));
  std::ranges::sort(heights);
  for (std::size_t i = 1; i < heights.size(); ++i) EXPECT_GE(heights[i] - heights[i - 1], 13.5);
}

TEST(LineChart, ALongNameIsCutAndWholeInItsHint) {
  LineChart chart = example();
  const std::string name = "mw-pub rounds=100 start=uniform step=2 output=last candidates=all";
  chart.series[0].name = name;
  const std::string picture = draw(chart, Look::Light);
  EXPECT_TRUE(contains(picture, "<title>" + name + "</title>"));
  EXPECT_FALSE(contains(picture, ">" + name + "</text>"));
}

}  // namespace
}  // namespace tandem::report
