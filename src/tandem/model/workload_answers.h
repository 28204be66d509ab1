// SPDX-License-Identifier: Apache-2.0
#pragma once
// A histogram's answers to every cell of every marginal of a workload, kept while it is reweighted.
//
// Following a change costs a nanosecond or two for each changed row and marginal, whatever the
// number of rows and cells. The answers take 8 bytes a cell; where it fits into 256 MB the cell of
// each row and marginal is kept too, which halves the time. Now and then, after as many changes as
// 64 times the support, everything is added up anew, so that rounding errors stay small.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/support_histogram.h"

namespace tandem {

class WorkloadAnswers {
 public:
  // Marginals over the histogram's domain.
  WorkloadAnswers(const SupportHistogram& histogram, std::vector<Clique> marginals,
                  Threads threads = {});

  // Takes over what changed since the last call. Always the same histogram.
  void follow(SupportHistogram& histogram);

  std::span<const Clique> marginals() const { return marginals_; }
  // Sums of weights, one for each cell; times the histogram's unit() they are counts.
  std::span<const double> of(std::size_t marginal) const {
    return std::span(sums_).subspan(starts_[marginal], starts_[marginal + 1] - starts_[marginal]);
  }

 private:
  void add_up(const SupportHistogram& histogram);
  void store_cells(const Table& rows);
  void add(const Table& rows, std::span<const std::uint32_t> which, std::span<const double> by);
  void add_stored(std::span<const std::uint32_t> which, std::span<const double> by);
  Threads threads_for(std::size_t additions) const;

  std::vector<Clique> marginals_;
  std::vector<std::size_t> order_;   // marginals by attributes, so that neighbours share a prefix
  std::vector<std::size_t> starts_;  // of each marginal in sums_, and the end
  std::vector<double> sums_;
  std::vector<std::uint32_t> cells_;  // where in sums_ a row adds to each marginal, if they are few
  std::vector<AttributeId> used_;     // attributes of any marginal
  std::size_t changes_ = 0;           // rows since everything was added up
  Threads threads_;
};

}  // namespace tandem
