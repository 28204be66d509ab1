// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `tandem budget show` and `tandem budget verify` print.

#include <span>
#include <string>

#include "tandem/base/document.h"
#include "tandem/privacy/ledger.h"

namespace tandem {

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

Document to_document(const LedgerReport& report);
Document to_document(const VerifyReport& report);
std::string to_text(const LedgerReport& report);
std::string to_text(const VerifyReport& report);

}  // namespace tandem
