// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/comparison_grid.h"

#include <fmt/core.h>

#include <cmath>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

std::string name_of(const ComparisonResult& result) {
  return result.parameters.empty() ? result.mechanism : result.mechanism + " " + result.parameters;
}

}  // namespace

void Spread::add(double value) {
  least = count == 0.0 ? value : std::min(least, value);
  most = count == 0.0 ? value : std::max(most, value);
  sum += value;
  squares += value * value;
  ++count;
}

double Spread::standard_error() const {
  if (count < 2.0) return 0.0;
  const double variance = std::max(0.0, (squares - sum * sum / count) / (count - 1.0));
  return std::sqrt(variance / count);
}

double WorkloadErrors::*metric_called(const std::string& name) {
  if (name == "avg") return &WorkloadErrors::avg;
  if (name == "max") return &WorkloadErrors::max;
  if (name == "mean") return &WorkloadErrors::mean;
  throw UsageError(
      fmt::format(TANDEM_SETTING("metric") " is {}; choose avg, max or mean.", in_quotes(name)));
}

ComparisonGrid grid_of(const ComparisonOutcome& comparison) {
  ComparisonGrid grid;
  for (const auto& result : comparison.results) {
    const auto name = name_of(result);
    if (std::ranges::find(grid.names, name) == grid.names.end()) grid.names.push_back(name);
    if (std::ranges::find(grid.epsilons, result.epsilon) == grid.epsilons.end()) {
      grid.epsilons.push_back(result.epsilon);
    }
    grid.cells[{name, result.epsilon}].push_back(&result);
  }
  return grid;
}

}  // namespace tandem
