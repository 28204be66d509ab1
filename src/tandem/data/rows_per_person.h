// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which rows of a person are kept, when each may have a few: chosen by a hash of the person, of a
// row's codes and of its index among the person's equal rows. So the rows that are kept, as a bag,
// depend on the rows of that person alone, and not on their order.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tandem/data/person_key.h"
#include "tandem/data/table.h"

namespace tandem {

// The rows that are kept, ascending; those that name nobody are not. REQUIRES: a key for each row,
// and all rows of a person in the table.
// Privacy: the rows of each person are chosen among their own, at most `most` of them.
std::vector<std::size_t> rows_within_share(const Table& table, std::span<const PersonKey> persons,
                                           std::int64_t most);

}  // namespace tandem
