// SPDX-License-Identifier: Apache-2.0
#pragma once
// Combinations that never occur in public data, put as rules for a person to confirm.

#include <cstddef>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/schema.h"

namespace tandem {

struct RuleProposal {
  std::string when;      // "AGEP < 15"
  std::string then;      // "MSP = N"
  std::size_t rows = 0;  // public rows that speak for it
};

// The strongest first: those that chance would have broken most often, were the two columns
// independent. Of one implication and its weaker forms, the strongest is kept. All files together
// speak for a rule, and a single row of any of them against it.
std::vector<RuleProposal> propose_rules(const Schema& schema,
                                        const std::vector<std::string>& public_sources,
                                        Threads threads);

}  // namespace tandem
