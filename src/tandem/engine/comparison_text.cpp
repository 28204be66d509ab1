// SPDX-License-Identifier: Apache-2.0
// The tables and documents of a comparison.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/engine/comparison.h"

namespace tandem {

namespace {

struct Mean {
  double sum = 0.0;
  double squares = 0.0;
  double count = 0.0;

  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  double mean() const { return sum / count; }
  // Of the mean; 0 with one value.
  double standard_error() const {
    if (count < 2.0) return 0.0;
    const double variance = std::max(0.0, (squares - sum * sum / count) / (count - 1.0));
    return std::sqrt(variance / count);
  }
};

double pick(const ComparisonResult::Errors& errors, const std::string& metric) {
  if (metric == "avg") return errors.avg;
  if (metric == "max") return errors.max;
  if (metric == "mean") return errors.mean;
  throw UsageError(
      fmt::format(TANDEM_SETTING("metric") " is {}; choose avg, max or mean.", in_quotes(metric)));
}

std::string name_of(const ComparisonResult& result) {
  return result.parameters.empty() ? result.mechanism : result.mechanism + " " + result.parameters;
}

// Five significant digits, whatever the size: 0.0147, 7.6e-04.
std::string show(double value) {
  return value >= 1e-3 || value == 0.0 ? fmt::format("{:.4f}", value)
                                       : fmt::format("{:.2e}", value);
}

struct Grid {
  std::vector<std::string> names;  // of mechanisms, in order
  std::vector<double> epsilons;    // in order
  std::map<std::pair<std::string, double>, std::vector<const ComparisonResult*>> cells;
};

Grid grid_of(const ComparisonOutcome& comparison) {
  Grid grid;
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

template <class Value>
void add_table(std::string& out, const Grid& grid, const std::string& title, Value&& value,
               bool with_errors) {
  std::size_t width = 9;
  for (const auto& name : grid.names) width = std::max(width, name.size());
  out += fmt::format("\n{}\n  {:<{}}", title, "mechanism", width);
  for (const double epsilon : grid.epsilons)
    out += fmt::format("  {:>18}", fmt::format("eps {:g}", epsilon));
  out += '\n';
  for (const auto& name : grid.names) {
    out += fmt::format("  {:<{}}", name, width);
    for (const double epsilon : grid.epsilons) {
      const auto cell = grid.cells.find({name, epsilon});
      if (cell == grid.cells.end()) {
        out += fmt::format("  {:>18}", "-");
        continue;
      }
      Mean mean;
      for (const auto* result : cell->second) mean.add(value(*result));
      const std::string text =
          with_errors && mean.count > 1.0
              ? fmt::format("{} +-{:.1g}", show(mean.mean()), mean.standard_error())
              : fmt::format("{}",
                            with_errors ? show(mean.mean()) : fmt::format("{:.2f}", mean.mean()));
      out += fmt::format("  {:>18}", text);
    }
    out += '\n';
  }
}

}  // namespace

std::string to_text(const ComparisonOutcome& comparison, const std::string& metric) {
  std::string out = "INTERNAL: computed from the private table; not for publication\n";
  const Grid grid = grid_of(comparison);
  const std::string name = metric == "avg"   ? "average workload error"
                           : metric == "max" ? "largest error of a query"
                                             : "mean error of a query";
  add_table(
      out, grid, name + ", of the model's own answers",
      [&](const ComparisonResult& r) { return pick(r.model, metric); }, true);
  add_table(
      out, grid, name + ", of the rows",
      [&](const ComparisonResult& r) { return pick(r.rows, metric); }, true);
  add_table(
      out, grid, "seconds", [](const ComparisonResult& r) { return r.seconds; }, false);
  return out;
}

Document to_document(const ComparisonOutcome& comparison) {
  const Grid grid = grid_of(comparison);
  Document cells = Document::array();
  for (const auto& name : grid.names) {
    for (const double epsilon : grid.epsilons) {
      const auto found = grid.cells.find({name, epsilon});
      if (found == grid.cells.end()) continue;
      const auto& results = found->second;
      Document cell = Document::object({{"mechanism", results.front()->mechanism},
                                        {"parameters", results.front()->parameters},
                                        {"epsilon", epsilon},
                                        {"seeds", static_cast<std::uint64_t>(results.size())}});
      const auto set = [&](const char* key, auto&& value) {
        Mean mean;
        for (const auto* result : results) mean.add(value(*result));
        cell.set(key, Document::object(
                          {{"mean", mean.mean()}, {"standard_error", mean.standard_error()}}));
      };
      set("model_avg_error", [](const auto& r) { return r.model.avg; });
      set("model_max_error", [](const auto& r) { return r.model.max; });
      set("model_mean_error", [](const auto& r) { return r.model.mean; });
      set("rows_avg_error", [](const auto& r) { return r.rows.avg; });
      set("rows_max_error", [](const auto& r) { return r.rows.max; });
      set("rows_mean_error", [](const auto& r) { return r.rows.mean; });
      set("seconds", [](const auto& r) { return r.seconds; });
      set("peak_mb", [](const auto& r) { return r.peak_mb; });
      cells.push(std::move(cell));
    }
  }
  Document failures = Document::array();
  for (const auto& failure : comparison.failures) failures.push(failure);
  return Document::object({{"format", 1},
                           {"internal", true},
                           {"cells", std::move(cells)},
                           {"failures", std::move(failures)}});
}

}  // namespace tandem
