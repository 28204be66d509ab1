// SPDX-License-Identifier: Apache-2.0
// tandem: public data that helps and does not hurt, on graphical models.
//   After AIM (McKenna, Mullins, Sheldon, Miklau 2022) and JAM-PGM (Fuentes, Mullins, McKenna,
//   Miklau, Sheldon 2024), with a prior instead of a choice between public and private.
//   Symbols: r candidate marginal, w_r its weight, q_r the model's answer, p model, p0 public
//   prior, nu its worth in rows, y measurements, sigma noise, T = T0 d rounds, rho budget, n rows.
//   docs/mechanisms/tandem.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>

#include "tandem/base/parallel.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/candidates.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/mechanism/rounds/model_start.h"
#include "tandem/mechanism/tandem/final_choice.h"
#include "tandem/mechanism/tandem/public_report.h"
#include "tandem/mechanism/tandem/row_share.h"
#include "tandem/mechanism/tandem/tilted_model.h"
#include "tandem/mechanism/tandem/tuning.h"
#include "tandem/model/mixture_model.h"
#include "tandem/model/pgm/estimate_pgm.h"
#include "tandem/model/pgm/junction_tree.h"

namespace tandem::mechanism {
using namespace tuning;

namespace {

enum class Penalty { Shrunk, Noise };

struct Options {
  std::optional<int> rounds_per_column;  // T0
  double select_share = 0.1;             // alpha
  double max_model_mb = 8.0;             // S
  double ridge = kRidge;                 // c
  double crowding = 0.6;                 // kappa
  double trust_spread = kTrustSpread;    // of log nu between marginals
  double prior_spread = kPriorSpread;    // of log nu around log numax
  std::optional<double> trust;           // nu / numax
  bool judge_columns = true;
  bool fillers = true;
  Penalty penalty = Penalty::Shrunk;
  bool use_public = true;
  std::optional<double> public_rows;
  double choice_share = 0.0;
};

const double kMeanOfAbsolute = std::sqrt(2.0 / std::numbers::pi);  // E |N(0, 1)|

// Errors in L1 that are expected of a marginal, from how far the prior is to be believed: a count m
// of the model is off by a variance of v = n m / nu.
struct Expected {
  double unmeasured = 0.0;  // E |.|_1 as it is
  double measured = 0.0;    // after shrinking a measurement towards the model
  double taught = 0.0;      // how far a measurement moves the model where it was right

