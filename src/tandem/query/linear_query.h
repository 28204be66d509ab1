// SPDX-License-Identifier: Apache-2.0
#pragma once
// What can be asked of a table: a linear map of one marginal.

#include <cstddef>

#include "tandem/data/clique.h"
#include "tandem/query/linear_map.h"

namespace tandem {

struct LinearQuery {
  Clique clique;
  LinearMap map = LinearMap::identity();  // identity: the marginal itself
  bool operator==(const LinearQuery&) const = default;
};

// One counting query: one cell of a marginal.
struct Cell {
  Clique clique;
  std::size_t index = 0;
  bool operator==(const Cell&) const = default;
};

}  // namespace tandem
