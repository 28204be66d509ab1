// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows from a graphical model, by rounding instead of drawing.

#include <cstddef>

#include "tandem/base/rng.h"
#include "tandem/data/table.h"
#include "tandem/model/pgm/graphical_model.h"

namespace tandem {

// Column after column along the tree. Rows alike in what a column depends on share out its codes:
// each code gets its expected number of them, rounded up or down at random so that expectations are
// kept. Never a code of probability zero. Costs a few operations for each row and code.
Table sample_tree(const GraphicalModel& model, std::size_t rows, Rng& rng);

}  // namespace tandem
