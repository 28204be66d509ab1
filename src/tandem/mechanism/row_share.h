// SPDX-License-Identifier: Apache-2.0
#pragma once
// Public rows beside the model: they show what its tree has no room for.
//
// Public rows, reweighted by the same multipliers that tilt the model, differ from it by what the
// model misses (S) and by their sampling noise (N). Where the first outweighs the second a mixture
// of both is closer to the truth. Post-processing.

#include <span>
#include <vector>

#include "tandem/mechanism/public_prior.h"
#include "tandem/model/graphical_model.h"
#include "tandem/model/support_histogram.h"
#include "tandem/query/workload.h"

namespace tandem {

struct TiltedRows {
  SupportHistogram rows;
  double effective = 0.0;  // rows that equal weights would need for as little noise
};
// Weight of a row: its source's share of the trust, times exp(sum of multipliers).
TiltedRows tilt_rows(const PublicData& data, std::span<const double> shares,
                     std::span<const Factor> multipliers, double total);

// The share of such rows that is expected to leave the least L1 error over the workload, when they
// are worth `nu` rows.
double best_row_share(const GraphicalModel& model, const TiltedRows& tilted, double nu,
                      const Workload& workload, Threads threads);

}  // namespace tandem
