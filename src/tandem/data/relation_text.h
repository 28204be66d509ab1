// SPDX-License-Identifier: Apache-2.0
#pragma once
// Relations as people write them, before anyone knows what their words stand for.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/data/calendar.h"
#include "tandem/data/codec.h"

namespace tandem {

struct RelationPart {
  std::string text;  // a column's name or a constant
  std::optional<CalendarUnit> unit = {};
  bool minus = false;
};

struct RelationText {
  std::string text;  // as it was written
  std::vector<std::vector<RelationPart>> sides;
  std::vector<Comparison> comparisons;  // of an order, between the sides; all rise or all fall
  std::optional<CalendarUnit> in = {};  // of a derivation
};

// UsageError, a phrase without an end, when it can't be read.
RelationText parse_order(std::string_view text);       // "a <= b < c"
RelationText parse_derivation(std::string_view text);  // "c = b - a": two sides

}  // namespace tandem
