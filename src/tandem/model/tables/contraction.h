// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products of two tables summed over what they share: a batch of small matrix products.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tandem/model/tables/aligned_table.h"

namespace tandem {

// sum over `shared` minus `keep` of left * right: a table on what only one of them has, and on the
// part of `shared` that is kept. `shared` is what both have.
AlignedTable contract(const AxisOrder& order, const TableView& left, const TableView& right,
                      const Clique& keep);

// The same for many tables on the right, each on the same shared attributes and some of its own.
// They are put side by side once, for any number of tables on the left.
class RightSide {
 public:
  RightSide(const AxisOrder& order, Clique shared, const Clique& keep,
            std::span<const AlignedTable* const> rights);

  // Products with some of the rights, by their numbers, which ascend.
  std::vector<AlignedTable> times(const TableView& left, std::span<const std::size_t> which) const;
  // As factors, whose cells are in their cliques' own order.
  std::vector<Factor> factors_times(const TableView& left,
                                    std::span<const std::size_t> which) const;

 private:
  template <class Table, class Axes>
  std::vector<Table> products(const TableView& left, std::span<const std::size_t> which,
                              Axes&& axes) const;

  const AxisOrder& order_;
  Clique shared_, batch_, summed_;
  std::vector<Clique> own_;           // of each right
  std::vector<std::size_t> columns_;  // cells of these
  std::vector<std::size_t> starts_;   // where they begin: at multiples of four; and the end
  std::unique_ptr<double[]> matrix_;  // for each cell of batch_ and summed_ all their columns
};

}  // namespace tandem
