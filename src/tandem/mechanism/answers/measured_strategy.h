// SPDX-License-Identifier: Apache-2.0
#pragma once
// A strategy as the gate measures it.

#include <vector>

#include "tandem/optimize/strategy/strategy.h"
#include "tandem/privacy/curator.h"

namespace tandem {

struct StackedQueries {
  std::vector<WeightedQuery> queries;  // one for each map of the strategy
  double unit = 1.0;                   // of the weights: the strategy's weight 1 is 1/unit of these
};

// The strategy's maps with whole-number weights. Weights that are too far apart for that are
// rounded, in the strategy too, which then predicts its errors anew.
StackedQueries stacked(const PlanningProblem& problem, Strategy& strategy, const Threads& threads);

// s of strategy.h: noise of the map k has the standard deviation s / w_k.
double noise_of(const Curator& curator, const StackedQueries& stack, Cost cost, NoiseKind noise);

}  // namespace tandem
