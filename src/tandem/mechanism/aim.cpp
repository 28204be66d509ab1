// SPDX-License-Identifier: Apache-2.0
// AIM: the adaptive and iterative mechanism, on graphical models.
//   McKenna, Mullins, Sheldon, Miklau. AIM: An Adaptive and Iterative Mechanism for Differentially
//   Private Synthetic Data. 2022. Algorithms 2 to 4.
//   Symbols: r candidate marginal, w_r its weight, n_r its cells, p model, y measurements, sigma
//   noise, T = 16 d rounds at most, rho budget. docs/mechanisms/aim.md
#include <fmt/core.h>

#include <cmath>
#include <span>
#include <tuple>

#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/candidates.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/mechanism/rounds/error_bounds.h"
#include "tandem/mechanism/rounds/model_start.h"
#include "tandem/model/pgm/estimate_pgm.h"
#include "tandem/model/pgm/junction_tree.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/score_grid.h"

namespace tandem::mechanism {
namespace {

// What of the budget counts as spent when a round's size limit is set: what earlier rounds spent,
// or this one's too, as in the paper.
enum class Growth { Before, With };

struct Options {
  int rounds_per_column = 16;
  double select_share = 0.1;
  Growth growth = Growth::Before;
  double max_model_mb = 8.0;
};

constexpr double kConfidence = 0.95;  // of the error bounds
constexpr double kUsualRoundsPerColumn = 3.0;
constexpr double kRoundTolerance = 3e-3;
// A large model is fitted to less until the last round: that costs 2% of error at epsilon 10, and
// exact fits of 80 MB many minutes.
constexpr double kLargeModel = 10e6;  // bytes
constexpr double kLargeTolerance = 1e-2;
constexpr double kFinalTolerance = 3e-4;

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& rng) {
  const Domain& domain = problem.domain;
  const auto start = start_model(problem, options.max_model_mb);
  const auto n = public_total(curator);
  const auto one_ways = informative_columns(domain);
  const auto closure = candidates_of(problem, options.max_model_mb);
  const auto weights = attribute_weights(problem.workload, domain);
  const Cost rho = curator.remaining();
  const double T = options.rounds_per_column * static_cast<double>(one_ways.size());
  auto [to_select, to_measure] = (rho / T).split(options.select_share);

  // Initialise: every one-way marginal.
  auto y = curator.measure_all(one_ways, to_measure * static_cast<double>(one_ways.size()));
  const double total = n ? *n : estimate_total(y);
  std::vector<Clique> held = start.cliques;  // what the model must hold
  PgmOptions fit_options{.tolerance = kRoundTolerance, .threads = curator.threads()};
  auto fit = estimate_pgm(domain, y, total, start.zeros, fit_options);
  std::vector<ErrorBound> bounds;

  while (!curator.remaining().is_zero()) {
    const Cost left = curator.remaining();
    const bool last = left < (to_select + to_measure) * 2.0;
    if (last) std::tie(to_select, to_measure) = left.split(options.select_share);
    const double round =
        options.growth == Growth::With ? (to_select + to_measure).lower_bound() : 0;
    const double used = 1.0 - (left.lower_bound() - round) / rho.lower_bound();
    const double room = (options.max_model_mb - start.mb) * (last ? 1.0 : used);
    const auto C = offered(closure, domain,
                           tractable(fit.model, held, start.mb + room, curator.threads()), rng);

    // Select: where the model is further off than a measurement would be.
    auto answers = fit.model.project_all(C);
    std::vector<Candidate> scored;
    std::vector<LastRound::Contender> contenders;
    for (std::size_t i = 0; i < C.size(); ++i) {
      const double w = weight_of(C[i], weights);
      const double noise =
          expected_noise(curator.noise_scale({C[i]}, to_measure), answers[i].values.size());
      scored.push_back({C[i], Origin::Private, w * (l1_error(std::move(answers[i])) - noise)});
      contenders.push_back({C[i], w, noise});
    }
    const std::size_t best = curator.select(scored, to_select);
    const Clique& r = C[best];

    // Measure, and estimate again from where the model was.
    y.push_back(curator.measure({r}, last ? curator.remaining() : to_measure));
    held.push_back(r);
    const auto before = fit.model.project(r);
    const bool loosely =
        !last && static_cast<double>(model_bytes(fit.model.tree().cells)) > kLargeModel;
    fit_options.tolerance = last ? kFinalTolerance : loosely ? kLargeTolerance : kRoundTolerance;
    fit_options.idle_steps = loosely ? 1 : 2;
    auto next = estimate_pgm(domain, y, total, fit.model.potentials(), fit_options);
    if (last) {
      const auto grid = ScoreGrid::of(scored, domain, curator.unit());
      bounds = error_bounds(problem.workload, next.model, y,
                            {.contenders = std::move(contenders),
                             .chosen = best,
                             .sensitivity = static_cast<double>(grid.sensitivity) * grid.step(),
                             .epsilon = exponential_epsilon(Rho(to_select.lower_bound())).value(),
                             .model = std::move(fit.model)},
                            kConfidence, n ? 2.0 * *n : HUGE_VAL);
    }
    fit = std::move(next);

    // Anneal: what the measurement taught was no more than its noise, so ask for less noise.
    const auto after = fit.model.project(r);
    if (l1_distance(before, after) <= expected_noise(y.back().sigma, after.values.size())) {
      to_select = to_select * 4.0;  // epsilon doubles, sigma halves
      to_measure = to_measure * 4.0;
    }
  }

  auto release = graphical_release(std::move(fit), std::move(y), total, start);
  release.error_bounds = std::move(bounds);
  return release;
}

// Annealing ends most runs after a few rounds a column.
Effort effort_of(const Curator& curator, const Problem& problem, const Options& options,
                 double rows_expected) {
  const auto closure = candidates_of(problem, options.max_model_mb);
  return effort(problem.domain, closure, options.max_model_mb,
                {.rounds = kUsualRoundsPerColumn * static_cast<double>(problem.domain.size()),
                 .rows_in_noise = rows_in_noise(rows_expected, curator)});
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  start_model(problem, options.max_model_mb);  // says what there is no room for
  const auto one_ways = informative_columns(problem.domain);
  const double T = options.rounds_per_column * static_cast<double>(one_ways.size());
  const auto [to_select, to_measure] = (curator.remaining() / T).split(options.select_share);
  const Sigma sigma = curator.noise_scale(one_ways.front(), to_measure);
  const auto closure = candidates_of(problem, options.max_model_mb);
  return {plan_to_measure(one_ways.size(), "one-way marginals", sigma.value()),
          plan_to_anneal(closure.size(), sigma.value())};
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
       choice(
           "growth", &Options::growth, {{"before", Growth::Before}, {"with", Growth::With}},
           "the size limit grows with what was spent before a round, or with it as in the paper"),
       field("max-model-mb", &Options::max_model_mb, "largest model, in megabytes",
             at_least(0.001))},
      effort_of, {{"paper", {{"growth", "with"}, {"max-model-mb", "80"}}}});
}

}  // namespace tandem::mechanism
