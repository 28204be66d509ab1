// SPDX-License-Identifier: Apache-2.0
#pragma once
// Marginals that are not measured one by one but answered by a strategy that is planned for all of
// them: what several have in common is measured once.

#include <span>
#include <vector>

#include "tandem/mechanism/answers/measured_strategy.h"
#include "tandem/optimize/strategy/planner.h"
#include "tandem/query/measurement.h"
#include "tandem/query/workload.h"

namespace tandem {

struct PlannedMarginals {
  PlanningProblem problem;
  StrategyPlan plan;
  StackedQueries stack;
};

// No budget is in it. UsageError where no planner applies.
PlannedMarginals plan_strategy_for(const Curator& curator, const Domain& domain,
                                   std::span<const WeightedClique> marginals, NoiseKind noise);

// The expected root mean square error of a count of each marginal, when all that is left is spent.
std::vector<double> errors_of(const Curator& curator, const PlannedMarginals& planned);

struct AnsweredMarginals {
  std::vector<Measurement> measured;  // by the gate: the strategy's maps
  // In the order asked: estimates from them, and the error of a count in place of its noise.
  // Errors of different counts go together.
  std::vector<Measurement> marginals;
};

// Spends all that is left. `n`: the number of rows where it is public.
AnsweredMarginals answer_by_strategy(Curator& curator, const PlannedMarginals& planned, double n);

}  // namespace tandem
