// SPDX-License-Identifier: Apache-2.0
#pragma once
// An order between two columns: "admitted <= discharged". Public knowledge, from the schema.
//
// Values are compared by their places. Of codes, which stand for ranges, an order excludes a pair
// only when no two of their values keep it. Extras have no place, so with one the order holds.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tandem/data/attribute.h"
#include "tandem/data/place.h"

namespace tandem {

inline constexpr std::int64_t kBeforeAll = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kAfterAll = std::numeric_limits<std::int64_t>::max();

// The place of every value of `low` is at most that of the row's value of `high`.
struct Order {
  std::string text;  // as it stands in the schema
  AttributeId low = 0;
  AttributeId high = 0;
  std::vector<std::int64_t> lowest;   // for each code of `low` the lowest place; extras: kBeforeAll
  std::vector<std::int64_t> highest;  // for each code of `high` the highest; extras: kAfterAll
  Place low_place;
  Place high_place;

  bool excludes(Code of_low, Code of_high) const { return lowest[of_low] > highest[of_high]; }
};

}  // namespace tandem
