// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/product_planner.h"

#include <algorithm>
#include <cmath>

#include "tandem/base/check.h"
#include "tandem/optimize/strategy/column_strategy.h"
#include "tandem/optimize/strategy/column_workload.h"

namespace tandem {
namespace {

constexpr int kMapBits = 14;      // of a column map, at most: 5e-4 of the error at 256 values
constexpr int kPlannedBits = 30;  // of numbers that are as good as unrounded
constexpr int kWeightBits = 10;
constexpr int kMostTurns = 20;       // of all columns
constexpr double kLeastGain = 1e-4;  // of one turn, as a share of the error
constexpr int kStarts = 4;           // of a p-identity

const ColumnQueries kTotal{ColumnQueries::Kind::Total, {}};

// The strategies of all columns of a product, before they are rounded.
struct Product {
  Clique clique;
  std::vector<DenseMatrix> strategies;  // sensitivity 1 each
  double error = 0.0;
};

const ColumnQueries& factor_for(const ProductQueries& item, AttributeId id) {
  for (std::size_t i = 0; i < item.clique.size(); ++i) {
    if (item.clique[i] == id) return item.factors[i];
  }
  return kTotal;
}

DenseMatrix column_strategy(const ColumnWorkload& asked, std::size_t n, NoiseKind noise,
                            const Threads& threads) {
  if (asked.values_alike) {
    const auto [a, b] = asked.identity_and_total();
    return best_identity_and_total(a, b, n, noise);
  }
  const DenseMatrix g = asked.gram(n);
  if (noise == NoiseKind::Gaussian && n <= kMostValuesOfDenseOptimum) {
    return best_gaussian_map(g, threads);
  }
  return best_p_identity(g, noise, p_of(n), kStarts, 0, threads);
}

Product search_product(const PlanningProblem& problem, const Threads& threads) {
  Product out;
  std::vector<AttributeId> ids;
  for (const auto& column : column_workloads(problem)) {
    ids.push_back(static_cast<AttributeId>(column.attribute));
  }
  out.clique = Clique(std::move(ids));
  const std::size_t width = out.clique.size();
  const std::size_t items = problem.workload.size();
  // errors[t][i]: tr(W K W') of column i in item t.
  std::vector<std::vector<double>> errors(items, std::vector<double>(width, 1.0));
  const auto error_of = [&](std::size_t t) {
    double error = problem.workload[t].weight * problem.workload[t].weight;
    for (const double factor : errors[t]) error *= factor;
    return error;
  };
  // Columns begin as if only their values were measured.
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t n = problem.sizes[out.clique[i]];
    for (std::size_t t = 0; t < items; ++t) {
      errors[t][i] = factor_for(problem.workload[t], out.clique[i]).trace(n);
    }
  }
  out.strategies.resize(width);
  double last = 0.0;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    for (std::size_t i = 0; i < width; ++i) {
      threads.check();
      const std::size_t n = problem.sizes[out.clique[i]];
      ColumnWorkload asked;
      asked.attribute = out.clique[i];
      for (std::size_t t = 0; t < items; ++t) {
        const double others = errors[t][i] > 0.0 ? error_of(t) / errors[t][i] : 0.0;
        asked.add(factor_for(problem.workload[t], out.clique[i]), others);
      }
      out.strategies[i] = column_strategy(asked, n, problem.noise, threads);
      const DenseMatrix covariance = inverse(gram(out.strategies[i]));
      for (const auto& [queries, weight] : asked.asked) {
        const double error = trace_of_product(gram_of(queries, n), covariance);
        for (std::size_t t = 0; t < items; ++t) {
          if (factor_for(problem.workload[t], out.clique[i]) == queries) errors[t][i] = error;
        }
      }
    }
    out.error = 0.0;
    for (std::size_t t = 0; t < items; ++t) out.error += error_of(t);
    // A workload of one product leaves every column the same task in every turn.
    if (items == 1 || (turn > 0 && out.error > (1.0 - kLeastGain) * last)) break;
    last = out.error;
  }
  return out;
}

// `shares` are the weights of the products.
Strategy assemble(const PlanningProblem& problem, std::span<const Product> products,
                  std::span<const double> shares, int map_bits, int weight_bits,
                  const Threads& threads) {
  Strategy out;
  out.planner = products.size() == 1 ? "product" : "products";
  out.shape = Strategy::Shape::Products;
  for (std::size_t k = 0; k < products.size(); ++k) {
    PlannedMap map;
    map.clique = products[k].clique;
    for (const auto& strategy : products[k].strategies) {
      map.columns.push_back(out.columns.size());
      const int bits =
          bits_of_column(map.clique.size(), 0.0, products.size() > 1, problem.unit, map_bits);
      out.columns.push_back(
          rounded_by_norm(strategy, problem.noise, map_bits == kPlannedBits ? kPlannedBits : bits));
    }
    map.weight = DyadicWeight::nearest(shares[k], weight_bits);
    out.maps.push_back(std::move(map));
  }
  predict(problem, out, threads);
  return out;
}

Strategy finish(const PlanningProblem& problem, std::span<const Product> products,
                std::span<const double> shares, const Threads& threads) {
  Strategy out = assemble(problem, products, shares, kMapBits, kWeightBits, threads);
  out.planned_squared_error =
      assemble(problem, products, shares, kPlannedBits, kPlannedBits, threads).squared_error;
  return out;
}

}  // namespace

Strategy plan_product(const PlanningProblem& problem, const Threads& threads) {
  const Product product = search_product(problem, threads);
  return finish(problem, std::span(&product, 1), std::vector<double>{1.0}, threads);
}

double error_of_product(const PlanningProblem& problem, const Threads& threads) {
  const Product product = search_product(problem, threads);
  return assemble(problem, std::span(&product, 1), std::vector<double>{1.0}, kPlannedBits,
                  kPlannedBits, threads)
      .squared_error;
}

Strategy plan_products(const PlanningProblem& problem, const Threads& threads) {
  std::vector<Clique> cliques;
  for (const auto& item : problem.workload) cliques.push_back(asked_columns(problem, item));
  cliques = maximal(std::move(cliques));
  std::vector<PlanningProblem> tasks(cliques.size());
  for (auto& task : tasks) {
    task.sizes = problem.sizes;
    task.noise = problem.noise;
  }
  for (const auto& item : problem.workload) {
    const Clique asked = asked_columns(problem, item);
    const auto holds = [&](const Clique& clique) { return clique.contains(asked); };
    const auto first = std::ranges::find_if(cliques, holds);
    tasks[static_cast<std::size_t>(first - cliques.begin())].workload.push_back(item);
  }
  // Weights t_k of parts with errors E_k: sum E_k / t_k^2 is least where t_k^3 is as E_k for
  // Laplace noise, whose sensitivity is sum t_k, and t_k^4 for Gaussian noise, with sum t_k^2.
  const double power = problem.noise == NoiseKind::Laplace ? 1.0 / 3.0 : 1.0 / 4.0;
  std::vector<Product> products;
  std::vector<double> shares;
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    products.push_back(search_product(tasks[k], threads));
    shares.push_back(std::pow(products.back().error, power));
  }
  return finish(problem, products, shares, threads);
}

}  // namespace tandem
