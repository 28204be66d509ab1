// SPDX-License-Identifier: Apache-2.0
#pragma once
// Costs from numbers, which outside the tests only the filter and the ledger can make.

#include <string>

#include "tandem/privacy/cost.h"

namespace tandem {

struct CostForTests {
  static Cost at_most(double amount) { return Cost::at_most(amount); }
  static Cost at_least(double amount) { return Cost::at_least(amount); }
  static Cost from_grains(const std::string& decimal) { return Cost::from_grains(decimal); }
};

}  // namespace tandem
