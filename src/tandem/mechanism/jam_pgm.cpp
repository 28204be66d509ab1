// SPDX-License-Identifier: Apache-2.0
// JAM-PGM: joint adaptive measurements of private and public data, on graphical models.
//   Fuentes, Mullins, McKenna, Miklau, Sheldon. Joint Selection: Adaptively Incorporating Public
//   Information for Private Synthetic Data. 2024. Algorithm 2.
//   Symbols: tau candidate marginal, p model, y measurements, T rounds, alpha the share of a round
//   for measuring, n rows, n^ public rows. docs/mechanisms/jam_pgm.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "tandem/base/error.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/candidates.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/mechanism/rounds/model_start.h"
#include "tandem/model/pgm/estimate_pgm.h"
#include "tandem/query/counting.h"

namespace tandem::mechanism {
namespace {

// Each round weighs every candidate anew; or Algorithm 2 to the letter: all candidates, private and
// public, in all rounds, and measurements that count alike; or as the authors' code does: a
// candidate that was too large once never returns, and the first round knows no model.
enum class Filtering { EachRound, Paper, Of2024 };

struct Options {
  std::optional<int> rounds;
  double select_share = 0.2;  // 1 - alpha
  Filtering selection = Filtering::EachRound;
  double max_model_mb = 8.0;
};

constexpr double kTotalShare = 0.01;  // of the budget for n, where it is not public
constexpr double kMostNoise = 0.5;    // E |noise|_1 of a measurement, in units of n; 2 is the most
                                      // that any model can be off by
constexpr double kRoundTolerance = 1e-2;
constexpr double kFinalTolerance = 3e-4;
// Noise of a count, in units of n, below which a round's fit may end at its first idle step. With
// more noise, what the second one finds still tips selections.
constexpr double kClear = 0.002;

// The paper's T is 30. Where that leaves much noise fewer and better measurements do more: ten
// fewer for ten times the noise of a count.
constexpr int kMostRounds = 30;
constexpr int kFewestRounds = 20;
constexpr double kRoundsPerNoise = 10.0;
constexpr double kLittleNoise = 5e-4;  // in units of n

int rounds_by_noise(Sigma usual, double n) {
  const double noise = usual.value() / (kLittleNoise * n);
  const double fewer = std::round(kRoundsPerNoise * std::log10(noise));
  return kMostRounds -
         static_cast<int>(std::clamp(fewer, 0.0, static_cast<double>(kMostRounds - kFewestRounds)));
}

// Marginals of all public tables together.
struct PublicCounts {
  std::vector<Factor> marginals;
  double rows = 0.0;  // n^
};

PublicCounts count_public(const PublicData& data, std::span<const Clique> cliques,
                          Threads threads) {
  PublicCounts counted;
  auto& [out, public_rows] = counted;
  for (const auto& [name, table] : data.tables) {
    auto counts = count_marginals(table, cliques, threads);
    public_rows += static_cast<double>(table.rows());
    if (out.empty()) {
      out = std::move(counts);
      continue;
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (std::size_t c = 0; c < out[i].values.size(); ++c) {
        out[i].values[c] += counts[i].values[c];
      }
    }
  }
  if (public_rows == 0.0) throw UsageError("jam-pgm: the public data has no rows; give some.");
  return counted;
}

// The same scaled by n / n^.
std::vector<Factor> public_proxies(PublicCounts counted, double n) {
  for (auto& factor : counted.marginals) {
    for (double& value : factor.values) value *= n / counted.rows;
  }
  return std::move(counted.marginals);
}

Measurement proxy_measurement(const Factor& proxy) {
  Measurement out;
  out.query = {proxy.clique};
  out.values = proxy.values;
  out.origin = Origin::Public;
  return out;
}

// How far off a public marginal is nobody knows. In the paper all measurements count alike.
std::vector<Measurement> equally_weighted(std::vector<Measurement> y, Sigma sigma) {
  for (auto& measurement : y) measurement.sigma = sigma;
  return y;
}

// Private ones by their noise, which falls as savings are spent; public ones like the noisiest of
// them, or like one of this noise where there is none.
std::vector<Measurement> weighted_by_noise(std::vector<Measurement> y, Sigma usual) {
  std::optional<Sigma> most;
  for (const auto& measurement : y) {
    if (measurement.origin != Origin::Private) continue;
    if (!most || measurement.sigma.value() > most->value()) most = measurement.sigma;
  }
  for (auto& measurement : y) {
    if (measurement.origin == Origin::Public) measurement.sigma = most.value_or(usual);
  }
  return y;
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& rng) {
  const auto start = start_model(problem, options.max_model_mb);
  const bool as_2024 = options.selection == Filtering::Of2024;
  const bool printed = options.selection != Filtering::EachRound;
  const auto closure = candidates_of(problem, options.max_model_mb);
  auto counted = count_public(problem.public_data, closure, curator.threads());
  Release measured;
  const double n = measure_total(curator, measured, kTotalShare);
  const auto proxies = public_proxies(std::move(counted), n);
  std::vector<Score> proxy_errors;  // formulas are shared, not copied
  for (const auto& proxy : proxies) proxy_errors.push_back(l1_error(proxy));
  const Cost rho = curator.remaining();
  const Sigma usual = curator.noise_scale({closure.front()},
                                          (rho / kMostRounds).split(options.select_share).second);
  const int T = options.rounds.value_or(printed ? kMostRounds : rounds_by_noise(usual, n));
  std::vector<Measurement> y;
  std::vector<Clique> held = start.cliques;  // what the model must hold
  std::vector<Clique> candidates = closure;
  PgmOptions fit_options{.tolerance = kRoundTolerance, .threads = curator.threads()};
  PgmFit fit{.model = GraphicalModel(problem.domain, start.zeros, n, {}, curator.threads())};

  for (int t = 0; t < T; ++t) {
    const bool last = t + 1 == T;
    const Cost round = curator.remaining() / (T - t);  // frugal: savings carry over
    const auto parts = round.split(options.select_share);
    const Cost to_select = parts.first;
    const Cost to_measure = parts.second;
    const double used = 1.0 - curator.remaining().lower_bound() / rho.lower_bound();
    const double share = last && !printed ? 1.0 : std::max(used, 1.0 / T);
    const double room = (options.max_model_mb - start.mb) * share;
    const auto C = offered(candidates, problem.domain,
                           tractable(fit.model, held, start.mb + room, curator.threads()), rng);
    if (as_2024) candidates = C;

    // At a small budget selections are near random, and a public marginal weighs no more than a
    // private one however noisy that is: those that could only do harm are not offered.
    const auto noise_of = [&](const Clique& tau) {
      return expected_noise(curator.noise_scale({tau}, to_measure), problem.domain.cells(tau));
    };
    const auto teaches = [&](const Clique& tau) {
      return printed || noise_of(tau) < kMostNoise * n;
    };
    // What a public marginal saves in the last round could not be spent any more.
    const bool private_only = !printed && last && std::ranges::any_of(C, teaches);
    auto answers = fit.model.project_all(C);
    std::vector<Candidate> scored;
    std::vector<std::size_t> proxy_of;
    for (std::size_t i = 0, at = 0; i < C.size(); ++i, ++at) {
      while (closure[at] != C[i]) ++at;
      const Score error = as_2024 && t == 0 ? Score() : l1_error(std::move(answers[i]));
      if (teaches(C[i])) {
        scored.push_back({C[i], Origin::Private, error - noise_of(C[i])});
        proxy_of.push_back(at);
      }
      if (!private_only) {
        scored.push_back({C[i], Origin::Public, error - proxy_errors[at]});
        proxy_of.push_back(at);
      }
    }
    const std::size_t best = curator.select(scored, to_select);

    const Sigma sigma = curator.noise_scale({scored[best].clique}, to_measure);
    y.push_back(
        scored[best].origin == Origin::Public
            ? proxy_measurement(proxies[proxy_of[best]])
            : curator.measure({scored[best].clique}, last ? curator.remaining() : to_measure));
    held.push_back(scored[best].clique);
    if (last) fit_options.tolerance = kFinalTolerance;
    fit_options.idle_steps = last || sigma.value() > kClear * n ? 2 : 1;
    fit = estimate_pgm(problem.domain,
                       printed ? equally_weighted(y, sigma) : weighted_by_noise(y, sigma), n,
                       fit.model.potentials(), fit_options);
  }

  for (auto& measurement : y) measured.measurements.push_back(std::move(measurement));
  return graphical_release(std::move(fit), std::move(measured.measurements), n, start);
}

Effort effort_of(const Curator& curator, const Problem& problem, const Options& options,
                 double rows_expected) {
  const auto closure = candidates_of(problem, options.max_model_mb);
  return effort(problem.domain, closure, options.max_model_mb,
                {.rounds = static_cast<double>(options.rounds.value_or(kMostRounds)),
                 .public_counts = true,
                 .rows_in_noise = rows_in_noise(rows_expected, curator),
                 .public_rows = problem.public_data.rows()});
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  start_model(problem, options.max_model_mb);  // says what there is no room for
  const auto closure = candidates_of(problem, options.max_model_mb);
  const auto [to_select, to_measure] =
      (curator.remaining() / options.rounds.value_or(kMostRounds)).split(options.select_share);
  const Sigma sigma = curator.noise_scale({closure.front()}, to_measure);
  PlanStep rounds{
      "select",
      Document::object({{"candidates", static_cast<std::uint64_t>(closure.size())},
                        {"rounds", std::int64_t{options.rounds.value_or(kMostRounds)}},
                        {"sigma", sigma.value()}}),
      fmt::format("In each of {} rounds selects one of {} marginals, from the private table with "
                  "noise of standard deviation {:.4g} or less, or from the public ones.",
                  options.rounds ? std::to_string(*options.rounds)
                                 : fmt::format("{} to {}", kFewestRounds, kMostRounds),
                  closure.size(), sigma.value())};
  return {std::move(rounds),
          {"save", Document::object(), "What a public marginal saves is spent on later rounds."}};
}

}  // namespace

Mechanism jam_pgm() {
  return make_mechanism<Options>(
      {.name = "jam-pgm",
       .summary = "Graphical model of private and public marginals, whichever is closer",
       .reference = "Fuentes, Mullins, McKenna, Miklau, Sheldon. Joint Selection: Adaptively "
                    "Incorporating Public Information for Private Synthetic Data. 2024.",
       .needs_public_data = true},
      run, plan,
      {field("rounds", &Options::rounds,
             "number of rounds T; auto: 20 to 30, the fewer the larger the noise; the "
             "paper's is 30",
             at_least(1)),
       field("select-share", &Options::select_share, "share of each round's budget for selection",
             between(0.001, 0.999)),
       choice("selection", &Options::selection,
              {{"each-round", Filtering::EachRound},
               {"paper", Filtering::Paper},
               {"2024", Filtering::Of2024}},
              "weigh in each round all candidates that can teach something; or all, and fit all "
              "measurements alike, as printed; or as the authors' code, which also drops for ever "
              "what was too large once and chooses first without a model"),
       field("max-model-mb", &Options::max_model_mb, "largest model, in megabytes",
             at_least(0.001))},
      effort_of,
      {{"paper", {{"rounds", "30"}, {"selection", "paper"}, {"max-model-mb", "80"}}},
       {"authors", {{"rounds", "30"}, {"selection", "2024"}, {"max-model-mb", "80"}}}});
}

}  // namespace tandem::mechanism
