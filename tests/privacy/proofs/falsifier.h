// SPDX-License-Identifier: Apache-2.0
#pragma once
// The search behind the falsifier, for tests that set it against wrong declarations.

#include <cstdint>
#include <string>

#include "privacy/proofs/proofs.h"
#include "privacy/proofs/score_cases.h"

namespace tandem::proofs {

struct Climb {
  ScoreGrid grid;           // as the gate declares it
  std::uint64_t steps = 0;  // furthest that neighbours were found apart
  bool wrong_value = false;
};

// Random restarts and hill climbing over tables, references and a person with `rows` rows.
Climb climb(const ScoreForm& form, const PrivacyUnit& unit, int rows, std::uint64_t seed);

// The declaration should be `declared` counts, reached to 99.9% and not exceeded.
Violation judge(const std::string& what, const Climb& climb, double declared);

}  // namespace tandem::proofs
