// SPDX-License-Identifier: Apache-2.0
#pragma once
// A prior tilted by measurements:
//
//   p = argmin sum_i |n q_i(p) - y_i|^2 / (2 sigma_i^2) + nu KL(p || p0),
//
// which is p0 exp(sum of multipliers) / Z with one multiplier for each largest measured clique. The
// problem of estimate_pgm.h with a prior, for callers that solve it again and again: multipliers
// belong to measured cliques, not to a tree, so those of an earlier solution start the next one,
// whatever has become of the prior and its tree. A weak prior makes the dual ill-conditioned; it is
// then approached by proximal steps.

#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/query/measurement.h"

namespace tandem {

struct TiltOptions {
  double tolerance = 1e-3;  // of the loss (at least 1), as in PgmOptions
  int max_propagations = 3000;
  Threads threads{};  // also of the model it gives
};

struct TiltedPgm {
  GraphicalModel model;
  std::vector<Factor> multipliers;  // logarithms; none on a clique inside another
  double loss = 0.0;                // sum_i |n q_i(p) - y_i|^2 / (2 sigma_i^2)
  int propagations = 0;
  bool converged = true;
};

// `prior`: logarithms on any cliques. `nu` > 0. `start`: multipliers of an earlier solution; those
// outside all measured cliques are passed over. Measurements are marginals with noise.
TiltedPgm tilt_pgm(const Domain& domain, std::span<const Measurement> measurements, double total,
                   std::span<const Factor> prior, double nu, std::span<const Factor> start = {},
                   const TiltOptions& options = {});

}  // namespace tandem
