// SPDX-License-Identifier: Apache-2.0
#pragma once
// A mechanism's first steps on a made-up row: whatever is wrong with what it was given shows before
// anything is reserved, opened or spent.

#include "tandem/engine/preparation.h"

namespace tandem {

// Runs the mechanism until its first charge, without training on public data, and throws what it
// throws; before that, UsageError for rules that contradict each other.
void rehearse(const RunParts& parts, const Problem& problem, const Threads& threads);

// A curator of no rows: it knows every price and scale, and has nothing to tell.
Curator planning_curator(const RunParts& parts, const Domain& domain);

}  // namespace tandem
