// SPDX-License-Identifier: Apache-2.0
#include "support/dense_planning.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace tandem {
namespace {

// Kronecker product of one small matrix for each attribute of the domain, in order.
DenseMatrix kronecker(std::span<const DenseMatrix> factors) {
  DenseMatrix out(1, 1);
  out(0, 0) = 1.0;
  for (const auto& factor : factors) {
    DenseMatrix next(out.rows * factor.rows, out.columns * factor.columns);
    for (std::size_t a = 0; a < out.rows; ++a) {
      for (std::size_t b = 0; b < out.columns; ++b) {
        for (std::size_t r = 0; r < factor.rows; ++r) {
          for (std::size_t c = 0; c < factor.columns; ++c) {
            next(a * factor.rows + r, b * factor.columns + c) = out(a, b) * factor(r, c);
          }
        }
      }
    }
    out = std::move(next);
  }
  return out;
}

DenseMatrix row_of_ones(std::size_t n) {
  DenseMatrix out(1, n);
  std::ranges::fill(out.values, 1.0);
  return out;
}

// By its definition, one row after the other.
DenseMatrix query_matrix(const ColumnQueries& queries, std::size_t n) {
  std::vector<std::vector<double>> rows;
  const auto interval = [&](std::size_t from, std::size_t to) {
    std::vector<double> row(n, 0.0);
    for (std::size_t j = from; j <= to; ++j) row[j] = 1.0;
    rows.push_back(std::move(row));
  };
  switch (queries.kind) {
    case ColumnQueries::Kind::Identity:
      for (std::size_t j = 0; j < n; ++j) interval(j, j);
      break;
    case ColumnQueries::Kind::Total:
      interval(0, n - 1);
      break;
    case ColumnQueries::Kind::Prefix:
      for (std::size_t j = 0; j < n; ++j) interval(0, j);
      break;
    case ColumnQueries::Kind::Ranges:
      for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = a; b < n; ++b) interval(a, b);
      }
      break;
    case ColumnQueries::Kind::Given:
      for (std::size_t i = 0; i < queries.given.size(); i += n) {
        rows.emplace_back(queries.given.begin() + static_cast<std::ptrdiff_t>(i),
                          queries.given.begin() + static_cast<std::ptrdiff_t>(i + n));
      }
      break;
  }
  DenseMatrix out(rows.size(), n);
  for (std::size_t r = 0; r < rows.size(); ++r) std::ranges::copy(rows[r], out.row(r).begin());
  return out;
}

}  // namespace

PlanningProblem all_k_way_problem(std::vector<std::size_t> sizes, std::size_t k, NoiseKind noise) {
  PlanningProblem out;
  out.noise = noise;
  std::vector<AttributeId> ids;
  const std::function<void(std::size_t)> choose = [&](std::size_t from) {
    if (ids.size() == k) {
      out.workload.push_back({Clique(ids), std::vector<ColumnQueries>(k), 1.0});
      return;
    }
    for (std::size_t i = from; i < sizes.size(); ++i) {
      ids.push_back(static_cast<AttributeId>(i));
      choose(i + 1);
      ids.pop_back();
    }
  };
  choose(0);
  out.sizes = std::move(sizes);
  return out;
}

PlanningProblem random_problem(Rng& rng, bool ordered) {
  constexpr std::size_t kMostCells = 200;
  PlanningProblem out;
  std::size_t cells = 1;
  const std::size_t columns = 1 + rng.below(ordered ? 3 : 5);
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t most =
        std::min<std::size_t>(ordered && columns == 1 ? kMostCells : 14, kMostCells / cells);
    if (most < 2) break;
    out.sizes.push_back(2 + rng.below(most - 1));
    cells *= out.sizes.back();
  }
  const std::size_t items = 1 + rng.below(5);
  for (std::size_t t = 0; t < items; ++t) {
    ProductQueries item;
    std::vector<AttributeId> ids;
    for (std::size_t i = 0; i < out.sizes.size(); ++i) {
      if (rng.below(2) == 0 || out.sizes.size() == 1) ids.push_back(static_cast<AttributeId>(i));
    }
    item.clique = Clique(std::move(ids));
    for (std::size_t i = 0; i < item.clique.size(); ++i) {
      ColumnQueries queries;
      if (ordered) {
        constexpr ColumnQueries::Kind kKinds[] = {
            ColumnQueries::Kind::Ranges, ColumnQueries::Kind::Prefix, ColumnQueries::Kind::Identity,
            ColumnQueries::Kind::Ranges};
        queries.kind = kKinds[rng.below(4)];
      }
      item.factors.push_back(std::move(queries));
    }
    item.weight = 0.5 + rng.uniform();
    out.workload.push_back(std::move(item));
  }
  return out;
}

