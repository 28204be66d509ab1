// SPDX-License-Identifier: Apache-2.0
#pragma once
// Amounts of budget from plain numbers, which only tests may make.

#include <string>

#include "tandem/privacy/cost.h"

namespace tandem {

struct CostForTests {
  static Cost of(double amount) { return Cost::at_least(amount); }
  static Cost at_most(double amount) { return Cost::at_most(amount); }
  static Cost grains(const std::string& decimal) { return Cost::from_grains(decimal); }
};

}  // namespace tandem
