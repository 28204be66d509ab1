// SPDX-License-Identifier: Apache-2.0
#pragma once
// What public data was worth to a release, in sentences for its reader. Post-processing.

#include "tandem/mechanism/combined_model.h"
#include "tandem/mechanism/release.h"

namespace tandem {

// `share` of the release is reweighted public rows. Nothing without public data.
void report_public_data(const CombinedModel& p, double share, Release& release);

}  // namespace tandem
