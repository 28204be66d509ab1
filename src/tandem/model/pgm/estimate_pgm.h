// SPDX-License-Identifier: Apache-2.0
#pragma once
// Private-PGM: the graphical model that explains noisy measurements best.
//
//   McKenna, Sheldon, Miklau. Graphical-model based estimation and inference for differential
//   privacy. 2019.
//
//   p = argmin sum_i |q_i(p) - y_i|^2 / (2 sigma_i^2)   over p Markov on the measured cliques
//
// or the same plus nu KL(p || p0), which holds p to a prior as nu rows of it would. Solved by
// proximal steps, each a smooth convex dual problem (pgm_dual.h) for L-BFGS, until steps gain less
// than a tolerance; docs/decisions/0008-pgm-solver.md has the comparison that chose this.
// Deterministic: there is a limit on propagations, none on seconds.

#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/query/measurement.h"

namespace tandem {

struct PgmOptions {
  // Of the loss, or of what noise alone would leave (half a unit for each answer) if that is more:
  // what the last step may have gained, and a tenth of it is how exactly each step is solved. Below
  // 1e-3 differences drown in the noise. The optimum may be further off than a step gains: by up to
  // 0.7% of that scale, with the default, in some of 1,320 small random problems.
  double tolerance = 1e-4;
  // So many steps in a row must gain less than that: twice, because a step can fail to see what a
  // longer one does. Once is enough where the next measurement asks for another fit anyway.
  int idle_steps = 2;
  int max_propagations = 3000;
  // nu > 0: `start` is a prior that counts as so many rows. 0: it is only where the search starts.
  double prior_rows = 0.0;
  Threads threads{};  // for the fit and for the model it gives; results don't depend on it
};

struct PgmFit {
  GraphicalModel model;
  double loss = 0.0;  // sum_i |q_i(p) - y_i|^2 / (2 sigma_i^2)
  // Proof: no distribution has a loss (with the prior's part, if there is one) lower by more. Loose
  // where answers are negative: a hundred times what is still to be gained is usual.
  double gap = 0.0;
  int propagations = 0;
  bool converged = true;  // false: the limit came first
};

// `start`: logarithms on any cliques, for example the potentials of an earlier model; they may lie
// on another tree. Minus infinity in them is a structural zero, and stays one. The total is given;
// measurements of it are passed over. UsageError when the model would be too large to hold.
PgmFit estimate_pgm(const Domain& domain, std::span<const Measurement> measurements, double total,
                    std::span<const Factor> start = {}, const PgmOptions& options = {});

}  // namespace tandem
