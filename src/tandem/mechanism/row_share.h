// SPDX-License-Identifier: Apache-2.0
#pragma once
// Public rows beside the model: they show what its tree has no room for.
//
// Public rows, reweighted by the same multipliers that tilt the model, differ from it by what the
// model misses and by their sampling noise. If the square of the first is k times that of the
// second, their best share is k / (1 + k). k falls with what the rows are worth, and with what
// private measurements have taught the model besides. Post-processing.

#include <span>

#include "tandem/mechanism/combined_model.h"
#include "tandem/model/support_histogram.h"

namespace tandem {

struct TiltedRows {
  SupportHistogram model;
  double rows = 0.0;       // of them, before the tilt
  double effective = 0.0;  // as many of equal weight have as little noise
};
// Weight of a row: its source's share of the trust, times exp(sum of multipliers).
TiltedRows tilt_rows(const PublicData& data, const PublicPrior& prior,
                     std::span<const Factor> multipliers, double total);

// How many rows would tell the measured marginals (those of two or more columns, where there are
// some) as precisely as the measurements do.
double private_worth(const CombinedModel& p);

// The share that leaves the least error.
double best_row_share(const TiltedRows& tilted, const PublicPrior& prior, double private_worth);

}  // namespace tandem
