// SPDX-License-Identifier: Apache-2.0
// IDE: public rows, moved to noisy marginals one after the other at the least relative entropy.
//   Prior-aware distribution estimation for differential privacy. Algorithm 1, and PRIOR_UPDATE of
//   Algorithm 2.
//   Symbols: p prior, W marginals, y noisy counts, n rows, y~ = y / n, q estimate.
//   Departures: docs/mechanisms/ide.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/answers/planned_marginals.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/mechanism/rounds/model_start.h"
#include "tandem/mechanism/tandem/tuning.h"
#include "tandem/mechanism/weights/prior_rows.h"
#include "tandem/model/histogram/iterative_estimate.h"
#include "tandem/model/histogram/support_histogram.h"
#include "tandem/model/pgm/junction_tree.h"
#include "tandem/model/pgm/tilted_pgm.h"
#include "tandem/model/public/public_structure.h"

namespace tandem::mechanism {
namespace {

enum class On { PublicRows, Domain, Model };
enum class By { Marginals, Hdmm };

struct Options {
  std::string marginals = kPublicCliques;
  On support = On::PublicRows;
  By strategy = By::Marginals;
  MarginalNoise noise = MarginalNoise::Auto;
  Tie tie = Tie::Prior;
  SweepOrder order = SweepOrder::Sweep;
  bool damping = true;
  bool dykstra = false;
  int sweeps = 2000;
  double tolerance = 1e-6;
  double prior_rows = 1.0;
  std::optional<double> max_model_mb;
};

// Memory in megabytes where none is stated: of a graphical model as elsewhere, of rows as mw-pub.
constexpr double kModelMb = 8.0;
constexpr double kRowsMb = 4096.0;

double limit_mb(const Options& options) {
  return options.max_model_mb.value_or(options.support == On::Model ? kModelMb : kRowsMb);
}

// Measured on ADULT and ACS, docs/mechanisms/ide.md.
constexpr double kUsualSweeps = 1200.0;
constexpr double kSecondsPerVisit = 1.7e-9;  // of a row, a marginal and a sweep
constexpr double kSecondsPerCell = 2e-8;     // of an occupied cell and a sweep

double rows_of(const Problem& problem, const Options& options) {
  return options.support == On::Domain ? problem.domain.about_cells(problem.domain.all())
                                       : problem.public_data.rows();
}

// Everything that can be wrong with public things.
void check_settings(const Curator& curator, const Problem& problem, const Options& options) {
  noise_of(curator, options.noise);
  if (options.dykstra && options.tie == Tie::Scaled) {
    throw UsageError(
        TANDEM_SETTING("param.corrections") "=dykstra goes with tie=prior; leave one of them out.");
  }
  if (problem.public_data.rows() == 0.0) {
    throw UsageError("The public data has no rows; give some with " TANDEM_SETTING("public") ".");
  }
  const double row = 4.0 * sizeof(double) + 2.0 * static_cast<double>(problem.domain.size());
  const double bytes = row * rows_of(problem, options);
  if (options.support != On::Model && bytes > 1e6 * limit_mb(options)) {
    throw UsageError(fmt::format(
        "ide would keep {:.6g} rows in {}, and max-model-mb allows {:g} MB; raise it, or take {}.",
        rows_of(problem, options), human_bytes(bytes), limit_mb(options),
        options.support == On::Domain ? TANDEM_SETTING("param.support") "=model"
                                      : "fewer public rows"));
  }
}

std::unique_ptr<Room> room_of(const Problem& problem, const Options& options,
                              const ModelStart& start) {
  return options.support == On::Model
             ? room_in_model(problem.domain, start.cliques, limit_mb(options))
             : room_on_rows(problem.domain, rows_of(problem, options), limit_mb(options));
}

ModelStart start_of(const Problem& problem, const Options& options) {
  return options.support == On::Model ? start_model(problem, limit_mb(options)) : ModelStart{};
}

Document fit_document(std::span<const SweepReport> trace, std::size_t marginals, bool settled) {
  Document sweeps = Document::array();
  for (const auto& [sweep, misfit, kl] : trace) {
    Document entry = Document::object({{"sweep", std::int64_t{sweep}}, {"misfit", misfit}});
    if (std::isfinite(kl)) entry.set("kl", kl);
    sweeps.push(std::move(entry));
  }
  Document out = Document::object({{"marginals", static_cast<std::uint64_t>(marginals)},
                                   {"misfit", trace.back().misfit},
                                   {"settled", settled},
                                   {"sweeps", std::move(sweeps)}});
  if (std::isfinite(trace.back().kl)) out.set("kl", trace.back().kl);
  return out;
}

// The chosen marginals with noise, for all that is left: each by itself, or what a strategy that is
// planned for them says of each.
std::vector<Measurement> measure(Curator& curator, const Problem& problem, const Options& options,
                                 const ChosenMarginals& W, Release& release) {
  const NoiseKind noise = noise_of(curator, options.noise);
  const auto keep = [&](std::span<const Measurement> y) {
    release.measurements.insert(release.measurements.end(), y.begin(), y.end());
  };
  if (options.strategy == By::Marginals) {
    auto y = measure_to_the_end(curator, queries_of(W), noise);
    keep(y);
    return y;
  }
  const auto planned = plan_strategy_for(curator, problem.domain, W.marginals, noise);
  auto y = answer_by_strategy(curator, planned, public_total(curator).value_or(0.0));
  keep(y.measured);
  release.facts.set("planner", planned.plan.strategy.planner);
  return std::move(y.marginals);
}

// q = IDE(W, y~, p, T) on the rows of a support.
void estimate_on_rows(Curator& curator, const Problem& problem, const Options& options,
                      std::span<const Measurement> y, Release& release, Rng& rng) {
  Support p = options.support == On::Domain ? domain_with_public_shares(problem)
                                            : public_rows(problem.public_data);
  const double n = release.total;
  const auto W = shares_on_rows(p.rows, y, n, curator.threads());
  auto q = estimate_distribution(p.weights, W,
                                 {.tie = options.tie,
                                  .order = options.order,
                                  .damping = options.damping,
                                  .corrections = options.dykstra,
                                  .sweeps = options.sweeps,
                                  .tolerance = options.tolerance,
                                  .threads = curator.threads()},
                                 rng);
  release.facts.set("fit", fit_document(q.trace, W.size(), q.settled));
  for (auto& warning : unseen_warnings(W, y, n, "support=model would have some")) {
    release.warnings.push_back(std::move(warning));
  }
  p.weights = std::move(q.q);
  release.model = std::make_unique<SupportHistogram>(std::move(p), n);
}

// sum |q - y~|_1 over the measured marginals.
double misfit_of(const Model& model, std::span<const Measurement> y) {
  std::vector<Clique> cliques;
  for (const auto& marginal : y) cliques.push_back(marginal.query.clique);
  const auto found = model.project_all(cliques);
  double out = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = 0; j < y[i].values.size(); ++j) {
      out += std::abs(found[i].values[j] - y[i].values[j]) / model.total();
    }
  }
  return out;
}

