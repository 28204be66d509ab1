// SPDX-License-Identifier: Apache-2.0
#pragma once
// Work on large tables in slices: for one code after the other of some attributes.

#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "tandem/data/clique.h"
#include "tandem/model/tables/axis_order.h"

namespace tandem {

using Slice = std::span<const FixedCode>;

Clique fixed_in(Slice slice);
// Cells of a table on the clique without some attributes.
double cells_without(const Domain& domain, const Clique& clique, const Clique& gone);

// Attributes to slice by, among those that are free: as few codes as make the largest table small
// enough, or as small as can be. largest(sliced) is its cells.
Clique choose_slices(const Clique& free, double most_cells,
                     const std::function<double(const Clique& sliced)>& largest);

// Once, with an empty slice, where there is nothing to slice by.
void for_each_slice(const Domain& domain, const Clique& sliced,
                    const std::function<void(Slice slice)>& use);

// Adds what a slice gives to what those before it gave; nothing, to begin with.
template <class Table>
void add_slice(Table part, Table& to) {
  if (to.values.empty()) {
    to = std::move(part);
    return;
  }
  for (std::size_t i = 0; i < part.values.size(); ++i) to.values[i] += part.values[i];
}

}  // namespace tandem
