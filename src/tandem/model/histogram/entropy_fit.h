// SPDX-License-Identifier: Apache-2.0
#pragma once
// The distribution on given rows that fits noisy answers best and, among those that do, is nearest
// to a prior:
//
//   stage 1   L* = min |W x - y~|_1              over distributions x on the rows
//   stage 2   min KL(x || p)                     over {x : |W x - y~|_1 <= L*}
//
// Section 3.1 of 'Prior-aware distribution estimation for differential privacy'. Stage 1 is a
// linear programme (optimize/least_l1.h). Stage 2 is min KL(x || p) + lambda |W x - y~|_1 for a
// lambda large enough; its dual, max -ln sum_i p_i exp(-(W'u)_i) - u'y~ over |u| <= lambda, is
// smooth on a box.
//
// What is certified: with G = lambda |r|_1 - u'r, r = W x - y~, the duality gap, KL(x || p) is
// within G of the least of all distributions whose misfit is at most that of x; and L* is at least
// min_i (W'v)_i - v'y~ for any |v| <= 1, with or without the linear programme.

#include <optional>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/histogram/partial_workload.h"

namespace tandem {

struct EntropyFitOptions {
  double tolerance = 1e-6;    // of the misfit above L*, and of the gap
  bool linear_solver = true;  // where this build has one
  // Evaluations of the dual times their size, about a minute: a limit on work and not on time.
  double work = 2e10;
  Threads threads{};
};

struct EntropyFit {
  std::vector<double> q;
  double misfit = 0.0;        // |W q - y~|_1, with what is out of reach
  double least_misfit = 0.0;  // L*, or a bound on it from below
  bool exact = false;         // least_misfit is L* by the linear programme
  double kl = 0.0;
  double gap = 0.0;  // G
  double lambda = 0.0;
  int evaluations = 0;
  bool settled = false;  // misfit and gap are within the tolerance
};

// `p`: positive, normalised here.
EntropyFit fit_relative_entropy(std::span<const double> p,
                                std::span<const PartialWorkload> workloads,
                                const EntropyFitOptions& options);

}  // namespace tandem
