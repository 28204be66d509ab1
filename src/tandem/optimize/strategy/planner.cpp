// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/planner.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/optimize/strategy/column_workload.h"
#include "tandem/optimize/strategy/marginals_planner.h"
#include "tandem/optimize/strategy/product_planner.h"
#include "tandem/optimize/strategy/residual_planner.h"

namespace tandem {
namespace {

constexpr double kMostOutputs = 1 << 24;           // of one product that is measured
constexpr std::size_t kMostValuesOfMatrix = 1024;  // of a column that gets a dense strategy
constexpr const char* kLongColumn = "an ordered column has more than 1,024 values";
constexpr std::size_t kMostProducts = 100;
constexpr double kQuickWork = 1e7;      // cubes of the columns' values: less than a second
constexpr double kMostCells = 1 << 27;  // of one marginal of the workload

// The columns of a product have about a sixteenth more outputs than values.
double outputs_of(const PlanningProblem& problem, const Clique& clique) {
  double out = 1.0;
  for (const auto id : clique) {
    out *= static_cast<double>(problem.sizes[id] + p_of(problem.sizes[id]));
  }
  return out;
}

std::string against_dense_columns(const PlanningProblem& problem) {
  for (const auto& column : column_workloads(problem)) {
    if (!column.values_alike && problem.sizes[column.attribute] > kMostValuesOfMatrix) {
      return kLongColumn;
    }
  }
  return {};
}

std::string against_residuals(const PlanningProblem& problem) {
  if (problem.noise == NoiseKind::Laplace) return "residuals are for Gaussian noise";
  return against_dense_columns(problem);
}

std::string against_product(const PlanningProblem& problem) {
  Clique all;
  for (const auto& column : column_workloads(problem)) {
    all = join(all, Clique{static_cast<AttributeId>(column.attribute)});
    if (problem.sizes[column.attribute] > kMostValuesOfMatrix) {
      return "a column has more than 1,024 values";
    }
  }
  if (outputs_of(problem, all) > kMostOutputs) return "the product would have too many outputs";
  return {};
}

std::string against_products(const PlanningProblem& problem) {
  std::vector<Clique> cliques;
  for (const auto& item : problem.workload) cliques.push_back(asked_columns(problem, item));
  cliques = maximal(std::move(cliques));
  if (cliques.size() == 1) return "there is one product only";
  if (cliques.size() > kMostProducts) return "there are more than 100 widest cliques";
  for (const auto& clique : cliques) {
    if (outputs_of(problem, clique) > kMostOutputs) return "a product would have too many outputs";
    for (const auto id : clique) {
      if (problem.sizes[id] > kMostValuesOfMatrix) return "a column has more than 1,024 values";
    }
  }
  return {};
}

std::string against_marginals(const PlanningProblem& problem) {
  for (const auto& item : problem.workload) {
    if (problem.cells(item.clique) > kMostCells) return "a marginal is too large";
  }
  return {};
}

std::string against_ordered_marginals(const PlanningProblem& problem) {
  if (problem.noise == NoiseKind::Gaussian) return "residuals do better with Gaussian noise";
  const auto alike = [](const ColumnWorkload& column) { return column.values_alike; };
  if (std::ranges::all_of(column_workloads(problem), alike)) return "no column is ordered";
  if (auto reason = against_dense_columns(problem); !reason.empty()) return reason;
  return against_marginals(problem);
}

// The error of a product that is too large to be measured, where it is found quickly: to compare.
double error_unmeasured(const PlanningProblem& problem, const Threads& threads) {
  double work = 0.0;
  for (const auto& column : column_workloads(problem)) {
    const auto n = static_cast<double>(problem.sizes[column.attribute]);
    work += n * n * n;
    if (!column.values_alike || problem.sizes[column.attribute] > kMostValuesOfMatrix) return 0.0;
  }
  // Products of a hundred columns would be beyond what numbers hold.
  constexpr std::size_t kMostColumnsOfProduct = 30;
  if (column_workloads(problem).size() > kMostColumnsOfProduct) return 0.0;
  return work <= kQuickWork ? error_of_product(problem, threads) : 0.0;
}

struct Planner {
  const char* name;
  std::string (*against)(const PlanningProblem&);
  Strategy (*plan)(const PlanningProblem&, const Threads&);
};

constexpr Planner kPlanners[] = {
    {"residual", against_residuals, plan_residuals},
    {"marginals", against_marginals, plan_marginals},
    {"ordered-marginals", against_ordered_marginals, plan_ordered_marginals},
    {"product", against_product, plan_product},
    {"products", against_products, plan_products}};

}  // namespace

StrategyPlan plan_strategy(const PlanningProblem& problem, const Threads& threads,
                           std::span<const std::string> only) {
  check(!problem.workload.empty() && problem.noise != NoiseKind::None,
        "a workload asks for something, with noise");
  StrategyPlan out;
  bool found = false;
  for (const auto& planner : kPlanners) {
    if (!only.empty() && std::ranges::find(only, planner.name) == only.end()) continue;
    PlannerResult result{planner.name, 0.0, planner.against(problem)};
    if (result.left_out.empty()) {
      Strategy strategy = planner.plan(problem, threads);
      result.planner = strategy.planner;
      result.squared_error = strategy.squared_error;
      if (!found || strategy.squared_error < out.strategy.squared_error) {
        out.strategy = std::move(strategy);
        found = true;
      }
    } else if (planner.plan == plan_product && only.empty()) {
      result.squared_error = error_unmeasured(problem, threads);
    }
    out.long_column = out.long_column || result.left_out == kLongColumn;
    out.results.push_back(std::move(result));
  }
  if (!found) {
    throw UsageError(
        fmt::format("No planner that may be used answers this workload: {}; choose "
                    "another planner or workload.",
                    out.results.front().left_out));
  }
  std::ranges::stable_sort(out.results, {}, [](const PlannerResult& r) {
    return std::pair(!r.left_out.empty(), r.squared_error);
  });
  return out;
}

}  // namespace tandem
