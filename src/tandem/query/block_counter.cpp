// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/block_counter.h"

#include <fmt/core.h>

#include <algorithm>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/query/counting.h"

namespace tandem {

namespace {

constexpr double kMostCells = 2e9;

}  // namespace

double cells_of(const Domain& domain, std::span<const Clique> cliques) {
  double all = 0.0;
  for (const auto& clique : cliques) {
    double cells = 1.0;
    for (const auto id : clique) cells *= static_cast<double>(domain[id].size);
    all += cells;
  }
  return all;
}

MarginalCounter::MarginalCounter(Domain domain, std::vector<Clique> cliques, const Threads& threads)
    : domain_(std::move(domain)),
      cliques_(std::move(cliques)),
      threads_(threads),
      waiting_(domain_) {
  const double cells = cells_of(domain_, cliques_);
  if (!(cells <= kMostCells)) {
    throw UsageError(fmt::format(
        "The marginals to count have {:.3g} cells, and {:g} can be held; ask for fewer at once.",
        cells, kMostCells));
  }
  counts_.resize(static_cast<std::size_t>(cells));
  // Adding the counts of a pass up costs a little for each cell.
  worth_ = std::clamp<std::size_t>(counts_.size(), 100'000, 2'000'000);
}

void MarginalCounter::add(const Table& rows) {
  if (waiting_.rows() == 0 && rows.rows() >= worth_) {
    count(rows);
    return;
  }
  waiting_.append(rows);
  if (waiting_.rows() >= worth_) flush();
}

std::span<const std::int64_t> MarginalCounter::counts() {
  flush();
  return counts_;
}

void MarginalCounter::flush() {
  if (waiting_.rows() > 0) count(waiting_.take());
}

void MarginalCounter::count(const Table& rows) {
  std::size_t at = 0;
  for (const auto& factor : count_marginals(rows, cliques_, threads_)) {
    for (const double value : factor.values) counts_[at++] += static_cast<std::int64_t>(value);
  }
  check(at == counts_.size(), "every cell was counted");
}

}  // namespace tandem
