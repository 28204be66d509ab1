// SPDX-License-Identifier: Apache-2.0
#pragma once
// `tandem budget`: what it does and what it prints.

#include <cstdint>
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
  std::vector<std::string> anchors;
};

LedgerReport create_budget(const BudgetRequest& request);
LedgerReport show_budget(const BudgetRequest& request);
LedgerReport limit_budget(const BudgetRequest& request);  // sets the total budget anew
VerifyReport verify_budget(const BudgetRequest& request);

// Stable, "format": 1; docs/ledger.md has the fields. Amounts are numbers rounded up, except what
// is left, which is rounded down.
Document to_document(const LedgerReport& report);

// For people: the terms, the totals, and a line for each run. Ends in a newline.
std::string to_text(const LedgerReport& report);

// {"format": 1, "whole": ..., "entries": ..., "head": ..., "fault": ...}.
Document to_document(const VerifyReport& report);
std::string to_text(const VerifyReport& report);  // one sentence and a newline

}  // namespace tandem
