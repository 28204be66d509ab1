// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far two tables are apart group by group, as the NIST 2020 Differential Privacy Temporal Map
// Challenge scored it.
//
// A group has the rows with one combination of the key columns' values. Its error is the mean over
// pairs of other columns of the L1 distance between shares, from 0 to 2; and 2 where the number of
// its rows is off by more than a penalty allows, or only one of the tables has it. The score is the
// mean error over all groups that either table has.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tandem/data/table.h"

namespace tandem {

struct ScoredGroup {
  std::vector<Code> key;  // values of the key columns, in their order
  double reference_rows = 0.0;
  double estimate_rows = 0.0;
  double l1 = 0.0;     // mean over the pairs, whatever the number of rows
  double error = 0.0;  // that, or 2
};

struct GroupScore {
  double error = 0.0;
  std::size_t penalised = 0;        // groups whose number of rows is off by too much
  std::vector<ScoredGroup> groups;  // in order of their keys
};

// All pairs of columns outside the key; or, of more than `most`, that many drawn by a seed.
std::vector<Clique> pairs_outside(const Domain& domain, const Clique& key, std::size_t most,
                                  std::uint64_t seed);

// Tables of one domain; pairs without key columns. At least one pair.
GroupScore score_groups(const Table& reference, const Table& estimate, const Clique& key,
                        std::span<const Clique> pairs, double count_penalty);

}  // namespace tandem