DenseMatrix dense_queries(const PlanningProblem& problem, const ProductQueries& item) {
  std::vector<DenseMatrix> factors;
  std::size_t at = 0;
  for (std::size_t i = 0; i < problem.sizes.size(); ++i) {
    if (at < item.clique.size() && item.clique[at] == i) {
      factors.push_back(query_matrix(item.factors[at++], problem.sizes[i]));
    } else {
      factors.push_back(row_of_ones(problem.sizes[i]));
    }
  }
  return kronecker(factors);
}

DenseMatrix dense_map(const PlanningProblem& problem, const Strategy& strategy, std::size_t map) {
  std::vector<DenseMatrix> factors;
  std::size_t at = 0;
  const auto& planned = strategy.maps[map];
  for (std::size_t i = 0; i < problem.sizes.size(); ++i) {
    if (at < planned.clique.size() && planned.clique[at] == i) {
      factors.push_back(strategy.columns[planned.columns[at++]].matrix());
    } else {
      factors.push_back(row_of_ones(problem.sizes[i]));
    }
  }
  return kronecker(factors);
}

double brute_force_sensitivity(const PlanningProblem& problem, const DenseMatrix& matrix) {
  const DenseMatrix columns = transpose(matrix);
  const bool laplace = problem.noise == NoiseKind::Laplace;
  const auto size = [&](std::size_t a, std::size_t b, bool distance) {
    double sum = 0.0;
    for (std::size_t r = 0; r < columns.columns; ++r) {
      const double d = columns(a, r) - (distance ? columns(b, r) : 0.0);
      sum += laplace ? std::abs(d) : d * d;
    }
    return laplace ? sum : std::sqrt(sum);
  };
  double out = 0.0;
  for (std::size_t a = 0; a < columns.rows; ++a) {
    if (!problem.unit.total_is_public) out = std::max(out, size(a, a, false));
    if (!problem.unit.replace_one) continue;
    for (std::size_t b = 0; b < a; ++b) out = std::max(out, size(a, b, true));
  }
  return out;
}

DenseMatrix dense_gram(const PlanningProblem& problem) {
  DenseMatrix out;
  for (const auto& item : problem.workload) {
    const DenseMatrix one = gram(dense_queries(problem, item));
    if (out.rows == 0) out = DenseMatrix(one.rows, one.columns);
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      out.values[i] += item.weight * item.weight * one.values[i];
    }
  }
  return out;
}

double least_gaussian_error(const DenseMatrix& workload_gram, double tolerance) {
  // min tr(G X^+) over X >= 0 with diag X <= 1. For multipliers mu the dual value, at its best
  // scale, is (tr Y)^2 / sum mu, Y = (D G D)^(1/2), D = diag(sqrt mu); X_jj = Y_jj / mu_j, over its
  // largest, is feasible with the error tr Y max X_jj.
  const std::size_t n = workload_gram.rows;
  std::vector<double> mu(n, 1.0);
  double upper = HUGE_VAL;
  double lower = 0.0;
  for (int step = 0; step < 5000; ++step) {
    DenseMatrix scaled = workload_gram;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) scaled(i, j) *= std::sqrt(mu[i] * mu[j]);
    }
    const SymmetricEigen parts = eigen(scaled);
    std::vector<double> diagonal(n, 0.0);
    double trace = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      const double root = std::sqrt(std::max(0.0, parts.values[k]));
      trace += root;
      for (std::size_t j = 0; j < n; ++j) {
        diagonal[j] += root * parts.vectors(k, j) * parts.vectors(k, j) / mu[j];
      }
    }
    upper = std::min(upper, trace * *std::ranges::max_element(diagonal));
    lower = std::max(lower, trace * trace / std::accumulate(mu.begin(), mu.end(), 0.0));
    if (upper <= (1.0 + tolerance) * lower) return lower;
    for (std::size_t j = 0; j < n; ++j) mu[j] *= diagonal[j];
  }
  throw std::runtime_error("the optimum was not reached");
}

}  // namespace tandem
