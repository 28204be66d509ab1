// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counting marginals of a table: many cliques together, in blocks of rows, on several threads.
//
// A marginal inside a larger one that is counted anyway is summed from it instead. Results don't
// depend on the number of threads. Costs about a nanosecond for each row and counted marginal, and
// 8 bytes a cell for the result (4 more while counting).

#include <span>
#include <utility>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/table.h"
#include "tandem/query/factor.h"

namespace tandem {

// The marginals, in the order asked.
std::vector<Factor> count_marginals(const Table& table, std::span<const Clique> cliques,
                                    Threads threads = {});

// The same with a weight for each row instead of 1.
std::vector<Factor> count_marginals(const Table& table, std::span<const double> weights,
                                    std::span<const Clique> cliques, Threads threads = {});

// A table one may look into, as something to project: a public or synthetic one, or a reference
// its owner chose to reveal.
class CountedTable {
 public:
  explicit CountedTable(Table table, Threads threads = {})
      : table_(std::move(table)), threads_(threads) {}

  const Domain& domain() const { return table_.domain(); }
  const Table& table() const { return table_; }
  Factor project(const Clique& clique) const;
  std::vector<Factor> project_all(std::span<const Clique> cliques) const {
    return count_marginals(table_, cliques, threads_);
  }

 private:
  Table table_;
  Threads threads_;
};

}  // namespace tandem
