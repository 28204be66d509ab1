// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a column probably is: a proposal for its schema, from its codebook entry and public texts.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/data/attribute.h"
#include "tandem/data/codebook.h"
#include "tandem/engine/draft/column_profile.h"

namespace tandem {

struct ColumnDraft {
  // Keys and values as docs/schema.md has them; empty: the column is left out.
  Document column;
  std::vector<std::pair<std::string, std::string>> labels;  // of its values, from the codebook
  std::vector<std::string> choices;                         // sentences: what was chosen, and why
  std::vector<std::string> doubts;                          // sentences: what a person should check
  std::string bounds;  // of numbers or dates, where only public data tells them; else empty
};

struct DraftOptions {
  Code ranges = 16;        // of numbers with many values
  Code most_values = 100;  // a whole number with up to so many has a code for each
  std::size_t most_labels = 1000;
};

ColumnDraft draft_column(const std::string& name, const ColumnProfile& profile,
                         const CodebookColumn* codebook, const DraftOptions& options = {});

}  // namespace tandem
