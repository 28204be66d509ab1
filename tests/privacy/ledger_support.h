// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ledgers for tests, in few words.

#include <optional>
#include <string>

#include "support/costs.h"
#include "support/files.h"
#include "tandem/privacy/ledger.h"

namespace tandem::test {

inline LedgerTerms terms(double epsilon, double delta) {
  return {"people", Epsilon(epsilon), Delta(delta), PrivacyUnit{}};
}

inline LedgerCharge pure(double epsilon) {
  return {CostForTests::of(epsilon), CostForTests::of(epsilon * epsilon / 2.0)};
}

inline LedgerCharge zcdp(double rho) { return {std::nullopt, CostForTests::of(rho)}; }

inline std::string open_run(Ledger& ledger, const LedgerCharge& charge) {
  return ledger.reserve({"mst", "release", ledger.terms().unit, false}, charge);
}

}  // namespace tandem::test