// The same with a prior that is a graphical model of public data: it has rows that public data
// lacks. The measured marginals tilt it; a prior of few rows gives way to them.
void estimate_on_model(Curator& curator, const Problem& problem, const Options& options,
                       const ModelStart& start, std::span<const Measurement> y, Release& release) {
  std::vector<Clique> held = start.cliques;
  for (const auto& marginal : y) held.push_back(marginal.query.clique);
  PublicModel prior(problem.public_data.tables, tuning::kRidge, curator.threads());
  std::vector<Clique> fitted = held;
  const double limit = limit_mb(options);
  for (const auto& found : public_structure(prior, candidates_of(problem, limit), limit)) {
    const ModelSizer sizer(problem.domain, fitted);
    if (static_cast<double>(sizer.bytes_with(found.clique)) <= limit * 1e6) {
      fitted.push_back(found.clique);
    }
  }
  for (AttributeId id = 0; id < problem.domain.size(); ++id) fitted.push_back(Clique{id});
  prior.fit(fitted, tuning::kRoundTolerance);
  std::vector<Factor> p(prior.potentials().begin(), prior.potentials().end());
  p.insert(p.end(), start.zeros.begin(), start.zeros.end());
  auto q = tilt_pgm(problem.domain, y, release.total, p, options.prior_rows, {},
                    {.threads = curator.threads()});
  Document fit = Document::object({{"marginals", static_cast<std::uint64_t>(y.size())},
                                   {"misfit", misfit_of(q.model, y)},
                                   {"settled", q.converged}});
  release.facts.set("fit", std::move(fit));
  release.facts.set("structure", structure_of(q.model));
  release.model = std::make_unique<GraphicalModel>(std::move(q.model));
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& rng) {
  check_settings(curator, problem, options);
  const ModelStart start = start_of(problem, options);
  const auto room = room_of(problem, options, start);
  Release release;
  release.warnings = start.warnings;
  MarginalChoice choice("ide", options.marginals, problem, *room, kModelMb);
  const double n = measure_total(curator, release);
  const auto W = choice.take(curator, n);
  for (auto& remark : remarks(problem, W, kAsInPublicRows)) {
    release.warnings.push_back(std::move(remark));
  }
  const auto y = measure(curator, problem, options, W, release);
  if (options.support == On::Model) {
    estimate_on_model(curator, problem, options, start, y, release);
  } else {
    if (options.support == On::PublicRows) {
      for (auto& warning : public_data_warnings(problem)) {
        release.warnings.push_back(std::move(warning));
      }
    }
    estimate_on_rows(curator, problem, options, y, release, rng);
  }
  return release;
}

