// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows that lie elsewhere and are counted there, by our own counting in a cluster's executors:
// marginals are asked for, and no row comes here.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/source/data_source.h"

namespace tandem {

// Fills the counts of these cliques, one after the other, each in row-major order (the last
// attribute fastest); false when they can't be had.
using CountCliques =
    std::function<bool(std::span<const Clique> cliques, std::span<std::int64_t> counts)>;

inline constexpr double kMostCountedCells = 2e8;  // of one request

// UsageError where a conjunction names columns of which no table can be counted.
void require_countable(const ConjunctionSet& conjunctions);

// Asks for each clique once, in requests of at most so many cells. SourceError where counts can't
// be had, or are not those of one table: below 0, or of different numbers of rows.
std::unique_ptr<DataSource> counted_source(Domain domain, CountCliques count, Threads threads = {},
                                           double most_cells = kMostCountedCells);

}  // namespace tandem
