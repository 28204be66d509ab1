// SPDX-License-Identifier: Apache-2.0
#pragma once
// What public data was worth to a release, for its reader. Post-processing.

#include <optional>

#include "tandem/mechanism/release.h"
#include "tandem/mechanism/tandem/tilted_model.h"

namespace tandem {

// Adds warnings, and the facts `public`, `from_public_alone` and `public_row_share`. `share` of the
// release is reweighted public rows, the rest is the model. Without a share another model was
// released, and what this one took from public data is no news: warnings alone are due. Nothing
// without public data.
void report_public_data(const TiltedModel& p, std::optional<double> share, Release& release);

}  // namespace tandem
