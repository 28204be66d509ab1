// SPDX-License-Identifier: Apache-2.0
#pragma once
// P(attributes | separator) for attributes beyond a separator of a junction tree.
//
// That of a single attribute is worked out once, from the one of the clique before it, and kept.
// Where it would be large, and for several attributes together, it is made when somebody needs it,
// and then a slice at a time.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/model/pgm/projection_routes.h"
#include "tandem/model/tables/aligned_table.h"
#include "tandem/model/tables/slicing.h"

namespace tandem {

class EdgeConditionals {
 public:
  using Ids = std::span<const AttributeId>;

  EdgeConditionals(const GraphicalModel& model, const ProjectionRoutes& routes,
                   double slice_cells);  // both borrowed

  // Works out those that the routes need, and forgets all others.
  void prepare(std::span<const ProjectionRoutes::Route* const> routes, Threads threads);

  // Whether prepare() works it out. `from` and `to` are neighbours with the separator between them.
  bool is_ready(std::size_t from, std::size_t to, Ids ids) const;
  const AlignedTable& ready(std::size_t from, std::size_t to, AttributeId id) const {
    return singles_[place(from, to, id)];
  }
  // Of any, for a slice: what is ready, or made now from what is.
  AlignedTable slice_of(std::size_t from, std::size_t to, Ids ids, Slice slice) const;

  // Attributes by which it can be sliced without making anything twice, and the largest table that
  // a slice then takes.
  Clique sliceable(std::size_t from, std::size_t to, Ids ids) const;
  double largest_table(std::size_t from, std::size_t to, Ids ids, const Clique& sliced) const;

 private:
  std::size_t list(std::size_t edge, AttributeId id, std::vector<std::vector<std::size_t>>& levels);
  void list_all(const ProjectionRoutes::Route& route,
                std::vector<std::vector<std::size_t>>& levels);
  void prepare_level(std::span<const std::size_t> wanted, Threads threads);
  TableView belief(std::size_t clique) const;
  AlignedTable conditional(std::size_t from, std::size_t to, Ids ids, Slice slice) const;
  AlignedTable joint(std::size_t from, AttributeId id, const TableView& table,
                     const Clique& separator) const;
  std::size_t place(std::size_t from, std::size_t to, AttributeId id) const {
    return place_of_[routes_.edge(from, to) * model_.domain().size() + id] - 1;
  }

  const GraphicalModel& model_;
  const ProjectionRoutes& routes_;
  double slice_cells_;
  std::vector<std::uint32_t> place_of_;  // [edge][attribute]: one more than in singles_, or 0
  std::vector<std::size_t> level_of_;    // of each single: how many others it builds on in turn
  std::vector<AlignedTable> singles_;
};

}  // namespace tandem
