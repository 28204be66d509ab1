// SPDX-License-Identifier: Apache-2.0
#pragma once
// A graphical model fitted anew to what a release has measured. Free: it sees measurements alone.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/rules.h"
#include "tandem/mechanism/release.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/query/measurement.h"

namespace tandem {

struct FittedModel {
  GraphicalModel model;
  std::size_t measured = 0;  // different marginals
  std::size_t cut = 0;       // of them, to smaller ones, because the model would be too large
  int propagations = 0;
  bool converged = true;
  std::vector<Warning> warnings;  // rules that there is no room for
};

// What rules exclude comes first, as in every mechanism (start_model). Then takes marginals in the
// order in which they were measured, single columns first, as long as the model stays within
// `max_model_mb`; of a marginal without room, its largest parts that have some. `start`: potentials
// of the release's own model, or none; what lies outside all these is passed over. UsageError when
// not even single columns fit.
//
// How far off public marginals are nobody knows: where there are some, all count alike.
FittedModel fit_measurements(const Domain& domain, std::vector<Measurement> measurements,
                             double total, double max_model_mb,
                             std::vector<ImpossibleBox> impossible, std::span<const Factor> start,
                             Threads threads);

}  // namespace tandem
