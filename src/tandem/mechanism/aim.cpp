// SPDX-License-Identifier: Apache-2.0
// AIM: the adaptive and iterative mechanism, on graphical models.
//   McKenna, Mullins, Sheldon, Miklau. AIM: An Adaptive and Iterative Mechanism for Differentially
//   Private Synthetic Data. 2022. Algorithms 2 to 4.
//   Symbols: r candidate marginal, w_r its weight, n_r its cells, p model, y measurements, sigma
//   noise, T = 16 d rounds at most, rho budget. docs/mechanisms/aim.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "tandem/mechanism/common.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/model/estimate_pgm.h"
#include "tandem/model/junction_tree.h"

namespace tandem::mechanism {
namespace {

struct Options {
  int rounds_per_column = 16;
  double select_share = 0.1;
  double max_model_mb = 8.0;
};

constexpr double kRoundTolerance = 1e-3;
constexpr double kFinalTolerance = 1e-4;

struct WeightedCandidate {
  Clique clique;
  double weight = 0.0;  // w_r = sum over the workload of |r and s|
};

std::vector<WeightedCandidate> weighted_closure(const Workload& workload) {
  std::vector<WeightedCandidate> out;
  for (auto& clique : workload.downward_closure()) {
    double weight = 0.0;
    for (const auto& [wanted, importance] : workload.cliques()) {
      weight += importance * static_cast<double>(intersect(clique, wanted).size());
    }
    out.push_back({std::move(clique), weight});
  }
  return out;
}

// E |noise|_1 of a marginal.
double expected_noise(double sigma, std::size_t cells) {
  return std::sqrt(2.0 / std::numbers::pi) * sigma * static_cast<double>(cells);
}

double distance(const Factor& a, const Factor& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.values.size(); ++i) sum += std::abs(a.values[i] - b.values[i]);
  return sum;
}

// Candidates that the model has room for: inside it already, or within the part of the size limit
// that the budget spent so far has opened.
std::vector<WeightedCandidate> tractable(std::span<const WeightedCandidate> all,
                                         const GraphicalModel& p, std::span<const Clique> measured,
                                         double limit_bytes) {
  const ModelSizer sizer(p.domain(), measured);
  std::vector<WeightedCandidate> out;
  for (const auto& candidate : all) {
    if (p.tree().find(candidate.clique) < p.tree().cliques.size() ||
        static_cast<double>(sizer.bytes_with(candidate.clique)) <= limit_bytes) {
      out.push_back(candidate);
    }
  }
  return out;
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& /*rng*/) {
  const Domain& domain = problem.domain;
  const auto n = public_total(curator);
  const auto one_ways = one_way_marginals(domain);
  const auto candidates = weighted_closure(problem.workload);
  const Cost rho = curator.remaining();
  const double T = options.rounds_per_column * static_cast<double>(domain.size());
  auto [to_select, to_measure] = (rho / T).split(options.select_share);

  // Initialise: every one-way marginal.
  auto y = curator.measure_all(one_ways, to_measure * static_cast<double>(domain.size()));
  const double total = n ? *n : estimate_total(y);
  std::vector<Clique> measured;
  for (const auto& query : one_ways) measured.push_back(query.clique);
  PgmOptions fit_options{.tolerance = kRoundTolerance, .threads = Threads::all()};
  auto fit = estimate_pgm(domain, y, total, {}, fit_options);

  while (!curator.remaining().is_zero()) {
    const Cost left = curator.remaining();
    const bool last = left < (to_select + to_measure) * 2.0;
    if (last) std::tie(to_select, to_measure) = left.split(options.select_share);
    const double used = 1.0 - left.lower_bound() / rho.lower_bound();
    const auto C = tractable(candidates, fit.model, measured,
                             options.max_model_mb * 1e6 * (last ? 1.0 : used));

    // Select: where the model is further off than a measurement would be.
    std::vector<Clique> cliques;
    for (const auto& candidate : C) cliques.push_back(candidate.clique);
    auto answers = fit.model.project_all(cliques);
    std::vector<Candidate> scored;
    for (std::size_t i = 0; i < C.size(); ++i) {
      const double sigma = curator.noise_scale({cliques[i]}, to_measure).value();
      const double penalty = expected_noise(sigma, answers[i].values.size());
      scored.push_back(
          {cliques[i], Origin::Private, C[i].weight * (l1_error(std::move(answers[i])) - penalty)});
    }
    const Clique r = cliques[curator.select(scored, to_select)];

    // Measure, and estimate again from where the model was.
    y.push_back(curator.measure({r}, last ? curator.remaining() : to_measure));
    measured.push_back(r);
    const auto before = fit.model.project(r);
    if (last) fit_options.tolerance = kFinalTolerance;
    fit = estimate_pgm(domain, y, total, fit.model.potentials(), fit_options);

    // Anneal: what the measurement taught was no more than its noise, so ask for less noise.
    const auto after = fit.model.project(r);
    if (distance(before, after) <= expected_noise(y.back().sigma.value(), after.values.size())) {
      to_select = to_select * 4.0;  // epsilon doubles, sigma halves
      to_measure = to_measure * 4.0;
    }
  }

  Release release;
  release.total = total;
  if (!fit.converged) {
    release.warnings.push_back(fmt::format(
        "The model was still improving after {} propagations; its answers can be refitted free of "
        "charge.",
        fit.propagations));
  }
  release.model = std::make_unique<GraphicalModel>(std::move(fit.model));
  release.measurements = std::move(y);
  return release;
}

std::vector<std::string> plan(const Curator& curator, const Problem& problem,
                              const Options& options) {
  const double T = options.rounds_per_column * static_cast<double>(problem.domain.size());
  const auto [to_select, to_measure] = (curator.remaining() / T).split(options.select_share);
  const Sigma sigma = curator.noise_scale({Clique{0}}, to_measure);
  return {
      fmt::format("Measures {} one-way marginals, each count with noise of standard deviation "
                  "{:.4g}.",
                  problem.domain.size(), sigma.value()),
      fmt::format("Then selects and measures the marginals that the model gets wrong, among {}, "
                  "with less noise each time one teaches it little.",
                  problem.workload.downward_closure().size()),
      fmt::format("The model takes at most {}.",
                  describe_bytes(static_cast<UInt128>(options.max_model_mb * 1e6)))};
}

}  // namespace

Mechanism aim() {
  return make_mechanism<Options>(
      {.name = "aim",
       .summary = "Graphical model, marginals chosen where it errs most",
       .reference = "McKenna, Mullins, Sheldon, Miklau. AIM: An Adaptive and Iterative Mechanism "
                    "for Differentially Private Synthetic Data. 2022."},
      run, plan,
      {field("rounds-per-column", &Options::rounds_per_column,
             "rounds that the budget would last without annealing, for each column", at_least(1)),
       field("select-share", &Options::select_share, "share of each round's budget for selection",
             between(0.001, 0.999)),
       field("max-model-mb", &Options::max_model_mb, "largest model, in megabytes",
             at_least(0.001))});
}

}  // namespace tandem::mechanism
