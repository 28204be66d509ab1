// SPDX-License-Identifier: Apache-2.0
#pragma once
// What public data was worth to a release, in sentences for its reader. Post-processing.

#include <string>
#include <vector>

#include "tandem/mechanism/combined_model.h"

namespace tandem {

// `share` of the release is reweighted public rows. Nothing without public data.
std::vector<std::string> public_data_report(const CombinedModel& p, double share);

}  // namespace tandem
