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

// sum over `shared` minus `keep` of left * right: a table on what only one of them has, and on the
// part of `shared` that is kept. `shared` is what both have.
ArrangedTable contract(const AxisOrder& order, const ArrangedTable& left,
                       const ArrangedTable& right, const Clique& keep);

// The same for many tables on the right, each with one attribute of its own beside the same shared
// ones: one product for all of them. Everything that only `left` has is kept.
std::vector<Factor> contract_each(const AxisOrder& order, const ArrangedTable& left,
                                  std::span<const ArrangedTable* const> rights, const Clique& keep);

}  // namespace tandem
