// SPDX-License-Identifier: Apache-2.0
#pragma once
// How wide 95% intervals are where noise is Laplace: an answer sums the noise of many counts, and
// has tails between those of one Laplace variable (2.118 standard deviations) and of a normal
// (1.96).

#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/optimize/strategy/strategy.h"

namespace tandem {

inline constexpr double kNormal95 = 1.959963984540054;
inline constexpr double kLaplace95 = 2.118297;  // log(20) / sqrt(2)

// For each item of the workload the half-width of a 95% interval, in standard deviations: the
// strategy's noise is drawn and answered again and again, from a seed of its own, and all queries
// of an item are taken together. Data is not looked at. Where that would take long, the widest.
std::vector<double> laplace_margins(const PlanningProblem& problem, const Strategy& strategy,
                                    const StrategyKnowledge& known, const Threads& threads);

}  // namespace tandem
