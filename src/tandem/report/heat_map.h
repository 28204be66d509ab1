// SPDX-License-Identifier: Apache-2.0
#pragma once
// A table of cells whose colour says how large a value is: errors by place and year.
//
// Many columns are broken into panels below each other. Where there is room a cell shows its number
// too, and a cell that stands out for another reason is crossed, so that colour alone carries
// nothing that words don't.

#include <optional>
#include <string>
#include <vector>

#include "tandem/report/svg.h"

namespace tandem::report {

struct Heat {
  double value = 0.0;
  bool alarm = false;  // crossed, and outside the scale
};

struct HeatMap {
  std::string stamp;  // what must be read first, above the title; may be empty
  std::string title;
  std::vector<std::string> notes;  // a line each, below the title
  std::string value_name;          // of the scale
  std::string alarm_name;          // of crossed cells
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::vector<std::optional<Heat>> cells;  // row after row; none where there is nothing
};

// The picture as SVG; values that are not finite are a broken promise. At least one cell.
std::string draw(const HeatMap& map, Look look);

}  // namespace tandem::report
