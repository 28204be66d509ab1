// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far two tables are apart within each group of rows: regions, age classes.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/table.h"

namespace tandem {

inline constexpr std::size_t kSmallGroup = 100;  // rows; below, chance alone makes large errors

struct GroupError {
  std::vector<Code> codes;  // of the columns that make the groups
  std::size_t reference_rows = 0;
  std::size_t estimate_rows = 0;
  // Mean L1 distance over all pairs of the other columns: 0 to 2, and 2 where one table has no such
  // row. None where there is no other column.
  std::optional<double> error;
  bool small() const { return reference_rows < kSmallGroup; }
};

// The groups that either table has: the worst first, small ones behind all others. Both tables have
// one domain. UsageError when they are too many to look at.
std::vector<GroupError> group_errors(const Table& reference, const Table& estimate,
                                     std::span<const AttributeId> by, const Threads& threads);

}  // namespace tandem
