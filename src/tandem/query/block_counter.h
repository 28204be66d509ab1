// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counting marginals of rows that come batch by batch: whole counts, added up.

#include <cstdint>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/growing_table.h"
#include "tandem/query/factor.h"

namespace tandem {

class MarginalCounter {
 public:
  // UsageError for more cells than can be held.
  MarginalCounter(Domain domain, std::vector<Clique> cliques, const Threads& threads = {});

  // REQUIRES: a table over the same domain.
  void add(const Table& rows);

  std::size_t cells() const { return counts_.size(); }
  // Of each clique in order, its cells in row-major order.
  std::span<const std::int64_t> counts();

 private:
  void flush();
  void count(const Table& rows);

  Domain domain_;
  std::vector<Clique> cliques_;
  Threads threads_;
  GrowingTable waiting_;  // rows too few to be worth a pass of their own
  std::size_t worth_;
  std::vector<std::int64_t> counts_;
};

// The cells of these cliques together; infinite where they are more than numbers can say.
double cells_of(const Domain& domain, std::span<const Clique> cliques);

}  // namespace tandem