Effort effort_of(const Curator& curator, const Problem& problem, const Options& options,
                 double rows_expected) {
  check_settings(curator, problem, options);
  const ModelStart start = start_of(problem, options);
  const auto room = room_of(problem, options, start);
  const double n = rows_expected > 0.0 ? rows_expected : problem.public_data.rows();
  MarginalChoice choice("ide", options.marginals, problem, *room, kModelMb);
  const auto W = choice.about(curator, n);
  if (options.support == On::Model) {
    std::vector<Clique> cliques = candidates_of(problem, limit_mb(options));
    for (const auto& [clique, weight] : W.marginals) cliques.push_back(clique);
    return effort(problem.domain, cliques, limit_mb(options),
                  {.rounds = 10.0, .full_at_once = true, .public_counts = true});
  }
  const double rows = rows_of(problem, options);
  Effort out{.seconds = choice.seconds()};
  out.model_bytes = rows * (8.0 + 2.0 * static_cast<double>(problem.domain.size()));
  out.bytes = out.model_bytes + 4.0 * sizeof(double) * rows;
  const double sweeps = std::min(kUsualSweeps, static_cast<double>(options.sweeps));
  for (const auto& [clique, weight] : W.marginals) {
    const double occupied = std::min(rows, problem.domain.about_cells(clique));
    out.bytes += bytes_on_rows(problem.domain, clique, rows);
    out.seconds += sweeps * (kSecondsPerVisit * rows + kSecondsPerCell * occupied);
  }
  return out;
}

