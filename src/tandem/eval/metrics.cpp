// SPDX-License-Identifier: Apache-2.0
#include "tandem/eval/metrics.h"

#include <algorithm>
#include <cmath>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/query/conjunction_counting.h"

namespace tandem {

MarginalDistance distance(const Factor& reference, const Factor& estimate) {
  check(reference.clique == estimate.clique && reference.values.size() == estimate.values.size(),
        "a marginal is compared with the same marginal");
  const double of_reference = total(reference);
  const double of_estimate = total(estimate);
  if (!(of_reference > 0.0) || !(of_estimate > 0.0)) {
    throw UsageError("A table without rows can't be compared; give one with at least one row.");
  }
  MarginalDistance out{.cells = reference.values.size()};
  for (std::size_t i = 0; i < reference.values.size(); ++i) {
    const double error =
        std::abs(reference.values[i] / of_reference - estimate.values[i] / of_estimate);
    out.l1 += error;
    out.squared += error * error;
    out.largest = std::max(out.largest, error);
  }
  return out;
}

void EvaluationSum::add(const MarginalDistance& distance, double weight) {
  ++sums_.marginals;
  sums_.queries += distance.cells;
  sums_.max_error = std::max(sums_.max_error, distance.largest);
  weight_ += weight;
  l1_ += weight * distance.l1;
  absolute_ += distance.l1;
  squared_ += distance.squared;
}

Evaluation EvaluationSum::result() const {
  check(sums_.marginals > 0, "an evaluation has at least one marginal");
  Evaluation out = sums_;
  const auto queries = static_cast<double>(out.queries);
  out.avg_workload_error = l1_ / weight_;
  out.mean_error = absolute_ / queries;
  out.rmse = std::sqrt(squared_ / queries);
  return out;
}

namespace {

std::vector<double> shares_of(std::span<const std::int64_t> counts, std::size_t rows) {
  std::vector<double> out;
  out.reserve(counts.size());
  for (const auto count : counts) {
    out.push_back(static_cast<double>(count) / static_cast<double>(rows));
  }
  return out;
}

void require_rows(std::size_t rows) {
  if (rows > 0) return;
  throw UsageError("A table without rows can't be compared; give one with at least one row.");
}

}  // namespace

std::vector<double> conjunction_shares(const ConjunctionSet& conjunctions, const Table& table,
                                       const Threads& threads) {
  require_rows(table.rows());
  return shares_of(count_conjunctions(conjunctions, table, threads), table.rows());
}

std::vector<double> conjunction_shares(const ConjunctionSet& conjunctions, const BitTable& table,
                                       const Threads& threads) {
  require_rows(table.rows());
  const auto blocks = table.blocks(conjunctions.indicators());
  return shares_of(count_conjunctions(conjunctions, *blocks, threads), table.rows());
}

Evaluation evaluate_conjunctions(const ConjunctionSet& conjunctions,
                                 std::span<const double> reference,
                                 std::span<const double> estimate) {
  check(reference.size() == conjunctions.size() && estimate.size() == conjunctions.size(),
        "each conjunction has two shares");
  Evaluation out;
  out.queries = conjunctions.total();
  double absolute = 0.0;
  double squared = 0.0;
  for (std::size_t i = 0; i < conjunctions.size(); ++i) {
    const double error = std::abs(reference[i] - estimate[i]);
    const double times = conjunctions.multiplicity(i);
    out.max_error = std::max(out.max_error, error);
    absolute += times * error;
    squared += times * error * error;
  }
  const auto queries = static_cast<double>(out.queries);
  out.mean_error = absolute / queries;
  out.avg_workload_error = out.mean_error;
  out.rmse = std::sqrt(squared / queries);
  return out;
}

std::optional<Workload> all_pairs(const Domain& domain) {
  const std::size_t columns = domain.size();
  if (columns * (columns - 1) / 2 > kMostMarginals) return std::nullopt;
  for (AttributeId a = 0; a < columns; ++a) {
    for (AttributeId b = a + 1; b < columns; ++b) {
      const auto cells = domain.try_cells({a, b});
      if (!cells || *cells > kMostCellsOfMarginal) return std::nullopt;
    }
  }
  return Workload::all_k_way(domain, std::min<std::size_t>(2, columns));
}

std::vector<std::span<const WeightedClique>> batches(const Workload& workload,
                                                     std::size_t most_cells) {
  std::vector<std::span<const WeightedClique>> out;
  const auto all = workload.cliques();
  std::size_t begin = 0;
  std::size_t cells = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t more = workload.domain().cells(all[i].clique);
    if (i > begin && cells + more > most_cells) {
      out.push_back(all.subspan(begin, i - begin));
      begin = i;
      cells = 0;
    }
    cells += more;
  }
  if (begin < all.size()) out.push_back(all.subspan(begin));
  return out;
}

}  // namespace tandem
