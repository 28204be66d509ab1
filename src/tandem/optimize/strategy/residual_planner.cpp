// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/residual_planner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tandem/base/check.h"
#include "tandem/optimize/strategy/column_strategy.h"
#include "tandem/optimize/strategy/column_workload.h"
#include "tandem/query/map_distance.h"

namespace tandem {
namespace {

constexpr int kWeightBits = 10;   // of a weight's mantissa: loses less than 1e-5 of the error
constexpr int kMapBits = 13;      // of a column map, at most: 1e-4 of the error at 256 values
constexpr int kPlannedBits = 30;  // of numbers that are as good as unrounded

constexpr std::size_t kColumnsOfManySteps = 16;  // a step costs 2^columns
constexpr int kManySteps = 300;
constexpr int kFewSteps = 30;
constexpr int kStepsByBlocks = 8;   // beyond 20 columns, where a step takes up to 0.2 s
constexpr double kPriceGap = 1e-3;  // of the error, at which prices are good enough

struct Columns {
  std::vector<DenseMatrix> exact;  // M_i; empty: n I - J
  std::vector<std::size_t> used;   // attributes that the workload asks about
};

// The price of a unit of each part's precision tau_A, where sum_A v_A / tau_A is to be least and
// the noise follows from the largest distance of two columns.
//
// Pairs of rows that differ in the set D of columns are d_A(D) apart in part A. For any weights q
// of such sets, (sum_A sqrt(v_A sum_D q_D d_A(D)))^2 is below every strategy's error, and it is
// reached where the pairs in q are all the worst ones of tau_A = sqrt(v_A / sum_D q_D d_A(D)).
// Frank and Wolfe's steps move q towards the worst set. They begin at twice the prices of
// add-remove: columns that are apart independently of each other, with the chance same / (same -
// apart), make every product of inner products vanish in the mean.
std::vector<double> prices_by_distance(std::span<const ResidualPart> parts,
                                       std::span<const ResidualTerm<double>> parts_as_terms,
                                       std::span<const ResidualColumn<double>> columns,
                                       const Threads& threads) {
  std::vector<ResidualTerm<double>> terms(parts_as_terms.begin(), parts_as_terms.end());
  std::vector<double> norm;  // of each part at weight 1
  std::vector<double> price;
  for (const auto& term : terms) {
    norm.push_back(1.0);
    for (const auto i : term.places) norm.back() *= columns[i].same;
    price.push_back(2.0 * norm.back());
  }
  std::vector<double> best = price;
  double least = std::numeric_limits<double>::infinity();
  const int steps = columns.size() <= kColumnsOfManySteps      ? kManySteps
                    : columns.size() <= kMostEnumeratedColumns ? kFewSteps
                                                               : kStepsByBlocks;
  for (int step = 0; step < steps; ++step) {
    threads.check();
    double root = 0.0;  // of the bound
    for (std::size_t a = 0; a < terms.size(); ++a) {
      terms[a].squared_weight = std::sqrt(parts[a].error / price[a]);
      root += terms[a].squared_weight * price[a];
    }
    std::vector<double> apart(terms.size());  // squared distance in each part at the worst set
    for (std::size_t a = 0; a < terms.size(); ++a) apart[a] = 2.0 * norm[a];
    least_residual_sum<double>(terms, columns, threads, kMostEnumeratedColumns, kColumnsOfBlocks,
                               [&](std::size_t a, std::size_t shares, double product) {
                                 apart[a] -= 2.0 * product / static_cast<double>(shares);
                               });
    double distance = 0.0;
    for (std::size_t a = 0; a < terms.size(); ++a) distance += terms[a].squared_weight * apart[a];
    if (root * distance < least) {
      least = root * distance;
      best = price;
    }
    if (distance <= (1.0 + kPriceGap) * root) break;
    const double stride = 2.0 / (step + 8.0);
    for (std::size_t a = 0; a < terms.size(); ++a) price[a] += stride * (apart[a] - price[a]);
  }
  return best;
}

// Where a person may be absent, S^2 is the larger of a norm, to which the total adds, and a
// distance, to which it doesn't: up to their difference the total's weight is free, and taken if
// that is better.
Strategy with_free_total(const PlanningProblem& problem, Strategy strategy, int weight_bits,
                         const Threads& threads) {
  const auto is_total = [](const PlannedMap& map) { return map.clique.empty(); };
  const auto total = std::ranges::find_if(strategy.maps, is_total);
  if (!problem.unit.replace_one || problem.unit.total_is_public || strategy.maps.size() == 1 ||
      total == strategy.maps.end()) {
    return strategy;
  }
  const auto squared_sensitivity = [&](const PlanningUnit& unit, Strategy of) {
    PlanningProblem asked = problem;
    asked.unit = unit;
    predict(asked, of, threads);
    return of.sensitivity * of.sensitivity;
  };
  const double weight = total->weight.value();
  const double norm = squared_sensitivity({false, false, 1}, strategy) - weight * weight;
  const double distance = squared_sensitivity({true, true, 1}, strategy);
  if (distance <= norm) return strategy;
  // A little less than what is free, so that the rounded weight is free too.
  const double free_weight = std::sqrt(distance - norm) * (1.0 - std::ldexp(1.0, -weight_bits));
  Strategy freely = strategy;
  std::ranges::find_if(freely.maps, is_total)->weight =
      DyadicWeight::nearest(free_weight, weight_bits);
  predict(problem, freely, threads);
  return freely.squared_error < strategy.squared_error ? freely : strategy;
}

// Weights of all residual maps, the empty clique's among them where the total isn't public.
Strategy assemble(const PlanningProblem& problem, const Columns& columns, int map_bits,
                  int weight_bits, const Threads& threads) {
  Strategy out;
  out.shape = Strategy::Shape::Sets;
  std::vector<std::size_t> index(problem.sizes.size(), 0);
  std::vector<ColumnSplit> splits(problem.sizes.size());
  std::vector<double> largest(problem.sizes.size(), 0.0);  // squared norm of a column of M_i
  std::vector<double> unit(problem.sizes.size(), 1.0);     // what M_i is I - J/n times
  std::vector<ResidualColumn<double>> bounds;              // of I - J/n, or of M_i as it is
  out.planner = "residual";
  for (const auto i : columns.used) {
    index[i] = out.columns.size();
    const std::size_t n = problem.sizes[i];
    if (columns.exact[i].rows == 0) {
      out.columns.push_back({ColumnMap::Kind::Residual, n, {}, 0});
      unit[i] = static_cast<double>(n);
      largest[i] = 1.0 - 1.0 / static_cast<double>(n);
      bounds.push_back({largest[i], -1.0 / static_cast<double>(n)});
      continue;
    }
    out.planner = "residual-plus";
    out.columns.push_back(rounded_by_norm(columns.exact[i], problem.noise, map_bits));
    const DenseMatrix x = gram(out.columns.back().matrix());
    splits[i] = split_by(x);
    for (std::size_t j = 0; j < n; ++j) largest[i] = std::max(largest[i], x(j, j));
    bounds.push_back({largest[i], std::min(0.0, *std::ranges::min_element(x.values))});
  }
  // min sum_A v_A / tau_A where sum_A tau_A p_A <= 1: tau_A is as sqrt(v_A / p_A).
  const auto parts = residual_parts(problem, splits);
  std::vector<double> price;
  std::vector<ResidualTerm<double>> terms;
  for (const auto& part : parts) {
    price.push_back(1.0);
    terms.emplace_back();
    for (const auto i : part.clique) {
      price.back() *= largest[i];
      terms.back().places.push_back(index[i]);
    }
  }
  if (problem.unit.replace_one && !parts.empty()) {
    // The empty part, first if it is there, is the same for all rows: its weight is found below.
    const std::size_t first = parts[0].clique.empty() ? 1 : 0;
    const auto found = prices_by_distance(std::span(parts).subspan(first),
                                          std::span(terms).subspan(first), bounds, threads);
    std::ranges::copy(found, price.begin() + static_cast<std::ptrdiff_t>(first));
  }
  for (std::size_t a = 0; a < parts.size(); ++a) {
    double scale = 1.0;
    PlannedMap map;
    map.clique = parts[a].clique;
    for (const auto i : map.clique) scale *= unit[i];
    map.columns = terms[a].places;
    const double weight = std::pow(parts[a].error / price[a], 0.25) / scale;
    map.weight = DyadicWeight::nearest(weight, weight_bits);
    out.maps.push_back(std::move(map));
  }
  if (out.maps.empty()) {  // only the total is asked for, and it is public
    check(problem.unit.total_is_public, "a workload asks for something");
    out.maps.push_back({});
  }
  predict(problem, out, threads);
  return with_free_total(problem, std::move(out), weight_bits, threads);
}

// Bits of the column maps that leave room for the weights of the widest parts.
int map_bits(const PlanningProblem& problem, const Columns& columns) {
  int out = kMapBits;
  for (const auto& item : problem.workload) {
    std::size_t exact = 0;
    double others = 0.0;
    for (const auto id : asked_columns(problem, item)) {
      if (columns.exact[id].rows > 0) {
        ++exact;
      } else {
        others += std::log2(static_cast<double>(problem.sizes[id]));
      }
    }
    out = std::min(out, bits_of_column(exact, others, true, problem.unit, kMapBits));
  }
  return out;
}

}  // namespace

Strategy plan_residuals(const PlanningProblem& problem, const Threads& threads) {
  check(problem.noise == NoiseKind::Gaussian, "residuals are planned for Gaussian noise");
  Columns columns;
  columns.exact.resize(problem.sizes.size());
  for (const auto& asked : column_workloads(problem)) {
    columns.used.push_back(asked.attribute);
    if (asked.values_alike) continue;
    threads.check();
    const DenseMatrix g = asked.gram(problem.sizes[asked.attribute]);
    DenseMatrix a = g.rows <= kMostValuesOfDenseOptimum
                        ? best_gaussian_map(g, threads)
                        : best_p_identity(g, problem.noise, p_of(g.rows), 1, 0, threads);
    // Without what it tells of the total, c J: with A'A pi = c 1, the rows of A (I - pi 1').
    const auto profile = split_by(gram(a)).profile;
    for (std::size_t r = 0; r < a.rows; ++r) {
      double mean = 0.0;
      for (std::size_t j = 0; j < a.columns; ++j) mean += a(r, j) * profile[j];
      for (double& value : a.row(r)) value -= mean;
    }
    columns.exact[asked.attribute] = std::move(a);
  }
  const double planned =
      assemble(problem, columns, kPlannedBits, kPlannedBits, threads).squared_error;
  Strategy out = assemble(problem, columns, map_bits(problem, columns), kWeightBits, threads);
  out.planned_squared_error = planned;
  return out;
}

}  // namespace tandem
