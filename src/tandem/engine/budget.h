// SPDX-License-Identifier: Apache-2.0
#pragma once
// `tandem budget`: what it does and what it prints.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/privacy/ledger.h"

namespace tandem {

struct BudgetRequest {
  std::string ledger;
  std::string dataset;
  double epsilon = 0.0;  // 0: not given
  double delta = 1e-9;
  std::string neighbors = "replace-one";
  std::int64_t rows_per_person = 1;
  std::string out;  // settle: the release that a dead run was to make
};

// `budget create`: UsageError for what is missing or out of range.
Ledger create_budget(const BudgetRequest& request);

// `budget limit`: sets the total budget anew.
Ledger limit_budget(const BudgetRequest& request);

// `budget settle`: closes a run that died, at what the transcript in OUT.partial proves, and
// removes that folder: the run can't be resumed any more. UsageError without the folder or while a
// process works on it; BudgetError when its steps are not exactly those that the ledger registered.
Ledger settle_budget(const BudgetRequest& request);

// `budget show`: a table for people, or JSON with "format": 1 (docs/ledger.md has the fields).
// Amounts are rounded up, except what is left, which is rounded down.
std::string show_budget(const Ledger& ledger, bool json);

// `budget verify`: one sentence, or JSON with "format": 1. Each anchor is a hash that a release
// cites and the chain must hold.
struct Verdict {
  bool whole = false;
  std::string text;
};
Verdict verify_budget(const Ledger& ledger, std::span<const std::string> anchors, bool json);

// What is left: "a run of epsilon 1.698 at delta 1e-09, or a pure one of epsilon 1".
std::string left_in_words(const LedgerReport& report);
// The same after what is spent: "epsilon 1 of 2 is spent; left is a run of ...".
std::string budget_in_words(const LedgerReport& report);

Document to_document(const LedgerReport& report);
Document to_document(const VerifyReport& report);
std::string to_text(const LedgerReport& report);
std::string to_text(const VerifyReport& report);

}  // namespace tandem
