// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines with their spread, levels to hold them against, and a second scale on the right: the figure
// of most papers on private data, error against budget.
//
// Each line has its name where it ends, and no two names lie on each other. Axes are logarithmic
// where that shows more.

#include <string>
#include <vector>

#include "tandem/report/svg.h"

namespace tandem::report {

struct Spot {
  double x = 0.0;
  double y = 0.0;
  double low = 0.0;  // the spread around y, drawn as a band
  double high = 0.0;
};

struct Series {
  std::string name;
  std::vector<Spot> spots;  // by rising x
};

struct Level {  // a dashed line across
  std::string name;
  double y = 0.0;
};

struct Mark {  // of the scale on the right
  double y = 0.0;
  std::string label;
};

struct LineChart {
  std::string stamp;  // what must be read first, above the title; may be empty
  std::string title;
  std::vector<std::string> notes;  // a line each, below the title
  std::string x_name;
  std::string y_name;
  std::string right_name;
  std::vector<Series> series;
  std::vector<Level> levels;
  std::vector<Mark> right;  // those outside the lines' range are left out
};

// The picture as SVG; numbers that are not finite are a broken promise.
std::string draw(const LineChart& chart, Look look);

}  // namespace tandem::report
