// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far two tables or models are apart on a workload. Everything is of proportions: counts
// divided by their own total, so tables of different sizes compare.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/bit_table.h"
#include "tandem/data/table.h"
#include "tandem/query/projectable.h"
#include "tandem/query/workload.h"

namespace tandem {

struct Evaluation {
  std::string workload;
  std::size_t marginals = 0;
  std::size_t queries = 0;
  double avg_workload_error = 0.0;  // weighted mean over marginals of the L1 distance, 0 to 2
  double max_error = 0.0;           // largest absolute error of one query
  double mean_error = 0.0;          // mean absolute error over all queries
  double rmse = 0.0;                // root of the mean squared error over all queries
  // (2 - mean L1 over all pairs of columns) * 500: 0 to 1000. Absent where there are too many
  // pairs.
  std::optional<double> k_marginal_score;
};

// How far two marginals of one clique are apart, each divided by its own total.
struct MarginalDistance {
  std::size_t cells = 0;
  double l1 = 0.0;
  double squared = 0.0;  // sum of squares
  double largest = 0.0;
};
MarginalDistance distance(const Factor& reference, const Factor& estimate);

// Adds up errors marginal by marginal.
class EvaluationSum {
 public:
  void add(const MarginalDistance& distance, double weight);
  Evaluation result() const;

 private:
  Evaluation sums_;
  double weight_ = 0.0;
  double l1_ = 0.0;
  double absolute_ = 0.0;
  double squared_ = 0.0;
};

// Runs of workload positions whose marginals have at most `most_cells` cells together (or one).
std::vector<std::span<const WeightedClique>> batches(const Workload& workload,
                                                     std::size_t most_cells);

// All pairs of columns (or the one column), unless they are too many or too large to count.
std::optional<Workload> all_pairs(const Domain& domain);

inline constexpr std::size_t kCellsAtOnce = std::size_t{1} << 23;

// With `by_marginal`, also the L1 distance of each marginal, in the order of workload.cliques().
template <Projectable A, Projectable B>
Evaluation evaluate_workload(const Workload& workload, const A& reference, const B& estimate,
                             std::vector<double>* by_marginal = nullptr) {
  EvaluationSum sum;
  for (const auto batch : batches(workload, kCellsAtOnce)) {
    std::vector<Clique> cliques;
    cliques.reserve(batch.size());
    for (const auto& [clique, weight] : batch) cliques.push_back(clique);
    const auto references = project_all(reference, cliques);
    const auto estimates = project_all(estimate, cliques);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto apart = distance(references[i], estimates[i]);
      sum.add(apart, batch[i].weight);
      if (by_marginal != nullptr) by_marginal->push_back(apart.l1);
    }
  }
  return sum.result();
}

// Single queries: the share of rows that fulfil each conjunction, and how far two lists of shares
// are apart. One that occurs twice counts twice, there are no marginals, and the average error is
// the mean.
std::vector<double> conjunction_shares(const ConjunctionSet& conjunctions, const Table& table,
                                       const Threads& threads = {});
std::vector<double> conjunction_shares(const ConjunctionSet& conjunctions, const BitTable& table,
                                       const Threads& threads = {});
// What errors are measured against: the answers that a workload of conjunctions states, which stand
// in for data that can't be had, or the shares of these rows.
template <class Rows>
std::vector<double> reference_shares(const Workload& workload, const Rows& rows,
                                     const Threads& threads = {}) {
  const auto stated = workload.stated_answers();
  if (!stated.empty()) return {stated.begin(), stated.end()};
  return conjunction_shares(*workload.conjunctions(), rows, threads);
}

Evaluation evaluate_conjunctions(const ConjunctionSet& conjunctions,
                                 std::span<const double> reference,
                                 std::span<const double> estimate);

// The 2-way k-marginal score of a mean L1 distance over all pairs of columns, as NIST's SDNist
// defines it.
inline double k_marginal_score(double mean_l1) { return (2.0 - mean_l1) * 500.0; }

// The workload's errors, and the score: on all pairs of columns, whatever the workload is.
template <Projectable A, Projectable B>
Evaluation evaluate(const Workload& workload, const A& reference, const B& estimate) {
  Evaluation out = evaluate_workload(workload, reference, estimate);
  out.workload = workload.name();
  if (const auto pairs = all_pairs(workload.domain())) {
    out.k_marginal_score =
        k_marginal_score(evaluate_workload(*pairs, reference, estimate).avg_workload_error);
  }
  return out;
}

}  // namespace tandem
