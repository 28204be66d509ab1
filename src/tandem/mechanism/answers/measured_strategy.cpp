// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/answers/measured_strategy.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {
namespace {

constexpr int kMostWeightBits = 29;  // the gate takes weights of up to 2^30

std::shared_ptr<const AxisMap> axis_of(const ColumnMap& column) {
  switch (column.kind) {
    case ColumnMap::Kind::Identity:
      return std::make_shared<const AxisMap>(AxisMap::identity(column.values));
    case ColumnMap::Kind::Residual:
      return std::make_shared<const AxisMap>(AxisMap::centred(column.values));
    case ColumnMap::Kind::Given:
      break;
  }
  return std::make_shared<const AxisMap>(
      AxisMap::given(column.entries, column.values, column.exponent));
}

LinearMap map_of(const Strategy& strategy, const PlannedMap& map,
                 const std::vector<std::shared_ptr<const AxisMap>>& axes) {
  std::vector<std::shared_ptr<const AxisMap>> factors;
  bool plain = true;
  for (const auto column : map.columns) {
    factors.push_back(axes[column]);
    plain = plain && strategy.columns[column].kind == ColumnMap::Kind::Identity;
  }
  return plain ? LinearMap::identity() : LinearMap::kronecker(std::move(factors));
}

// An error is weighed by the square, and a plan has to tell its parts apart by these.
constexpr double kMostWeightRatio = 1e6;

void scale_weights(std::vector<ProductQueries>& products) {
  if (products.empty()) return;
  const auto [least, most] = std::ranges::minmax(products, {}, &ProductQueries::weight);
  if (!(most.weight <= kMostWeightRatio * least.weight)) {
    throw UsageError(fmt::format(
        TANDEM_SETTING("workload") " has weights from {:.3g} to {:.3g}, too far apart to plan for; "
                                   "choose a largest of at most {} times the smallest.",
        least.weight, most.weight, with_commas(static_cast<std::uint64_t>(kMostWeightRatio))));
  }
  const int exponent = std::ilogb(most.weight);
  for (auto& product : products) product.weight = std::ldexp(product.weight, -exponent);
}

}  // namespace

PlanningProblem planning_problem_of(const Domain& domain, const PrivacyUnit& unit, NoiseKind noise,
                                    std::vector<ProductQueries> products) {
  PlanningProblem out;
  for (const auto& attribute : domain.attributes()) out.sizes.push_back(attribute.size);
  scale_weights(products);
  out.workload = std::move(products);
  out.noise = noise;
  out.unit = {unit.neighbors == Neighbors::ReplaceOne, unit.keeps_rows(), unit.rows_per_person};
  return out;
}

StackedQueries stacked(const PlanningProblem& problem, Strategy& strategy, const Threads& threads) {
  std::vector<std::shared_ptr<const AxisMap>> axes;
  for (const auto& column : strategy.columns) axes.push_back(axis_of(column));
  StackedQueries out;
  // In units of its own map, map k counts w_k 2^(its unit's exponent).
  int least = std::numeric_limits<int>::max();
  int most = std::numeric_limits<int>::min();
  for (const auto& map : strategy.maps) {
    out.queries.push_back({{map.clique, map_of(strategy, map, axes)}, 1});
    const int unit = out.queries.back().query.map.unit_exponent();
    least = std::min(least, map.weight.exponent + unit);
    most = std::max(most, std::ilogb(map.weight.value()) + 1 + unit);
  }
  // The noise of a query of weight 1 is the sensitivity in these units, times what the budget says.
  const double sensitivity = std::max(strategy.sensitivity, 1e-300);
  const int fine = static_cast<int>(std::ceil(std::log2(sensitivity))) - kSensitivityBits;
  const int exponent = std::max({least, most - kMostWeightBits, fine});
  bool rounded = false;
  for (std::size_t k = 0; k < strategy.maps.size(); ++k) {
    auto& weight = strategy.maps[k].weight;
    const int unit = out.queries[k].query.map.unit_exponent();
    const double exact = std::ldexp(weight.value(), unit - exponent);
    const auto whole = std::max<std::int64_t>(1, std::llround(exact));
    out.queries[k].weight = whole;
    if (static_cast<double>(whole) == exact) continue;
    weight = {whole, exponent - unit};
    rounded = true;
  }
  out.unit = std::ldexp(1.0, exponent);
  if (rounded) predict(problem, strategy, threads);
  return out;
}

double noise_of(const Curator& curator, const StackedQueries& stack, Cost cost, NoiseKind noise) {
  return stack.unit * curator.noise_together(stack.queries, cost, noise).value();
}

}  // namespace tandem
