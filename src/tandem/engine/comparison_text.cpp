// SPDX-License-Identifier: Apache-2.0
// The tables and documents of a comparison.

#include <fmt/core.h>

#include <algorithm>

#include "tandem/engine/comparison.h"
#include "tandem/engine/comparison_grid.h"

namespace tandem {

namespace {

// Five significant digits, whatever the size: 0.0147, 7.6e-04.
std::string show(double value) {
  return value >= 1e-3 || value == 0.0 ? fmt::format("{:.4f}", value)
                                       : fmt::format("{:.2e}", value);
}

// A table of mechanisms and epsilons; `value` reads a result, `text` writes what runs have
// together.
template <class Value, class Text>
void add_table(std::string& out, const ComparisonGrid& grid, const std::string& title,
               Value&& value, Text&& text) {
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
      out +=
          fmt::format("  {:>18}", cell == grid.cells.end() ? std::string("-")
                                                           : text(spread_of(cell->second, value)));
    }
    out += '\n';
  }
}

std::string with_error(const Spread& spread) {
  if (spread.count < 2.0) return show(spread.mean());
  return fmt::format("{} +-{:.1g}", show(spread.mean()), spread.standard_error());
}

void add_yardsticks(std::string& out, const ComparisonYardsticks& yardsticks,
                    const std::string& name, double WorkloadErrors::*metric) {
  out += fmt::format("\nyardsticks, {}\n", name);
  std::size_t width = 28;
  for (const auto& source : yardsticks.public_rows)
    width = std::max(width, source.name.size() + 12);
  for (const auto& source : yardsticks.public_rows) {
    out += fmt::format("  {:<{}}  {:>8}\n", source.name + " as it is", width,
                       show(source.errors.*metric));
  }
  for (const auto& sample : yardsticks.samples) {
    out +=
        fmt::format("  {:<{}}  {:>8}\n", fmt::format("{} of the real rows", percent(sample.share)),
                    width, show(sample.errors.*metric));
  }
}

}  // namespace

std::string to_text(const ComparisonRequest& request, const ComparisonOutcome& comparison) {
  std::string out = request.published ? "" : std::string(kInternalStamp) + "\n";
  const ComparisonGrid grid = grid_of(comparison);
  const auto metric = metric_called(request.metric);
  const std::string name = metric == &WorkloadErrors::avg   ? "average workload error"
                           : metric == &WorkloadErrors::max ? "largest error of a query"
                                                            : "mean error of a query";
  const auto of_rows = [&](const ComparisonResult& r) { return r.rows.*metric; };
  add_table(
      out, grid, name + ", of the model's own answers",
      [&](const ComparisonResult& r) { return r.model.*metric; }, with_error);
  add_table(out, grid, name + ", of the rows", of_rows, with_error);
  add_table(out, grid, "rows as good as a random sample of this share of the real ones", of_rows,
            [&](const Spread& spread) {
              return share_in_words(comparison.yardsticks.samples, metric, spread.mean());
            });
  add_table(
      out, grid, "seconds", [](const ComparisonResult& r) { return r.seconds; },
      [](const Spread& spread) { return fmt::format("{:.2f}", spread.mean()); });
  add_yardsticks(out, comparison.yardsticks, name, metric);
  return out;
}

namespace {

Document to_document(const ErrorPoint& yardstick) {
  Document out = Document::object({});
  if (yardstick.name.empty()) {
    out.set("share", yardstick.share);
  } else {
    out.set("name", yardstick.name);
  }
  out.set("rows", yardstick.rows);
  out.set("avg_error", yardstick.errors.avg);
  out.set("max_error", yardstick.errors.max);
  out.set("mean_error", yardstick.errors.mean);
  return out;
}

Document to_document(const std::vector<ErrorPoint>& yardsticks) {
  Document out = Document::array();
  for (const auto& yardstick : yardsticks) out.push(to_document(yardstick));
  return out;
}

Document to_document(const ComparisonGrid::Results& results,
                     const ComparisonYardsticks& yardsticks) {
  Document cell = Document::object({{"mechanism", results.front()->mechanism},
                                    {"parameters", results.front()->parameters},
                                    {"epsilon", results.front()->epsilon},
                                    {"seeds", static_cast<std::uint64_t>(results.size())}});
  const auto set = [&](const char* key, auto&& value) {
    const Spread spread = spread_of(results, value);
    cell.set(key, Document::object(
                      {{"mean", spread.mean()}, {"standard_error", spread.standard_error()}}));
  };
  set("model_avg_error", [](const auto& r) { return r.model.avg; });
  set("model_max_error", [](const auto& r) { return r.model.max; });
  set("model_mean_error", [](const auto& r) { return r.model.mean; });
  set("rows_avg_error", [](const auto& r) { return r.rows.avg; });
  set("rows_max_error", [](const auto& r) { return r.rows.max; });
  set("rows_mean_error", [](const auto& r) { return r.rows.mean; });
  set("seconds", [](const auto& r) { return r.seconds; });
  set("peak_mb", [](const auto& r) { return r.peak_mb; });
  const auto share =
      equivalent_share(yardsticks.samples, &WorkloadErrors::avg,
                       spread_of(results, [](const auto& r) { return r.rows.avg; }).mean());
  cell.set("rows_as_sample", share ? Document(*share) : Document());
  return cell;
}

}  // namespace

Document to_document(const ComparisonRequest& request, const ComparisonOutcome& comparison) {
  const ComparisonGrid grid = grid_of(comparison);
  Document cells = Document::array();
  for (const auto& name : grid.names) {
    for (const double epsilon : grid.epsilons) {
      const auto found = grid.cells.find({name, epsilon});
      if (found != grid.cells.end()) {
        cells.push(to_document(found->second, comparison.yardsticks));
      }
    }
  }
  Document failures = Document::array();
  for (const auto& failure : comparison.failures) failures.push(failure);
  return Document::object({{"format", 1},
                           {"internal", !request.published},
                           {"cells", std::move(cells)},
                           {"public_rows", to_document(comparison.yardsticks.public_rows)},
                           {"samples", to_document(comparison.yardsticks.samples)},
                           {"failures", std::move(failures)}});
}

}  // namespace tandem
