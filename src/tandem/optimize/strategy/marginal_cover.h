// SPDX-License-Identifier: Apache-2.0
#pragma once
// Few wide marginals that hold all of a workload's.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/base/rng.h"
#include "tandem/optimize/strategy/planning_problem.h"

namespace tandem {

// Where a search with Laplace noise may start: a set of few wide marginals that hold all others.
//
// If each item B of the workload were answered from one marginal A alone, sum_B k_B N_A / theta_A^2
// is least at theta_A = (N_A sum of k_B)^(1/3), with the root error sum_A (N_A sum of k_B)^(1/3):
// to put many items into one marginal pays while it has few cells. Items move into the set that
// gains most, one set after the other, until none gains.
class MarginalCover {
 public:
  // `splits` are those of what is measured of each attribute; 1/shared stands for a column's cells.
  MarginalCover(const PlanningProblem& problem, std::span<const Clique> sets,
                std::span<const ColumnSplit> splits);

  // log theta of every set. With `disorder` above 0 items weigh up to e times that more or less.
  std::vector<double> start(double disorder, Rng& rng, const Threads& threads) const;

 private:
  std::vector<double> cells_;      // of the sets
  std::vector<Clique> cliques_;    // of the items
  std::vector<std::size_t> home_;  // of each item: the set that is its own clique
  std::vector<double> k_;
  std::vector<std::vector<std::size_t>> held_;  // items inside each set
};

}  // namespace tandem
