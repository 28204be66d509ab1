// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/comparison_figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "tandem/base/text.h"
#include "tandem/engine/comparison_grid.h"
#include "tandem/report/axis.h"
#include "tandem/report/line_chart.h"

namespace tandem {

namespace {

std::string error_in_words(const ComparisonRequest& request) {
  if (request.metric == "max") return "largest error of one query, as a share of the rows";
  if (request.metric == "mean") return "mean error of a query, as a share of the rows";
  std::string tables = "marginals";
  for (const auto& [name, words] :
       {std::pair{"all-1way", "single columns"}, std::pair{"all-2way", "tables of two columns"},
        std::pair{"all-3way", "tables of three columns"}}) {
    if (request.workload == name) tables = words;
  }
  return fmt::format("error on {} (0: none, 2: nothing in common)", tables);
}

std::string runs_in_words(const ComparisonGrid& grid) {
  std::size_t fewest = 0;
  std::size_t most = 0;
  for (const auto& [cell, results] : grid.cells) {
    fewest = most == 0 ? results.size() : std::min(fewest, results.size());
    most = std::max(most, results.size());
  }
  if (most <= 1) return "One run each; lower is better.";
  const bool lines = grid.epsilons.size() > 1;
  return fmt::format(
      "{} are means of {} runs, {} reach from the smallest to the largest; lower is better.",
      lines ? "Lines" : "Points",
      fewest == most ? std::to_string(most) : fmt::format("{} to {}", fewest, most),
      lines ? "bands" : "bars");
}

report::Series line_of(const ComparisonGrid& grid, const std::string& name,
                       double WorkloadErrors::*metric) {
  report::Series out{.name = name, .spots = {}};
  for (const double epsilon : grid.epsilons) {
    const auto cell = grid.cells.find({name, epsilon});
    if (cell == grid.cells.end()) continue;
    const Spread spread =
        spread_of(cell->second, [&](const ComparisonResult& r) { return r.rows.*metric; });
    out.spots.push_back({epsilon, spread.mean(), spread.least, spread.most});
  }
  std::ranges::sort(out.spots, {}, &report::Spot::x);
  return out;
}

}  // namespace

std::string figure_of(const ComparisonRequest& request, const ComparisonOutcome& comparison,
                      report::Look look) {
  const ComparisonGrid grid = grid_of(comparison);
  const auto metric = metric_called(request.metric);
  report::LineChart chart;
  if (!request.published) chart.stamp = kInternalStamp;
  chart.title =
      request.title.empty() ? "How far synthetic rows are from the real ones" : request.title;
  chart.notes = {fmt::format("{}: {} rows, {} columns; workload {}; delta {}, {}.",
                             std::filesystem::path(request.private_source).filename().string(),
                             with_commas(comparison.rows), comparison.columns,
                             std::filesystem::path(request.workload).filename().string(),
                             report::plain_number(request.delta), request.neighbors),
                 runs_in_words(grid)};
  chart.x_name = "epsilon, the privacy budget of a release (smaller is more private)";
  chart.y_name = error_in_words(request);
  chart.right_name = "as good as this share of the real rows";
  for (const auto& name : grid.names) chart.series.push_back(line_of(grid, name, metric));
  const auto& public_rows = comparison.yardsticks.public_rows;
  for (const auto& source : public_rows) {
    chart.levels.push_back(
        {public_rows.size() == 1 ? "public rows as they are" : source.name + " as it is",
         source.errors.*metric});
  }
  for (const auto& sample : comparison.yardsticks.samples) {
    chart.right.push_back({sample.errors.*metric, percent(sample.share)});
  }
  return report::draw(chart, look);
}

std::string yardsticks_csv(const ComparisonYardsticks& yardsticks) {
  std::string out = "kind,name,share,rows,avg_error,max_error,mean_error\n";
  const auto add = [&](std::string_view kind, const ErrorPoint& yardstick) {
    out += fmt::format("{},{},{:g},{},{:.6g},{:.6g},{:.6g}\n", kind, csv_field(yardstick.name),
                       yardstick.share, yardstick.rows, yardstick.errors.avg, yardstick.errors.max,
                       yardstick.errors.mean);
  };
  for (const auto& source : yardsticks.public_rows) add("public", source);
  for (const auto& sample : yardsticks.samples) add("sample", sample);
  return out;
}

}  // namespace tandem
