// SPDX-License-Identifier: Apache-2.0
#pragma once
// A number for each cell of a marginal: counts, potentials, references.
//
// Cells are in row-major order of the clique's attributes: the last attribute moves fastest.

#include <cstddef>
#include <vector>

#include "tandem/data/clique.h"
#include "tandem/data/domain.h"

namespace tandem {

struct Factor {
  Clique clique;
  std::vector<double> values;

  bool operator==(const Factor&) const = default;
};

double total(const Factor& factor);

// The factor summed down to a smaller clique (a subset of its own).
Factor marginalize(const Factor& factor, const Domain& domain, const Clique& onto);

}  // namespace tandem
