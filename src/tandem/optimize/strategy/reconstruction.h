// SPDX-License-Identifier: Apache-2.0
#pragma once
// From what a strategy measured to answers of a workload.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/optimize/strategy/residual_tables.h"
#include "tandem/optimize/strategy/strategy.h"

namespace tandem {

// Unbiased least-squares estimates from what was measured; nothing of the domain's size is formed.
class Reconstruction {
 public:
  // answers[k]: what map k gave, in the order of its outputs, without its weight. `total` is the
  // number of rows where it is public, and is not looked at elsewhere.
  Reconstruction(const PlanningProblem& problem, const Strategy& strategy,
                 const StrategyKnowledge& knowledge, std::vector<std::vector<double>> answers,
                 double total, const Threads& threads);
  // Of a clique within one of the workload's: its estimated marginal, negative counts and all.
  std::vector<double> marginal(const Clique& clique) const;
  // In the order of the product's rows, the last factor's moving fastest; without the weight.
  std::vector<double> answer(const ProductQueries& item) const;
  // Of the shape Sets: what answers come from, and how each attribute's total is spread.
  const ResidualTables& residuals() const { return residuals_; }
  std::span<const std::vector<double>> profiles() const { return profiles_; }

 private:
  const PlanningProblem& problem_;
  const Strategy& strategy_;
  double total_;
  ResidualTables residuals_;
  std::vector<std::vector<double>> profiles_;
  std::vector<std::vector<double>> cells_;  // Products: the estimated marginal of each map's clique
};

// The answers of a product, without its weight, from the marginal of the columns that it asks of
// more than their total (asked_columns).
std::vector<double> answer_from(const PlanningProblem& problem, const ProductQueries& item,
                                const Clique& asked, std::vector<double> table);

}  // namespace tandem
