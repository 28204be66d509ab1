// SPDX-License-Identifier: Apache-2.0
#pragma once
// What mechanisms on graphical models share: which marginals a model has room for, and how much a
// noisy one is off.

#include <span>
#include <vector>

#include "tandem/base/units.h"
#include "tandem/model/graphical_model.h"

namespace tandem {

// Those inside the model already, or whose model with all that was measured stays within the limit.
std::vector<Clique> tractable(std::span<const Clique> candidates, const GraphicalModel& model,
                              std::span<const Clique> measured, double limit_mb);

// E |noise|_1 of a marginal measured with Gaussian noise.
double expected_noise(Sigma sigma, std::size_t cells);

double l1_distance(const Factor& a, const Factor& b);  // of the same clique

}  // namespace tandem
