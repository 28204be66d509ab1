// SPDX-License-Identifier: Apache-2.0
#pragma once
// The contest's score of each group, as `tandem evaluate` found it: as CSV and as a picture.

#include <string>

#include "tandem/engine/evaluation.h"
#include "tandem/report/svg.h"

namespace tandem {

// A line for each group with its key, rows and error.
std::string heat_map_csv(const EvaluationResult& result);

// A cell for each group. The key column with the fewest values goes down, the others across.
std::string heat_map_figure(const EvaluationResult& result, report::Look look);

}  // namespace tandem
