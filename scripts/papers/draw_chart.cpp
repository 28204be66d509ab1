// SPDX-License-Identifier: Apache-2.0
// Draws a line chart, written as JSON, as SVG for light and for dark pages:
//   draw_chart CHART.json OUT       writes OUT.svg and OUT-dark.svg
// The chart: {"title", "notes": [], "x_name", "y_name", "series": [{"name", "spots": [[x, y, low,
// high]]}], "levels": [{"name", "y"}]}. scripts/papers/figure.py writes such a file.

#include <fmt/core.h>

#include <array>
#include <fstream>

#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/report/line_chart.h"

namespace {

using namespace tandem;

report::Series series_of(const Document& text) {
  report::Series out{.name = text.at("name").as_string(), .spots = {}};
  for (const auto& spot : text.at("spots").as_array()) {
    const auto& numbers = spot.as_array();
    if (numbers.size() != 4) spot.fail("is not [x, y, low, high]; write four numbers.");
    out.spots.push_back({numbers[0].as_number(), numbers[1].as_number(), numbers[2].as_number(),
                         numbers[3].as_number()});
  }
  return out;
}

report::LineChart chart_of(const Document& text) {
  static constexpr std::array<std::string_view, 6> kKeys = {"title",  "notes",  "x_name",
                                                            "y_name", "series", "levels"};
  text.allow_only(kKeys);
  report::LineChart out;
  out.title = text.at("title").as_string();
  for (const auto& note : text.at("notes").as_array()) out.notes.push_back(note.as_string());
  out.x_name = text.at("x_name").as_string();
  out.y_name = text.at("y_name").as_string();
  for (const auto& series : text.at("series").as_array()) out.series.push_back(series_of(series));
  for (const auto& level : text.at("levels").as_array()) {
    out.levels.push_back({level.at("name").as_string(), level.at("y").as_number()});
  }
  return out;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw SourceError(path + " could not be written; see to the disk.");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: draw_chart CHART.json OUT\n");
    return 2;
  }
  try {
    const report::LineChart chart = chart_of(Document::read(argv[1]));
    write(std::string(argv[2]) + ".svg", report::draw(chart, report::Look::Either));
    write(std::string(argv[2]) + "-dark.svg", report::draw(chart, report::Look::Dark));
  } catch (const Error& error) {
    fmt::print(stderr, "draw_chart: {}\n", error.what());
    return 1;
  }
  return 0;
}
