// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why texts do not fit a column: alternatives are tried on them, and the one under which most of
// them would fit is named.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/data/column_schema.h"
#include "tandem/data/text_format.h"
#include "tandem/engine/fit/column_fit.h"

namespace tandem {

struct Hint {
  std::string key;   // "encoding", "decimal", "case", ...: docs/formats.md lists them
  std::string text;  // a phrase: "in Latin-1 they would: encoding = \"latin-1\""
};

// Of texts as they stand in the file, read in this format.
std::optional<Hint> hint_for(const ColumnSchema& column, const TextFormat& format,
                             const TextCounts& odd);

// A text for messages: in quotes, cut when long, bytes that are no text as \xf6.
std::string shown(std::string_view text);
std::string readable(std::string_view text);  // the same without quotes: safe in JSON

// Whether a column is named or described as a survey weight.
bool looks_like_weight(std::string_view name, std::string_view description);

}  // namespace tandem
