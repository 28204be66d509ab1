// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `tandem budget show` and `tandem budget verify` print.

#include <string>

#include "tandem/base/document.h"
#include "tandem/privacy/ledger.h"

namespace tandem {

// Stable, "format": 1; docs/ledger.md has the fields. Amounts are numbers rounded up, except what
// is left, which is rounded down.
Document to_document(const LedgerReport& report);

// For people: the terms, the totals, and a line for each run. Ends in a newline.
std::string to_text(const LedgerReport& report);

// {"format": 1, "whole": ..., "entries": ..., "head": ..., "fault": ...}.
Document to_document(const VerifyReport& report);
std::string to_text(const VerifyReport& report);  // one sentence and a newline

}  // namespace tandem
