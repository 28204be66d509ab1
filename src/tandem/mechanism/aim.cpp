// SPDX-License-Identifier: Apache-2.0
// AIM: the adaptive and iterative mechanism, on graphical models.
//   McKenna, Mullins, Sheldon, Miklau. AIM: An Adaptive and Iterative Mechanism for Differentially
//   Private Synthetic Data. 2022. Algorithms 2 to 4.
//   Symbols: r candidate marginal, w_r its weight, n_r its cells, p model, y measurements, sigma
//   noise, T = 16 d rounds at most, rho budget. docs/mechanisms/aim.md
#include <fmt/core.h>

#include <tuple>
#include <unordered_map>

#include "tandem/mechanism/common.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/tractable.h"
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

// w_r = sum over the workload of |r and s|.
double weight_of(const Clique& r, const Workload& workload) {
  double weight = 0.0;
  for (const auto& [s, importance] : workload.cliques()) {
    weight += importance * static_cast<double>(intersect(r, s).size());
  }
  return weight;
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& /*rng*/) {
  const Domain& domain = problem.domain;
  const auto n = public_total(curator);
  const auto one_ways = one_way_marginals(domain);
  const auto closure = problem.workload.downward_closure();
  std::unordered_map<Clique, double> w;
  for (const auto& r : closure) w[r] = weight_of(r, problem.workload);
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
    const auto C =
        tractable(closure, fit.model, measured, options.max_model_mb * (last ? 1.0 : used));

    // Select: where the model is further off than a measurement would be.
    auto answers = fit.model.project_all(C);
    std::vector<Candidate> scored;
    for (std::size_t i = 0; i < C.size(); ++i) {
      const double noise =
          expected_noise(curator.noise_scale({C[i]}, to_measure), answers[i].values.size());
      scored.push_back(
          {C[i], Origin::Private, w[C[i]] * (l1_error(std::move(answers[i])) - noise)});
    }
    const Clique r = C[curator.select(scored, to_select)];

    // Measure, and estimate again from where the model was.
    y.push_back(curator.measure({r}, last ? curator.remaining() : to_measure));
    measured.push_back(r);
    const auto before = fit.model.project(r);
    if (last) fit_options.tolerance = kFinalTolerance;
    fit = estimate_pgm(domain, y, total, fit.model.potentials(), fit_options);

    // Anneal: what the measurement taught was no more than its noise, so ask for less noise.
    const auto after = fit.model.project(r);
    if (l1_distance(before, after) <= expected_noise(y.back().sigma, after.values.size())) {
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
