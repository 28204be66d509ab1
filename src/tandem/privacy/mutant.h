// SPDX-License-Identifier: Apache-2.0
#pragma once
// Planted faults, to prove that the tests would find real ones. In every build but that of the
// mutant tests, mutant() is the constant false and the faults aren't compiled in.

namespace tandem {

enum class Mutant {
  None,
  HalfSensitivity,      // of queries and scores
  NoNoise,              // measurements come out exact
  ChargeNothing,        // steps are drawn without asking the filter
  ChargeHalf,           // steps cost half of what they spend
  DoubleSharpness,      // selection at twice the rate it pays for
  LargestWins,          // selection takes the best candidate, without randomness
  RoundSigmaDown,       // noise a tenth too small
  ForgetRowsPerPerson,  // every person counts as one row
  KeepAllRows,          // rows beyond the person's share are not dropped
  DrawAgain,            // a resumed step is drawn once more
  PeekAtTotal           // the total comes out exact under add-remove
};

#ifdef TANDEM_MUTANTS
bool mutant(Mutant which);
void plant(Mutant which);  // Mutant::None heals
#else
constexpr bool mutant(Mutant /*which*/) { return false; }
#endif

}  // namespace tandem
