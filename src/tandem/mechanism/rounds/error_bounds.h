// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far a model's marginals may be from the truth, from what was released alone.
//
//   McKenna, Mullins, Sheldon, Miklau. AIM. 2022. Section 5, with constants that also hold for
//   measurements that were chosen one after the other; docs/mechanisms/aim.md has the proofs.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/mechanism/release.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/query/measurement.h"
#include "tandem/query/workload.h"

namespace tandem {

// With probability `confidence` |x_r - q_r(p)|_1 is at most this, in counts, where the measured
// marginals that contain r say so: y is their precision-weighted mean. Infinite if none does.
//
// Gaussian noise only. Measurements may have been chosen adaptively, each with its noise scale
// fixed before it was drawn.
double supported_bound(const Domain& domain, std::span<const Measurement> measurements,
                       const Factor& answer, double confidence);

// The round of a selection that was known to be the last before it was drawn.
struct LastRound {
  struct Contender {
    Clique clique;
    double weight = 1.0;
    double noise = 0.0;  // the score is weight * (|x - q(p)|_1 - noise)
  };
  std::vector<Contender> contenders;
  std::size_t chosen = 0;
  double sensitivity = 0.0;  // of the scores
  double epsilon = 0.0;      // of the exponential mechanism
  GraphicalModel model;      // p before the round
};

// A bound for each marginal of the workload that was measured, or that the last selection passed
// over for another: the one that was taken instead can't have been much less wrong. None is above
// `most`, what everybody knows: two tables of n rows are at most 2 n apart.
std::vector<ErrorBound> error_bounds(const Workload& workload, const GraphicalModel& model,
                                     std::span<const Measurement> measurements,
                                     const LastRound& last, double confidence, double most);

}  // namespace tandem
