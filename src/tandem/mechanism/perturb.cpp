// SPDX-License-Identifier: Apache-2.0
// Perturb: every conjunction with noise of its own, and nothing else.
//   The comparator of DualQuery's paper: its error grows with the root of the number of queries.
//   Symbols: K conjunctions, y noisy counts. docs/mechanisms/perturb.md
#include <fmt/core.h>

#include "tandem/base/text.h"
#include "tandem/mechanism/dual/conjunction_queries.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/common.h"

namespace tandem::mechanism {
namespace {

struct Options {
  NoiseKind noise = NoiseKind::Gaussian;
};

NoiseKind noise_of(const Curator& curator, const Options& options) {
  return curator.currency() == Currency::Pure ? NoiseKind::Laplace : options.noise;
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& /*rng*/) {
  const ConjunctionSet Q = queries_of("perturb", problem.workload);
  Release release;
  measure_total(curator, release);
  const NoisyCounts y =
      curator.measure_conjunctions(Q, curator.remaining(), noise_of(curator, options));
  release.answers.reserve(Q.size());
  for (std::size_t q = 0; q < Q.size(); ++q) {
    release.answers.push_back({Q.describe(q), y.values[q], y.sigma.value()});
  }
  return release;
}

Effort effort_of(const Curator& /*curator*/, const Problem& problem, const Options& /*options*/,
                 double /*rows_expected*/) {
  const auto K = static_cast<double>(count_queries("perturb", problem.workload));
  return {.model_bytes = 0.0, .bytes = 300.0 * K, .seconds = 2e-6 * K};
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  const ConjunctionSet Q = queries_of("perturb", problem.workload);
  const double sigma =
      curator.conjunction_noise(Q, curator.remaining(), noise_of(curator, options)).value();
  return {{"measure",
           Document::object({{"queries", static_cast<std::uint64_t>(Q.size())}, {"sigma", sigma}}),
           fmt::format("Counts {} conjunctions, each with noise of standard deviation {:.3g}; it "
                       "releases answers and makes no rows.",
                       with_commas(Q.size()), sigma)}};
}

}  // namespace

Mechanism perturb() {
  return make_mechanism<Options>(
      {.name = "perturb",
       .summary = "Every conjunction with its own noise: answers, no rows",
       .reference = "folklore; the comparator of DualQuery's paper",
       .pure = true,
       .conjunctions = true,
       .answers = true},
      run, plan,
      {choice("noise", &Options::noise,
              {{"gaussian", NoiseKind::Gaussian}, {"laplace", NoiseKind::Laplace}},
              "kind of noise; with delta 0 always laplace")},
      effort_of);
}

}  // namespace tandem::mechanism
