// SPDX-License-Identifier: Apache-2.0
#pragma once
// Record and replay for mechanisms that a test names itself: those that are no part of the mutant
// build, where every proof runs for every fault.

#include <cstddef>
#include <vector>

#include "privacy/proofs/proofs.h"
#include "tandem/mechanism/mechanism.h"

namespace tandem::proofs {

// A mechanism instead of the script of all requests.
struct MechanismRun {
  const char* name;
  Mechanism (*mechanism)();
  Parameters parameters;
  double budget = 1.0;      // of rho or epsilon
  bool cells_only = false;  // asks for single cells, which move alike under both relations
  std::size_t ways = 1;     // of the workload's marginals
  bool zcdp_only = false;   // it has no pure guarantee
};

Violation neighbours_ask_the_same(const std::vector<const MechanismRun*>& runs);
Violation recorded_steps_are_never_redrawn(const std::vector<const MechanismRun*>& runs);
Violation changed_requests_are_refused(const std::vector<const MechanismRun*>& runs);

}  // namespace tandem::proofs
