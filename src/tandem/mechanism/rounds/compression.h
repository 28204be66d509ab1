// SPDX-License-Identifier: Apache-2.0
#pragma once
// A smaller domain, in which the values of a column that were counted as less than noise may make
// are one. Queries about it are asked of the table as it is; a model of it becomes a model of the
// table again, with the merged values alike.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/data/domain.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/query/measurement.h"

namespace tandem {

class Compression {
 public:
  // Values below `merge_below` standard deviations of noise are merged, but never a column's
  // commonest, so that something is left to measure. One-way marginals; columns without one stay.
  Compression(Domain domain, std::span<const Measurement> one_ways, double merge_below);

  const Domain& domain() const { return groups_; }  // the smaller one

  LinearQuery query(const Clique& clique) const;  // its marginal there, of the table as it is
  // Of a marginal, or of such a query, as a marginal there. The noise of a column's added values is
  // larger than it then says, which their pair's measurement makes up for; with `noise_of_all` they
  // are a measurement of their own that says it.
  std::vector<Measurement> compress(Measurement measurement, bool noise_of_all) const;
  std::vector<Factor> compress(std::span<const Factor> zeros) const;  // where all cells are zeros
  // The model of the table, on as many threads; `zeros` as given for the whole domain.
  GraphicalModel spread(const GraphicalModel& model, std::span<const Factor> zeros) const;

 private:
  struct Column {
    std::vector<std::size_t> group;                             // of each code
    std::vector<double> size;                                   // of each group, in codes
    bool whole() const { return size.size() == group.size(); }  // nothing was merged
  };
  static Column merge(const Measurement& y, double merge_below);
  std::vector<std::size_t> group_cells(const Clique& clique) const;  // of each cell of a marginal

  Domain original_;
  std::vector<Column> columns_;
  Domain groups_;
};

}  // namespace tandem
