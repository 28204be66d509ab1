// SPDX-License-Identifier: Apache-2.0
#pragma once
// Marginals of any cliques from a calibrated junction tree, with shared work.
//
// A clique inside one of the tree's is a sum. For any other, its attributes meet in one clique of
// the tree: what lies beyond a separator comes to it as a conditional probability, which is worked
// out once for each attribute and direction. Marginals that meet in the same clique through the
// same separators start from one sum of its table; those that agree in all attributes but the last
// share all products but the last, and that is one for all of them. Conditionals take 128 MB at
// most, or what one marginal needs: beyond that marginals are worked out in several parts.
//
// Products whose tables would be large are made in slices: for one code after the other of some
// attributes that are summed out in the end. What is between the first table and the answer then
// stays in a cache.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/pgm/edge_conditionals.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/model/pgm/projection_routes.h"

namespace tandem {

class Projection {
 public:
  // Tables between a clique's and an answer have about so many cells at most.
  static constexpr std::size_t kSliceCells = std::size_t{1} << 19;
  explicit Projection(const GraphicalModel& model,  // borrowed
                      std::size_t slice_cells = kSliceCells);
  Projection(const Projection&) = delete;  // its parts refer to each other
  Projection& operator=(const Projection&) = delete;

  // Probabilities, in the cliques' own order of cells.
  std::vector<Factor> project(std::span<const Clique> cliques, Threads threads);

 private:
  using Branch = ProjectionRoutes::Branch;
  using Route = ProjectionRoutes::Route;

  // Marginals that are put together in the same place from the same kinds of tables: of one
  // attribute each or, for all of the group, first of the same several.
  struct Query {
    Route route;
    std::size_t number = 0;
    std::vector<std::uint32_t> key;  // place and separators, then attributes
  };
  struct Group {
    std::span<const Query> queries;
    Clique here;                  // attributes of the meeting clique that are asked for
    Clique needed;                // and the separators
    std::vector<Clique> keep;     // after each product: what later ones and the answer need
    std::vector<double> codes;    // of what each product takes, side by side
    std::vector<double> brought;  // after each product: codes that the answer has from beyond
    Clique sliced;                // attributes whose codes take turns
  };

  Query query(const Clique& clique, std::size_t number) const;
  std::vector<Group> groups_of(std::span<const Query> queries, std::size_t most) const;
  std::vector<std::vector<Query>> parts_of(std::vector<Query> queries) const;
  void project_part(std::span<Query> queries, Threads threads, std::span<Factor> out);
  void count_codes(Group& group) const;
  Clique sliced(const Group& group) const;
  double largest_table(const Group& group, const Clique& sliced) const;
  void answer(const Group& group, const TableView& table, std::span<Factor> out) const;
  void answer_slice(const Group& group, const TableView& table, Slice slice,
                    std::span<Factor> out) const;
  struct Rights;  // the tables that a group's products take, side by side
  void multiply(const Group& group, std::span<const Rights> rights, std::span<const Query> queries,
                const TableView& table, Slice slice, std::span<Factor> out) const;

  const GraphicalModel& model_;
  double slice_cells_;
  ProjectionRoutes routes_;
  EdgeConditionals conditionals_;
};

}  // namespace tandem
