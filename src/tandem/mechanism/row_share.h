// SPDX-License-Identifier: Apache-2.0
#pragma once
// Public rows beside the model: they show what its tree has no room for.
//
// Public rows, reweighted by the same multipliers that tilt the model, differ from it by what the
// model misses and by their sampling noise. If the square of the first is k times that of the
// second while all rows count alike, their best share is k / (1 + k). When they are worth only a
// fraction m of their number, their noise is larger by 1 / m; and as private data has moved the
// model so far, what they show beyond it is true to the private table to a lesser part, for which m
// is taken once more. Post-processing.

#include <span>

#include "tandem/mechanism/public_prior.h"
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

// The share that leaves the least error: of rows that are worth as many as the trust in them and
// their weights allow.
double best_row_share(const TiltedRows& tilted, const PublicPrior& prior);

}  // namespace tandem
