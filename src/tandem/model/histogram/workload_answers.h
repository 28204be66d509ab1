// SPDX-License-Identifier: Apache-2.0
#pragma once
// A histogram's answers to every cell of every marginal of a workload, kept while it is reweighted.
//
// Following a change costs a few nanoseconds for each changed row and marginal, or, where many rows
// have changed, one for each addition of a tree in which marginals share work (marginal_tree.h).
// The answers take 8 bytes a cell, the tree 4 bytes an addition; without one, everything is some
// times slower. Now and then, after as many changes as 64 times the support, the histogram is
// normalised anew, so that rounding errors stay small.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/histogram/row_sums.h"
#include "tandem/model/histogram/support_histogram.h"

namespace tandem {

class WorkloadAnswers {
 public:
  // At most this many additions of a tree are kept by default: 512 MB.
  static constexpr std::size_t kMostKept = std::size_t{1} << 27;

  // Marginals over the histogram's domain.
  WorkloadAnswers(const SupportHistogram& histogram, std::vector<Clique> marginals,
                  Threads threads = {}, std::size_t most_kept = kMostKept);

  // Takes over what changed since the last call. Always the same histogram.
  void follow(SupportHistogram& histogram);

  std::span<const Clique> marginals() const { return marginals_; }
  // Sums of weights, one for each cell; times the histogram's unit() they are counts.
  std::span<const double> of(std::size_t marginal) const {
    return std::span(sums_).subspan(starts_[marginal], starts_[marginal + 1] - starts_[marginal]);
  }

 private:
  void add_up(const SupportHistogram& histogram);
  void add(const Table& rows, std::span<const std::uint32_t> which, std::span<const double> by);
  Threads threads_for(std::size_t additions) const;

  std::vector<Clique> marginals_;
  std::vector<std::size_t> order_;   // marginals by attributes, so that neighbours share a prefix
  std::vector<std::size_t> starts_;  // of each marginal in sums_, and the end
  std::vector<double> sums_;
  std::optional<RowSums> tree_;    // if it is not too large
  std::vector<AttributeId> used_;  // attributes of any marginal
  std::size_t changes_ = 0;        // of rows, since the histogram was normalised
  Threads threads_;
};

}  // namespace tandem
