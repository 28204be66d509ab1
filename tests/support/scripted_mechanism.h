// SPDX-License-Identifier: Apache-2.0
#pragma once
// A mechanism of many adaptive steps, for tests that interrupt a release between any two of them.

#include "tandem/mechanism/mechanism.h"

namespace tandem::test {

// Selects and measures pairs of columns in turn; what it asks depends on what it was told and on
// its Rng. Options: steps (default 30; each costs an equal share), spare (the share of the budget
// it leaves unspent), fail-after (throws SourceError after so many steps; 0: never).
Mechanism scripted_mechanism();

}  // namespace tandem::test
