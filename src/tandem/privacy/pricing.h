// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a step of the gate costs, and what a cost buys. Inside the gate only.

#include "tandem/base/units.h"
#include "tandem/privacy/cost.h"
#include "tandem/privacy/filter.h"

namespace tandem {

enum class Selection { Exponential, PermuteAndFlip };

// The parameter epsilon that a cost buys for a selection of this kind.
Epsilon selection_epsilon(Currency currency, Cost cost, Selection how);
// Privacy: rho of such a selection: epsilon^2/8, or epsilon^2/2 for permute-and-flip.
Rho selection_rho(Epsilon epsilon, Selection how);

// The pure epsilon that a cost buys for Laplace noise.
Epsilon laplace_budget(Currency currency, Cost cost);

// What one exponential draw with this parameter costs.
Cost draw_price(const Filter& filter, Epsilon epsilon);

}  // namespace tandem
