// SPDX-License-Identifier: Apache-2.0
#pragma once
// Iterative distribution estimation: a prior on rows, moved to noisy marginals one after the other.
//
//   Algorithm 1 and Definition 3.1 of 'Prior-aware distribution estimation for differential
//   privacy'. Symbols: p prior, q estimate, W_s partial workload, y~_s its noisy answers, y_s the
//   nearest possible ones, b = W_s q.
//
// A step projects y~_s (optimize/l1_projection.h) and moves q to y_s at the least relative entropy:
// rows of a cell keep their proportions. Noisy marginals contradict each other, so steps end in a
// cycle; they are damped once sweeps over all of them no longer lower the misfit.

#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/base/rng.h"
#include "tandem/model/histogram/partial_workload.h"
#include "tandem/optimize/l1_projection.h"

namespace tandem {

enum class SweepOrder {
  Sweep,  // every workload once, in a random order that is drawn anew
  Random  // as many as there are, each drawn from all: the paper
};

struct IterativeOptions {
  Tie tie = Tie::Prior;
  SweepOrder order = SweepOrder::Sweep;
  bool damping = true;
  // Each workload takes back its own earlier moves before it moves again (Dykstra): where some q
  // fits all of them, the limit is the one nearest to p. For Tie::Prior.
  bool corrections = false;
  int sweeps = 2000;        // at most; a sweep has as many steps as there are workloads
  double tolerance = 1e-6;  // a sweep that moves less, in L1, is the last
  bool trace = true;        // tell of sweeps on the way, which takes as long as two
  Threads threads{};        // to be stopped by; the work is one thread's
};

struct SweepReport {
  int sweep = 0;
  double misfit = 0.0;  // sum over workloads of |W_s q - y~_s|_1
  double kl = 0.0;      // KL(q || p), infinite where q left the support of p
};

struct IterativeEstimate {
  std::vector<double> q;  // sums to 1
  // Of each workload and cell what all steps came to, as a logarithm. q is proportional to p times
  // exp of those of a row's cells, as in equation (3), but in rows that were held above zero, where
  // q is more, and in those of cells that had nothing.
  std::vector<std::vector<double>> exponents;
  std::vector<std::uint32_t> held;  // these rows, ascending
  std::vector<SweepReport> trace;   // before the first sweep, after 1, 2, 4, 8, ... and the last
  bool settled = false;             // the last sweep moved less than the tolerance
};

// `p`: not negative, of positive sum; normalised here.
IterativeEstimate estimate_distribution(std::span<const double> p,
                                        std::span<const PartialWorkload> workloads,
                                        const IterativeOptions& options, Rng& rng);

}  // namespace tandem
