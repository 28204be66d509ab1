// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether any row keeps all that a schema says.

#include <span>

#include "tandem/data/domain.h"
#include "tandem/data/rules.h"

namespace tandem {

// False only when no row avoids all boxes. The search is short: where it finds neither a row nor
// that there is none, there may be one.
bool may_have_row(const Domain& domain, std::span<const ImpossibleBox> boxes);

}  // namespace tandem
