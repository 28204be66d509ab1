// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counting conjunctions: bitmaps, ANDed and popcounted in blocks of rows that stay in the cache.
//
// Conjunctions are sorted, so neighbours share the AND of their leading literals, and nothing is
// done where that is empty. Only columns that some conjunction names are looked at, and only one
// block of each is held: memory is 64 bytes or more for each indicator and 4 for each conjunction,
// for each thread. Results don't depend on the number of threads.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/indicator.h"
#include "tandem/data/table.h"
#include "tandem/query/conjunctions.h"

namespace tandem {

// How many rows fulfil each conjunction. `blocks` are of set.indicators(), in that order.
std::vector<std::int64_t> count_conjunctions(const ConjunctionSet& set,
                                             const IndicatorBlocks& blocks,
                                             const Threads& threads = {});

std::vector<std::int64_t> count_conjunctions(const ConjunctionSet& set, const Table& table,
                                             const Threads& threads = {});

}  // namespace tandem
