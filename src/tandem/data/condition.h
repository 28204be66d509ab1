// SPDX-License-Identifier: Apache-2.0
#pragma once
// Conditions on a row, as people write them: "age < 15 and marital in (married, widowed)".
//
//   condition  = clause { "and" clause }
//   clause     = column ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) value
//              | column "in" "(" value { "," value } ")"
// Columns and values stand bare, or in single or double quotes.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/data/attribute.h"
#include "tandem/data/codec.h"

namespace tandem {

struct ColumnSchema;

// What a condition says of one column, for each of its codes.
struct ColumnCondition {
  AttributeId attribute = 0;
  std::vector<Truth> truth;
};

// All of its columns' conditions together; each column once.
using Condition = std::vector<ColumnCondition>;

// UsageError, a sentence that begins with the condition, when it can't be read. `derived` are names
// of columns that no condition can have.
Condition parse_condition(std::string_view text, const std::vector<ColumnSchema>& columns,
                          std::span<const std::string> derived = {});

}  // namespace tandem
