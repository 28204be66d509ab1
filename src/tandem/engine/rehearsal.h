// SPDX-License-Identifier: Apache-2.0
#pragma once
// A mechanism's first steps on a made-up row: whatever is wrong with what it was given shows before
// anything is reserved, opened or spent.

#include "tandem/engine/preparation.h"

namespace tandem {

// Runs the mechanism until its first charge, and throws what it throws; before that, UsageError for
// rules that contradict each other.
void rehearse(const Prepared& prepared, const Problem& problem, Threads threads);

}  // namespace tandem
