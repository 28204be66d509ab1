// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the quantities of differential privacy meet.

#include "tandem/base/units.h"

namespace tandem {

// The smallest epsilon, rounded up, such that rho-zCDP implies (epsilon, delta); infinite at
// delta 0 unless rho is 0.
//
// Privacy: Canonne, Kamath, Steinke 2020, Corollary 13; any order gives a valid bound.
Epsilon epsilon_of(Rho rho, Delta delta);

}  // namespace tandem
