// SPDX-License-Identifier: Apache-2.0
#pragma once
// The results of a comparison by mechanism and epsilon, for tables and figures.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tandem/engine/comparison.h"

namespace tandem {

struct ComparisonGrid {
  using Results =
      std::vector<const ComparisonResult*>;  // of one mechanism and epsilon, never empty
  std::vector<std::string> names;            // of mechanisms, in the order of the call
  std::vector<double> epsilons;              // in the order of the call
  std::map<std::pair<std::string, double>, Results> cells;
};

ComparisonGrid grid_of(const ComparisonOutcome& comparison);

// UsageError for a name other than avg, max and mean.
double WorkloadErrors::*metric_called(const std::string& name);

// What the runs of a cell have together.
struct Spread {
  double count = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  double least = 0.0;
  double most = 0.0;

  void add(double value);
  double mean() const { return sum / count; }
  double standard_error() const;  // of the mean; 0 with one value
};

template <class Value>
Spread spread_of(const ComparisonGrid::Results& results, Value&& value) {
  Spread out;
  for (const auto* result : results) out.add(value(*result));
  return out;
}

}  // namespace tandem
