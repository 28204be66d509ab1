// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products of two tables summed over what they share: a batch of small matrix products.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/model/axis_order.h"
#include "tandem/query/factor.h"

namespace tandem {

// A factor whose cells are in an AxisOrder, not in its clique's own.
struct ArrangedTable {
  Clique clique;
  std::vector<double> values;
};

// The same, borrowed.
struct TableView {
  TableView(const ArrangedTable& table) : clique(table.clique), values(table.values) {}
  TableView(const Clique& of, std::span<const double> cells) : clique(of), values(cells) {}
  const Clique& clique;
  std::span<const double> values;
};

// sum over `shared` minus `keep` of left * right: a table on what only one of them has, and on the
// part of `shared` that is kept. `shared` is what both have.
ArrangedTable contract(const AxisOrder& order, const TableView& left, const TableView& right,
                       const Clique& keep);

// The same for many tables on the right, which share the same attributes with `left`: one product
// for all of them.
std::vector<ArrangedTable> contract_each(const AxisOrder& order, const TableView& left,
                                         std::span<const ArrangedTable* const> rights,
                                         const Clique& keep);
// As factors, whose cells are in their cliques' own order.
std::vector<Factor> contract_to_factors(const AxisOrder& order, const TableView& left,
                                        std::span<const ArrangedTable* const> rights,
                                        const Clique& keep);

}  // namespace tandem
