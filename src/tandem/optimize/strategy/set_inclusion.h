// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums over all sets that hold a set, and over all that lie in one.

#include <memory>
#include <span>

#include "tandem/optimize/strategy/planning_problem.h"

namespace tandem {

// Which sets A hold which residual spaces R, and sums along it in both directions.
class SetInclusion {
 public:
  virtual ~SetInclusion() = default;
  // lambda[r] = sum of q[a] over A >= R.
  virtual void over_supersets(std::span<const double> q, std::span<double> lambda) = 0;
  // sum[a] = sum of h[r] over R <= A.
  virtual void over_subsets(std::span<const double> h, std::span<double> sum) = 0;
};

// Between `sets` and the residual spaces of `parts`. As a lattice, by transforms over all 2^d sets
// of `columns`; otherwise by lists. Each has working memory of its own.
std::unique_ptr<SetInclusion> set_inclusion(std::span<const Clique> sets,
                                            std::span<const ResidualPart> parts,
                                            std::span<const AttributeId> columns, bool lattice);

}  // namespace tandem