  Expected() = default;
  Expected(const Factor& model, double n, double nu, double sigma, Penalty penalty) {
    const double trust = penalty == Penalty::Shrunk ? nu : 0.0;
    for (const double m : model.values) {
      const double precision = trust > 0.0 ? trust / (n * std::max(m, 1e-12)) : 0.0;  // 1 / v
      const double shrunk = 1.0 / (1.0 + sigma * sigma * precision);  // v / (v + sigma^2)
      unmeasured += nu > 0.0 ? std::sqrt(n * m / nu) : sigma;
      measured += sigma * std::sqrt(shrunk);
      taught += sigma * shrunk;
    }
    unmeasured *= kMeanOfAbsolute;
    measured *= kMeanOfAbsolute;
    taught *= kMeanOfAbsolute;
  }
};

PublicPrior public_prior(const Problem& problem, double n, const Options& options,
                         Threads threads) {
  const PublicData nothing;
  return {options.use_public ? problem.public_data : nothing,
          n,
          {.ridge = options.ridge,
           .prior_spread = options.prior_spread,
           .spread = options.trust_spread,
           .fixed_trust = options.trust.value_or(0.0)},
          threads};
}

// Which columns public data speaks of. Those of which noise hides it are measured again, each time
// with half the noise.
void judge_columns(Curator& curator, Cost for_choice, Cost to_measure, double n, PublicPrior& prior,
                   std::vector<Measurement>& one_ways) {
  for (int looks = 0; looks < kMoreLooks; ++looks) {
    to_measure = to_measure * kLookPreciser;
    const auto doubtful = prior.doubtful_columns(one_ways, n);
    const Cost cost = to_measure * static_cast<double>(doubtful.size());
    if (doubtful.empty() || cost > (curator.remaining() - for_choice) * kLooksAtMost) break;
    for (auto& y : curator.measure_all(doubtful, cost)) one_ways.push_back(std::move(y));
  }
  prior.judge_columns(one_ways, n);
}

// Public data as the model to start from: which of its marginals matter, and how far its rows may
// stand for themselves.
TiltedModel public_start(const Problem& problem, const ModelStart& start,
                         std::span<const Clique> closure,
                         const std::unordered_map<Clique, double>& w, PublicPrior prior, double n,
                         const Options& options, Threads threads) {
  std::vector<Fillers::Offer> offers;
  for (auto& source : prior.sources()) {
    offers.push_back({{}, source.model.rows()});
    if (options.fillers) {
      std::vector<Clique> known;
      for (const auto& r : closure) {
        if (source.knows(r)) known.push_back(r);
      }
      offers.back().structure = public_structure(source.model, known, options.max_model_mb);
    }
    if (options.public_rows) continue;
    std::vector<Clique> held;
    for (AttributeId id = 0; id < problem.domain.size(); ++id) held.push_back(Clique{id});
    for (const auto& found : offers.back().structure) held.push_back(found.clique);
    source.missed = missed_by_model(problem.public_data.tables[source.table], held,
                                    problem.workload, options.ridge, threads);
  }
  Fillers fillers(problem.domain, std::move(offers), w, options.max_model_mb);
  return {problem.domain,
          n,
          std::move(prior),
          std::move(fillers),
          {.tolerance = kRoundTolerance, .threads = threads},
          start.zeros};
}

// Delta_1: how far one person moves an L1 error.
double rows_moved(const PrivacyUnit& unit) {
  return (unit.neighbors == Neighbors::ReplaceOne ? 2.0 : 1.0) * unit.rows_per_person;
}

// What may be selected: the model's error beyond what a measurement, shrunk to it, would leave,
// less what the fillers without room would have gained.
std::vector<Candidate> scores(const Curator& curator, const TiltedModel& p,
                              std::span<const Clique> C,
                              const std::unordered_map<Clique, double>& w, double largest_w,
                              Cost to_select, Cost to_measure, const Options& options) {
  const double n = p.model().total();
  // From here on a difference of scores is seen by the selection.
  const double visible =
      kVisible * rows_moved(curator.unit()) * largest_w / std::sqrt(8.0 * to_select.lower_bound());
  auto answers = p.model().project_all(C);
  const auto crowded_out = p.crowded_out(C);
  std::vector<double> sigma;
  for (const auto& r : C) sigma.push_back(curator.noise_scale({r}, to_measure).value());
  std::vector<Expected> expected(C.size());
  parallel_for(C.size(), curator.threads(), [&](std::size_t i) {
    expected[i] = Expected(answers[i], n, p.nu_of(C[i]), sigma[i], options.penalty);
  });
  std::vector<Candidate> out;
  for (std::size_t i = 0; i < C.size(); ++i) {
    const double lost = options.crowding * n * crowded_out[i];
    const double hoped = w.at(C[i]) * (expected[i].unmeasured - expected[i].measured);
    const bool is_column = C[i].size() == 1;  // always offered, so that there is a candidate
    // What loses more than it can gain could be drawn all the same.
    if (!is_column && lost > std::max(0.0, hoped) && lost < visible) continue;
    out.push_back({C[i], Origin::Private,
                   w.at(C[i]) * (l1_error(std::move(answers[i])) - expected[i].measured) - lost});
  }
  return out;
}

// T0: more rounds where that leaves little noise all the same.
int rounds_per_column(const Curator& curator, std::span<const LinearQuery> columns, Cost rho,
                      std::optional<double> known_n, const Options& options) {
  if (options.rounds_per_column) return *options.rounds_per_column;
  const auto [to_select, to_measure] =
      (rho / (kRoundsPerColumn * static_cast<double>(columns.size()))).split(options.select_share);
  const double noise = curator.noise_scale(columns.front(), to_measure).value();
  return known_n && noise < kLittleNoise * *known_n ? kMoreRoundsPerColumn : kRoundsPerColumn;
}

// What is released, and what there is to say of it.
struct Finished {
  std::unique_ptr<Model> model;
  std::optional<double> row_share;  // public rows beside the model of both; nothing for another
  bool converged = true;
  std::string choice;  // what a final choice took instead, or nothing
};

// The model, with public rows for a share of it.
Finished combined(const TiltedModel& p, const Problem& problem, const Options& options) {
  Finished out{std::make_unique<GraphicalModel>(p.model()), 0.0, p.converged(), {}};
  if (p.prior().empty()) return out;
  auto tilted = tilt_rows(problem.public_data, p.prior(), p.multipliers(), p.model().total());
  const double share = options.public_rows.value_or(
      best_row_share(tilted, p.prior(), distance_in_noise(tilted, p), private_worth(p)));
  out.row_share = share;
  if (share > 0.0) {
    std::vector<MixtureModel::Part> parts;
    parts.push_back({1.0 - share, std::move(out.model)});
    parts.push_back({share, std::make_unique<SupportHistogram>(std::move(tilted.model))});
    out.model = std::make_unique<MixtureModel>(std::move(parts));
  }
  return out;
}

// A last question to the private table: is this better than what was not believed in?
void choose_finally(Curator& curator, const TiltedModel& p, const Problem& problem,
                    const ModelStart& start, Finished& finished) {
  const double n = p.model().total();
  std::vector<Arm> arms;
  arms.push_back({"the model of public and private data together", std::move(finished.model)});
  auto alone = estimate_pgm(problem.domain, p.measurements(), n, start.zeros,
                            {.tolerance = kRoundTolerance, .threads = curator.threads()});
  arms.push_back(
      {"the model without public data", std::make_unique<GraphicalModel>(std::move(alone.model))});
  auto rows = tilt_rows(problem.public_data, p.prior(), p.multipliers(), n);
  arms.push_back(
      {"the public rows, reweighted", std::make_unique<SupportHistogram>(std::move(rows.model))});
  auto untouched = tilt_rows(problem.public_data, p.prior(), {}, n);
  arms.push_back({"the public rows as they are",
                  std::make_unique<SupportHistogram>(std::move(untouched.model))});
  const bool converged[] = {p.converged(), alone.converged, p.converged(), true};
  const auto chosen = choose_arm(curator, problem.workload, arms, curator.remaining());
  finished.model = std::move(arms[chosen].model);
  finished.converged = converged[chosen];
  if (chosen == 0) return;
  finished.row_share.reset();
  finished.choice = arms[chosen].name;
}

Release released(const TiltedModel& p, const ModelStart& start, Finished finished) {
  Release release;
  release.total = p.model().total();
  release.measurements.assign(p.measurements().begin(), p.measurements().end());
  release.model = std::move(finished.model);
  report_public_data(p, finished.row_share, release);
  if (!finished.converged) {
    release.warnings.push_back(
        {"model.unfinished",
         "The model was still improving when its fit was stopped; its answers can be refitted free "
         "of charge."});
  }
  if (!finished.choice.empty()) release.facts.set("final_choice", finished.choice);
  release.facts.set("structure", structure_of(p.model()));
  release.warnings.insert(release.warnings.end(), start.warnings.begin(), start.warnings.end());
  return release;
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& rng) {
  const Domain& domain = problem.domain;
  const auto known_n = public_total(curator);
  const auto start = start_model(problem, options.max_model_mb);
  const auto columns = informative_columns(domain);
  const auto closure = candidates_of(problem, options.max_model_mb);
  const auto weights = attribute_weights(problem.workload, domain);
  std::unordered_map<Clique, double> w;
  double largest_w = 0.0;
  for (const auto& r : closure) largest_w = std::max(largest_w, w[r] = weight_of(r, weights));
  const bool chooses = options.use_public && !problem.public_data.empty();
  const auto [for_choice, rho] = curator.remaining().split(chooses ? options.choice_share : 0.0);
  const double T = rounds_per_column(curator, columns, rho, known_n, options) *
                   static_cast<double>(columns.size());
  auto [to_select, to_measure] = (rho / T).split(options.select_share);

  // Every one-way marginal, and what public data says before it is tilted by them.
  auto one_ways = curator.measure_all(columns, to_measure * static_cast<double>(columns.size()));
  const double n = known_n ? *known_n : estimate_total(one_ways);
  auto prior = public_prior(problem, n, options, curator.threads());
  if (options.judge_columns) judge_columns(curator, for_choice, to_measure, n, prior, one_ways);
  TiltedModel p =
      public_start(problem, start, closure, w, std::move(prior), n, options, curator.threads());
  p.absorb_together(std::move(one_ways));

  while (curator.remaining() > for_choice) {
    const Cost left = curator.remaining() - for_choice;
    const bool last = left < (to_select + to_measure) * 2.0;
    if (last) std::tie(to_select, to_measure) = left.split(options.select_share);
    const double used = last ? 1.0 : 1.0 - left.lower_bound() / rho.lower_bound();
    const double limit_mb = start.mb + (options.max_model_mb - start.mb) * used;
    const auto C =
        offered(closure, domain, tractable(domain, p.held(), limit_mb, curator.threads()), rng);

    // Select: where the model is further off than a measurement, shrunk to it, would leave it.
    const auto scored = scores(curator, p, C, w, largest_w, to_select, to_measure, options);
    const Clique r = scored[curator.select(scored, to_select)].clique;

    // Measure, and estimate again.
    auto y = curator.measure({r}, last ? curator.remaining() - for_choice : to_measure);
    const double sigma = y.sigma.value();
    const Factor z = p.absorb(std::move(y));

    // Anneal: what the measurement taught was no more than its noise, so ask for less noise.
    const Expected expected(z, n, p.nu_of(r), sigma, options.penalty);
    if (l1_distance(z, p.model().project(r)) <= expected.taught) {
      to_select = to_select * 4.0;  // epsilon doubles, sigma halves
      to_measure = to_measure * 4.0;
    }
  }
  p.refine(kFinalTolerance);
  auto finished = combined(p, problem, options);
  if (!for_choice.is_zero() && !p.prior().empty()) {
    choose_finally(curator, p, problem, start, finished);
  }
  return released(p, start, std::move(finished));
}

Effort effort_of(const Curator& curator, const Problem& problem, const Options& options,
                 double rows_expected) {
  const auto candidates = candidates_of(problem, options.max_model_mb);
  const bool with_public = options.use_public && !problem.public_data.empty();
  return effort(problem.domain, candidates, options.max_model_mb,
                {.rounds = kUsualRoundsPerColumn * static_cast<double>(problem.domain.size()),
                 .models = with_public ? kModelsAtOnce : 1.0,
                 .full_at_once = with_public && options.fillers,
                 .public_counts = with_public && options.fillers,
                 .rows_in_noise = rows_in_noise(rows_expected, curator),
                 .public_rows = with_public ? problem.public_data.rows() : 0.0});
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  start_model(problem, options.max_model_mb);  // says what there is no room for
  const auto columns = informative_columns(problem.domain);
  const auto noise_of = [&](int rounds) {
    const double T = rounds * static_cast<double>(columns.size());
    const auto [to_select, to_measure] = (curator.remaining() / T).split(options.select_share);
    return curator.noise_scale(columns.front(), to_measure).value();
  };
  const double sigma = noise_of(options.rounds_per_column.value_or(kRoundsPerColumn));
  PlanStep measures = plan_to_measure(columns.size(), "one-way marginals", sigma);
  if (!options.rounds_per_column) {
    const double larger = noise_of(kMoreRoundsPerColumn);
    measures.numbers.set("sigma_of_large_tables", larger);
    measures.sentence.pop_back();
    measures.sentence +=
        fmt::format(" ({:.4g} if the table is so large that this is little).", larger);
  }
  const bool with_public = options.use_public && !problem.public_data.empty();
  const auto candidates = candidates_of(problem, options.max_model_mb);
  return {
      std::move(measures),
      plan_to_anneal(candidates.size(), sigma),
      {"start", Document::object({{"from_public_data", with_public}}),
       with_public ? "Starts from a model of the public data, which counts for as many rows as its "
                     "predictions of the measurements deserve. Columns that it may not know are "
                     "measured again, with half the noise."
                   : "There is no public data to start from."}};
}

}  // namespace

Mechanism tandem() {
  return make_mechanism<Options>(
      {.name = "tandem",
       .summary = "Graphical model of public data, tilted by private marginals",
       .reference = "docs/mechanisms/tandem.md",
       .helped_by_public_data = true},
      run, plan,
      {field("rounds-per-column", &Options::rounds_per_column,
             "rounds that the budget would last without annealing, for each column; auto: 4, or 6 "
             "where noise is below 0.0003 of the rows",
             at_least(1)),
       field("select-share", &Options::select_share, "share of each round's budget for selection",
             between(0.001, 0.999)),
       field("max-model-mb", &Options::max_model_mb, "largest model, in megabytes",
             at_least(0.001)),
       field("use-public", &Options::use_public, "start from the public data, where there is some"),
       field("trust", &Options::trust,
             "worth of the public data, as a share of the same number of private rows; auto learns "
             "it",
             between(1e-6, 1.0)),
       field("judge-columns", &Options::judge_columns,
             "columns of which public data has other codes or shares are taken from the private "
             "side, and cost the rest no trust"),
       field("trust-spread", &Options::trust_spread,
             "how differently marginals may be trusted, in logarithms", at_least(0.01)),
       field("prior-spread", &Options::prior_spread,
             "how soon doubt in public data is believed, in logarithms", at_least(0.01)),
       field("public-rows", &Options::public_rows,
             "share of the release that is reweighted public rows; auto weighs it",
             between(0.0, 0.9)),
       field(
           "choice-share", &Options::choice_share,
           "share of the budget for a final choice between the model, the one without public data "
           "and public rows",
           between(0.0, 0.5)),
       field("ridge", &Options::ridge, "smoothing of the public data", at_least(1e-3)),
       field("fillers", &Options::fillers,
             "public marginals take the room that private ones leave"),
       field("crowding", &Options::crowding,
             "what public marginals without room count against the private one that takes it",
             at_least(0.0)),
       choice("penalty", &Options::penalty,
              Choices<Penalty>{{"shrunk", Penalty::Shrunk}, {"noise", Penalty::Noise}},
              "what measuring is expected to leave: noise shrunk to the model, or all of it")},
      effort_of);
}

}  // namespace tandem::mechanism