// How the error of a count compares with measuring each marginal by itself.
PlanStep plan_of_strategy(const Curator& curator, const Problem& problem, const Options& options,
                          const ChosenMarginals& W) {
  const NoiseKind noise = noise_of(curator, options.noise);
  const auto planned = plan_strategy_for(curator, problem.domain, W.marginals, noise);
  const auto errors = errors_of(curator, planned);
  const Strategy& A = planned.plan.strategy;
  const auto [least, most] = std::ranges::minmax(errors);
  return {
      "strategy",
      Document::object({{"planner", A.planner},
                        {"maps", static_cast<std::uint64_t>(A.maps.size())},
                        {"numbers", A.outputs()}}),
      fmt::format("Instead, planner {} measures {} numbers together, from which a count of each "
                  "marginal follows with an error (rmse) of {:.3g} to {:.3g} rows.",
                  A.planner, with_commas(static_cast<std::uint64_t>(A.outputs())), least, most)};
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  check_settings(curator, problem, options);
  const ModelStart start = start_of(problem, options);
  const auto room = room_of(problem, options, start);
  const double public_n = problem.public_data.rows();
  MarginalChoice choice("ide", options.marginals, problem, *room, kModelMb);
  const auto W = choice.take(curator, public_n);
  Plan out = plan_marginals(curator, problem, W, choice.needs_rows() ? public_n : 0.0);
  if (options.strategy == By::Hdmm) out.push_back(plan_of_strategy(curator, problem, options, W));
  if (options.support == On::Model) {
    out.push_back({"start", Document::object(),
                   "Tilts a graphical model of the public data by what was measured."});
  } else {
    const double rows = rows_of(problem, options);
    double bytes = rows * (5.0 * 8.0 + 2.0 * static_cast<double>(problem.domain.size()));
    for (const auto& [clique, weight] : W.marginals) {
      bytes += bytes_on_rows(problem.domain, clique, rows);
    }
    out.push_back(plan_to_weigh(rows, bytes));
  }
  return out;
}

}  // namespace

Mechanism ide() {
  return make_mechanism<Options>(
      {.name = "ide",
       .summary = "Public rows moved to noisy marginals at the least relative entropy",
       .reference = "Prior-aware distribution estimation for differential privacy. Algorithm 1.",
       .needs_public_data = true,
       .pure = true},
      run, plan,
      {marginals_field<Options>(
           "those to measure: public-cliques, which public data recommends; workload, its own as "
           "far as there is room; or such as age+sex,region"),
       choice("support", &Options::support,
              {{"public", On::PublicRows}, {"domain", On::Domain}, {"model", On::Model}},
              "what can have weight: public rows, every row of a small domain, or all that a "
              "graphical model of public data allows"),
       choice("strategy", &Options::strategy, {{"marginals", By::Marginals}, {"hdmm", By::Hdmm}},
              "marginals: each is measured by itself; hdmm: what a strategy planned for all of "
              "them measures, and they follow from"),
       choice("noise", &Options::noise,
              {{"auto", MarginalNoise::Auto},
               {"laplace", MarginalNoise::Laplace},
               {"gaussian", MarginalNoise::Gaussian}},
              "of each count; auto: Laplace on a pure epsilon, else Gaussian"),
       choice("tie", &Options::tie, {{"prior", Tie::Prior}, {"scale", Tie::Scaled}},
              "which of the nearest possible answers is fitted: that of least relative entropy, or "
              "the positive ones scaled"),
       choice("order", &Options::order,
              {{"sweep", SweepOrder::Sweep}, {"random", SweepOrder::Random}},
              "marginals by turns in random order, or drawn at random as in the paper"),
       field("damping", &Options::damping,
             "smaller steps once sweeps no longer lower the misfit, so that there is a limit"),
       choice("corrections", &Options::dykstra, {{"none", false}, {"dykstra", true}},
              "dykstra: a marginal takes back its own last move before it moves again"),
       field("sweeps", &Options::sweeps,
             "at most, of as many steps as there are marginals; the contest's is 2, with "
             "order=random",
             between(1, 1e6)),
       field("tolerance", &Options::tolerance, "a sweep that moves less, in L1, is the last",
             between(0.0, 2.0)),
       field("prior-rows", &Options::prior_rows,
             "private rows that the prior counts as, with support=model", between(1e-3, 1e12)),
       field("max-model-mb", &Options::max_model_mb,
             "memory for rows and their cells, or of the graphical model, in MB; auto: 4096 and 8",
             at_least(0.001))},
      effort_of,
      // The run of the contest: T = 2 M steps.
      {{"paper", {{"order", "random"}, {"sweeps", "2"}, {"damping", "false"}}}});
}

}  // namespace tandem::mechanism
