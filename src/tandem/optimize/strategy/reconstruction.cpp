// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/reconstruction.h"

#include <algorithm>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {

Reconstruction::Reconstruction(const PlanningProblem& problem, const Strategy& strategy,
                               const StrategyKnowledge& knowledge,
                               std::vector<std::vector<double>> answers, double total,
                               const Threads& threads)
    : problem_(problem), strategy_(strategy), total_(total) {
  check(answers.size() == strategy.maps.size(), "every map of a strategy was measured");
  if (strategy.shape == Strategy::Shape::Products) {
    for (std::size_t k = 0; k < answers.size(); ++k) {
      threads.check();
      std::vector<double> table = std::move(answers[k]);
      std::size_t outer = 1;
      for (const auto c : strategy.maps[k].columns) {
        const DenseMatrix m = strategy.columns[c].matrix();
        const DenseMatrix solve = multiply_transposed(knowledge.covariances[c], m);  // (M'M)^-1 M'
        table = apply_along(solve, table, outer, table.size() / (outer * m.rows));
        outer *= m.columns;
      }
      cells_.push_back(std::move(table));
    }
    return;
  }
  // Least squares in the residual basis: the estimate of R is the sum over A >= R of w_A^2 (kron_R
  // K_i M_i') (kron_{A\R} pi_i' M_i') y_A, over the precision of R. Noise that no table makes, such
  // as that along 1 in the answers of n I - J, falls out by itself.
  const ResidualKnowledge& known = knowledge.residuals;
  for (std::size_t i = 0; i < problem.sizes.size(); ++i) {
    profiles_.push_back(known.splits[i].profile_of(problem.sizes[i]));
  }
  struct Solve {
    DenseMatrix inside;   // K M'
    DenseMatrix outside;  // pi' M'
  };
  std::vector<Solve> solves(strategy.columns.size());
  for (const auto& map : strategy.maps) {
    for (std::size_t i = 0; i < map.columns.size(); ++i) {
      const std::size_t c = map.columns[i];
      if (strategy.columns[c].kind != ColumnMap::Kind::Given || solves[c].inside.rows > 0) continue;
      const DenseMatrix m = strategy.columns[c].matrix();
      solves[c].inside = multiply_transposed(known.splits[map.clique[i]].within, m);
      solves[c].outside = DenseMatrix(1, m.rows);
      const auto means = apply_along(m, profiles_[map.clique[i]], 1, 1);
      std::ranges::copy(means, solves[c].outside.values.begin());
    }
  }
  for (std::size_t k = 0; k < answers.size(); ++k) {
    threads.check();
    const auto& map = strategy.maps[k];
    const double squared = map.weight.value() * map.weight.value();
    const auto step = [&](std::size_t i, bool inside, std::span<const double> table,
                          std::size_t outer) -> std::vector<double> {
      const ColumnMap& column = strategy.columns[map.columns[i]];
      const std::size_t n = column.values;
      const std::size_t inner = table.size() / (outer * column.outputs());
      if (inside && n == 1) return {};
      if (column.kind == ColumnMap::Kind::Given) {
        const Solve& solve = solves[map.columns[i]];
        if (!inside && known.splits[map.clique[i]].shared == 0.0) return {};
        return apply_along(inside ? solve.inside : solve.outside, table, outer, inner);
      }
      const bool residual = column.kind == ColumnMap::Kind::Residual;
      if (!inside && residual) return {};
      std::vector<double> out(table.begin(), table.end());
      if (inside) {
        centre_along(out, outer, n, inner);
      } else {
        out = sum_along(table, outer, n, inner);
      }
      // Of I: K M' = I - J/n and pi' M' = 1'/n. Of n I - J: K M' = (I - J/n)/n.
      if (!inside || residual) {
        for (double& value : out) value /= static_cast<double>(n);
      }
      return out;
    };
    for_all_parts(problem.sizes, map.clique, answers[k], step,
                  [&](const Clique& part, std::vector<double> table) {
                    const auto found = known.precision.find(part);
                    if (found == known.precision.end()) return;
                    auto& sum = residuals_[part];
                    sum.resize(table.size(), 0.0);
                    for (std::size_t t = 0; t < table.size(); ++t) {
                      sum[t] += squared / found->second * table[t];
                    }
                  });
  }
  if (problem.unit.total_is_public) residuals_[Clique{}] = {total};
}

std::vector<double> Reconstruction::marginal(const Clique& clique) const {
  if (strategy_.shape == Strategy::Shape::Products) {
    if (clique.empty() && problem_.unit.total_is_public) return {total_};
    const std::size_t k = strategy_.map_for(clique);
    std::vector<double> table = cells_[k];
    std::size_t outer = 1;
    for (const auto id : strategy_.maps[k].clique) {
      const std::size_t n = problem_.sizes[id];
      if (clique.contains(id)) {
        outer *= n;
      } else {
        table = sum_along(table, outer, n, table.size() / (outer * n));
      }
    }
    return table;
  }
  return table_from_residuals(profiles_, residuals_, clique);
}

std::vector<double> Reconstruction::answer(const ProductQueries& item) const {
  const Clique asked = asked_columns(problem_, item);
  auto out = answer_from(problem_, item, asked, marginal(asked));
  if (strategy_.shape != Strategy::Shape::Products || !problem_.unit.total_is_public) return out;
  // A product doesn't know the number of rows: queries that see no more are answered from it.
  std::vector<double> times{1.0};
  for (std::size_t i = 0; i < item.clique.size(); ++i) {
    const auto own = times_total(item.factors[i], problem_.sizes[item.clique[i]]);
    std::vector<double> both;
    both.reserve(times.size() * own.size());
    for (const double before : times) {
      for (const double more : own) both.push_back(before * more);
    }
    times = std::move(both);
  }
  for (std::size_t q = 0; q < out.size(); ++q) {
    if (times[q] != 0.0) out[q] = times[q] * total_;
  }
  return out;
}

std::vector<double> answer_from(const PlanningProblem& problem, const ProductQueries& item,
                                const Clique& asked, std::vector<double> table) {
  std::size_t outer = 1;
  std::size_t inner = table.size();
  for (std::size_t i = 0; i < item.clique.size(); ++i) {
    const std::size_t n = problem.sizes[item.clique[i]];
    if (asked.contains(item.clique[i])) {
      inner /= n;
    } else {  // its queries see no more than a total, so that any table with this total will do
      table = spread_along(table, outer, ColumnSplit{}.profile_of(n), inner);
    }
    table = item.factors[i].apply(table, outer, n, inner);
    outer *= item.factors[i].rows(n);
  }
  return table;
}

}  // namespace tandem
