// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a marginal tells whose cells were merged before it was counted (as mst merges rare values),
// or of which single cells were counted (as mw-pub does): the sums of whole rows of its map.

#include <optional>
#include <vector>

#include "tandem/data/domain.h"
#include "tandem/query/measurement.h"
#include "tandem/query/product_queries.h"

namespace tandem {

struct MergedAnswer {
  double estimate = 0.0;
  double stddev = 0.0;
};

// Of each query of the product, in order; nothing where it isn't a sum of the measured numbers.
// None at all for a measurement whose rows share cells, weigh them, or lack a column of the
// product, and where it would take long.
std::vector<std::optional<MergedAnswer>> merged_answers(const Domain& domain,
                                                        const ProductQueries& item,
                                                        const Measurement& measurement);

}  // namespace tandem
