// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/column_workload.h"

#include <algorithm>
#include <map>

#include "tandem/base/check.h"

namespace tandem {

using Kind = ColumnQueries::Kind;

namespace {

constexpr double kRidge = 1e-6;  // of the mean diagonal

}  // namespace

std::size_t p_of(std::size_t n) { return std::clamp<std::size_t>(n / 16, 4, 64); }

void ColumnWorkload::add(const ColumnQueries& queries, double weight) {
  if (queries.kind != Kind::Identity && queries.kind != Kind::Total) values_alike = false;
  for (auto& [known, sum] : asked) {
    if (known == queries) {
      sum += weight;
      return;
    }
  }
  asked.emplace_back(queries, weight);
}

DenseMatrix ColumnWorkload::gram(std::size_t n) const {
  DenseMatrix out(n, n);
  for (const auto& [queries, weight] : asked) {
    const DenseMatrix one = gram_of(queries, n);
    for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] += weight * one.values[i];
  }
  double trace = 0.0;
  for (std::size_t i = 0; i < n; ++i) trace += out(i, i);
  check(trace > 0.0, "queries of a column ask something");
  for (double& value : out.values) value *= static_cast<double>(n) / trace;
  for (std::size_t i = 0; i < n; ++i) out(i, i) += kRidge;
  return out;
}

std::pair<double, double> ColumnWorkload::identity_and_total() const {
  check(values_alike, "values of this column count alike");
  std::pair<double, double> out{0.0, 0.0};
  for (const auto& [queries, weight] : asked) {
    (queries.kind == Kind::Identity ? out.first : out.second) += weight;
  }
  out.first += kRidge * (out.first + out.second);
  return out;
}

std::vector<ColumnWorkload> column_workloads(const PlanningProblem& problem) {
  std::map<std::size_t, ColumnWorkload> found;
  ColumnErrors errors(problem.sizes.size());
  for (const auto& item : problem.workload) {
    double all = item.weight * item.weight;
    std::vector<double> own(item.clique.size());
    std::vector<bool> matters(item.clique.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto pair = errors.of(item.clique[i], item.factors[i], problem.sizes[item.clique[i]]);
      own[i] = pair.inside + pair.outside;
      matters[i] = pair.inside > 0.0;
      all *= own[i];
    }
    for (std::size_t i = 0; i < own.size() && all > 0.0; ++i) {
      if (!matters[i]) continue;
      auto& column = found[item.clique[i]];
      column.attribute = item.clique[i];
      column.add(item.factors[i], all / own[i]);
    }
  }
  std::vector<ColumnWorkload> out;
  out.reserve(found.size());
  for (auto& [attribute, column] : found) out.push_back(std::move(column));
  return out;
}

}  // namespace tandem
