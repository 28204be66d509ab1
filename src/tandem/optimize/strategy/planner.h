// SPDX-License-Identifier: Apache-2.0
#pragma once
// The best of several planners: all that apply make a strategy, and the lowest expected error wins.

#include <span>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/optimize/strategy/strategy.h"

namespace tandem {

struct PlannerResult {
  std::string planner;
  double squared_error = 0.0;  // expected; 0 where it was left out before it was known
  std::string left_out;        // why; empty where it made a strategy
};

struct StrategyPlan {
  Strategy strategy;                   // the one with the lowest expected error
  std::vector<PlannerResult> results;  // of all planners, the chosen one first
  bool long_column = false;            // a planner was left out for an ordered column's length
};

// "residual" (or "residual-plus"), "marginals", "ordered-marginals", "product" and "products", as
// far as they apply; `only` those that are named, where some are. UsageError where none applies.
StrategyPlan plan_strategy(const PlanningProblem& problem, const Threads& threads,
                           std::span<const std::string> only = {});

}  // namespace tandem
