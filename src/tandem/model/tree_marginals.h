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
//
// Where one attribute stands between another and the rest of a marginal (an industry and its
// branch, a district and its density), and the marginal with it is asked for as well, the one
// follows from the other with a single small product.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/contraction.h"
#include "tandem/model/graphical_model.h"
#include "tandem/model/tree_routes.h"

namespace tandem {

class TreeMarginals {
 public:
  // Tables between a clique's and an answer have about so many cells at most.
  static constexpr std::size_t kSliceCells = std::size_t{1} << 19;
  explicit TreeMarginals(const GraphicalModel& model,  // borrowed
                         std::size_t slice_cells = kSliceCells);

  // Probabilities, in the cliques' own order of cells.
  std::vector<Factor> project(std::span<const Clique> cliques, Threads threads);

 private:
  using Branch = TreeRoutes::Branch;
  using Route = TreeRoutes::Route;

  using Slice = std::span<const FixedCode>;

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
  // A marginal that follows from two others that are asked for: P(rest, by) and P(gone, by).
  struct Derived {
    std::size_t number = 0;
    std::size_t rest = 0, pair = 0;
    AttributeId by = 0;
    std::size_t level = 0;  // above those it follows from
  };
  std::vector<Derived> derived(std::span<const Clique> cliques,
                               std::span<const Query> queries) const;
  Factor derive(const Clique& clique, const Derived& from, std::span<const Factor> known) const;
  std::vector<std::vector<Query>> parts_of(std::vector<Query> queries) const;
  void project_part(std::span<Query> queries, Threads threads, std::span<Factor> out);
  void count_codes(Group& group) const;
  Clique sliced(const Group& group) const;
  double largest_table(const Group& group, const Clique& sliced) const;
  double largest_table(std::size_t from, std::size_t to, std::span<const AttributeId> ids,
                       const Clique& sliced) const;
  Clique in_all_separators(std::size_t from, std::size_t to,
                           std::span<const AttributeId> ids) const;
  void answer(const Group& group, const TableView& table, std::span<Factor> out) const;
  void answer_slice(const Group& group, const TableView& table, Slice slice,
                    std::span<Factor> out) const;
  struct Rights;  // the tables that a group's products take, side by side
  void multiply(const Group& group, std::span<const Rights> rights, std::span<const Query> queries,
                const TableView& table, Slice slice, std::span<Factor> out) const;
  // The conditionals that queries need: each is that of a nearer clique, carried on.
  void prepare(std::span<const Query> queries, Threads threads);
  std::size_t list(std::size_t edge, AttributeId id, std::vector<std::vector<std::size_t>>& levels);
  void list_all(const Route& route, std::vector<std::vector<std::size_t>>& levels);
  void prepare_level(std::span<const std::size_t> wanted, Threads threads);

  TableView belief(std::size_t clique) const;
  ArrangedTable sum_of(const TableView& table, const Clique& onto) const;
  // P(table | separator) from P(table).
  ArrangedTable given(const TableView& table, const Clique& separator) const;
  // P(attributes | separator) of several attributes beyond one.
  ArrangedTable conditional(std::size_t from, std::size_t to, std::span<const AttributeId> ids,
                            Slice slice) const;
  const ArrangedTable& single(std::size_t from, std::size_t to, AttributeId id) const;
  std::size_t place(std::size_t from, std::size_t to, AttributeId id) const;

  const GraphicalModel& model_;
  TreeRoutes routes_;
  double slice_cells_;
  std::vector<std::uint32_t> place_of_;  // [edge][attribute]: one more than in singles_, or 0
  std::vector<std::size_t> level_of_;    // of each single: how many others it builds on in turn
  std::vector<ArrangedTable> singles_;   // P(attribute | separator) of each that is wanted
};

}  // namespace tandem
