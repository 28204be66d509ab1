// SPDX-License-Identifier: Apache-2.0
#pragma once
// Public rows beside the model: they show what its tree has no room for.
//
// Public rows, reweighted by the same multipliers that tilt the model, differ from it by what the
// model misses and by their sampling noise. If the square of the first is k times that of the
// second, their best share is k / (1 + k). What k is before any private data is tried out within
// the public rows; it falls as the tilt leaves rows behind, and with what private measurements have
// taught the model besides. Post-processing.

#include <span>

#include "tandem/mechanism/tandem/tilted_model.h"
#include "tandem/model/histogram/support_histogram.h"
#include "tandem/query/workload.h"

namespace tandem {

struct TiltedRows {
  SupportHistogram model;
  double rows = 0.0;       // of them, before the tilt
  double effective = 0.0;  // as many of equal weight have as little noise
};
// Weight of a row: its source's share of the trust, times exp(sum of multipliers).
TiltedRows tilt_rows(const PublicData& data, const PublicPrior& prior,
                     std::span<const Factor> multipliers, double total);

// k of a public table: how far a model of one half, on these cliques, misses the other half, beside
// how far the half's own rows do; of marginals drawn from the workload. 0.25 to 1; 0.25 for tables
// of few rows or of copies, which such a trial says nothing about.
double missed_by_model(const PublicTable& data, std::span<const Clique> cliques,
                       const Workload& workload, double ridge, Threads threads);

// How many rows would tell the measured marginals (those of two or more columns, where there are
// some) as precisely as the measurements do.
double private_worth(const TiltedModel& p);

// How far the rows are from the model on what was measured, squared and in units of their sampling
// noise: below 1 where the tilt brought them along, and many times that where it could not, because
// public data has no rows of some kind.
double distance_in_noise(const TiltedRows& tilted, const TiltedModel& p);

// The share that leaves the least error, from the distance above.
double best_row_share(const TiltedRows& tilted, const PublicPrior& prior, double distance,
                      double private_worth);

}  // namespace tandem
