// SPDX-License-Identifier: Apache-2.0
#pragma once
// A strategy as the gate measures it.

#include <vector>

#include "tandem/data/domain.h"
#include "tandem/optimize/strategy/strategy.h"
#include "tandem/privacy/curator.h"
#include "tandem/privacy/privacy_unit.h"
#include "tandem/query/product_queries.h"

namespace tandem {

struct StackedQueries {
  std::vector<WeightedQuery> queries;  // one for each map of the strategy
  double unit = 1.0;                   // of the weights: the strategy's weight 1 is 1/unit of these
};

// What is planned for these products under this unit. Weights are scaled by a power of two, which
// changes no plan; those too far apart for a plan are refused.
PlanningProblem planning_problem_of(const Domain& domain, const PrivacyUnit& unit, NoiseKind noise,
                                    std::vector<ProductQueries> products);

// The strategy's maps with whole-number weights. Weights that are too far apart for that are
// rounded, in the strategy too, which then predicts its errors anew.
StackedQueries stacked(const PlanningProblem& problem, Strategy& strategy, const Threads& threads);

// s of strategy.h: noise of the map k has the standard deviation s / w_k.
double noise_of(const Curator& curator, const StackedQueries& stack, Cost cost, NoiseKind noise);

}  // namespace tandem
