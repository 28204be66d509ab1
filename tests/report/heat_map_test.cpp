// SPDX-License-Identifier: Apache-2.0
// The heat map: what stands in it, and that many columns go into panels.

#include "tandem/report/heat_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/errors.h"

namespace tandem::report {
namespace {

using test::contains;

HeatMap example() {
  return {.stamp = "",
          .title = "A title",
          .notes = {"A note."},
          .value_name = "error",
          .alarm_name = "off by too much",
          .columns = {"north", "south"},
          .rows = {"2018", "2019"},
          .cells = {Heat{0.2}, Heat{0.4}, Heat{.value = 2.0, .alarm = true}, std::nullopt}};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

TEST(HeatMap, SaysEverythingInWords) {
  const std::string picture = draw(example(), Look::Either);
  for (const char* words : {">A title<", ">A note.<", ">error<", ">off by too much<", ">north<",
                            ">south<", ">2018<", ">2019<", ">.20<", ">.40<"}) {
    EXPECT_TRUE(contains(picture, words)) << words;
  }
  EXPECT_FALSE(contains(picture, ">2.00<")) << "a crossed cell is outside the scale";
  EXPECT_TRUE(contains(picture, "2 cells, 0.3 on average, from 0.2 to 0.4. 1 crossed"));
}

TEST(HeatMap, TheSameMapGivesTheSameBytes) {
  EXPECT_EQ(draw(example(), Look::Dark), draw(example(), Look::Dark));
}

TEST(HeatMap, TheLargestValueIsTheStrongestColour) {
  const std::string picture = draw(example(), Look::Light);
  EXPECT_LT(picture.find("fill-opacity=\"0.08\""), picture.rfind("fill-opacity=\"1\""));
}

TEST(HeatMap, ManyColumnsGoIntoPanelsWithTheirRowsNamedInEach) {
  HeatMap map = example();
  map.columns.clear();
  map.cells.clear();
  for (int c = 0; c < 500; ++c) map.columns.push_back("A" + std::to_string(1000 + c));
  for (int i = 0; i < 1000; ++i) map.cells.push_back(Heat{0.001 * i});
  const std::string picture = draw(map, Look::Either);
  EXPECT_GT(count(picture, ">2018<"), 5U);
  EXPECT_EQ(count(picture, ">2018<"), count(picture, ">2019<"));
  EXPECT_TRUE(contains(picture, ">A1000<"));
  EXPECT_FALSE(contains(picture, ">A1001<")) << "names don't lie on each other";
}

TEST(HeatMap, OddMapsAreDrawnToo) {
  HeatMap map = example();
  for (auto& cell : map.cells) cell = Heat{0.25};
  EXPECT_TRUE(contains(draw(map, Look::Either), ">.25<"));
  for (auto& cell : map.cells) cell = Heat{.value = 2.0, .alarm = true};
  EXPECT_TRUE(contains(draw(map, Look::Either), "4 crossed"));
  for (auto& cell : map.cells) cell = std::nullopt;
  EXPECT_TRUE(contains(draw(map, Look::Either), ">A title<"));
  map.cells.front() = Heat{0.0};
  map.rows[0] = "<b>" + std::string(200, 'x');
  EXPECT_FALSE(contains(draw(map, Look::Either), "<b>"));
}

TEST(HeatMap, AValueThatIsNoNumberIsRefused) {
  HeatMap map = example();
  map.cells[0] = Heat{std::numeric_limits<double>::quiet_NaN()};
  EXPECT_ANY_THROW(draw(map, Look::Light));
  map = example();
  map.cells.pop_back();
  EXPECT_ANY_THROW(draw(map, Look::Light));
}

}  // namespace
}  // namespace tandem::report
