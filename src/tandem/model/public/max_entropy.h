// SPDX-License-Identifier: Apache-2.0
#pragma once
// What some marginals of a table say of the whole of it, and no more: the distribution of largest
// entropy that has them.

#include <span>

#include "tandem/query/factor.h"

namespace tandem {

// Same total as `table`, same marginals on `parts` (each inside its clique; single attributes are
// always added), to within a thousandth of the total. By iterative proportional fitting.
Factor from_parts(const Factor& table, const Domain& domain, std::span<const Clique> parts);

}  // namespace tandem
