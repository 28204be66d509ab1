// SPDX-License-Identifier: Apache-2.0
// MRE: weights on public rows that fit noisy marginals best and, of those, are nearest to the
// public data. Both optima are exact, and the release says how exact.
//   Prior-aware distribution estimation for differential privacy. Sections 3.1 and 3.2.
//   Symbols: p prior, W marginals, y noisy counts, n rows, y~ = y / n, q estimate, L* least misfit.
//   Departures: docs/mechanisms/mre.md
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/mechanism/weights/prior_rows.h"
#include "tandem/model/histogram/entropy_fit.h"
#include "tandem/model/histogram/support_histogram.h"

namespace tandem::mechanism {
namespace {

enum class Stage1 { Auto, Dual };

struct Options {
  std::string marginals = kPublicCliques;
  MarginalNoise noise = MarginalNoise::Auto;
  Stage1 solver = Stage1::Auto;
  double max_model_mb = 4096.0;
};

constexpr double kMostEntries = 5e7;  // of W: a row and a marginal each
constexpr double kModelMb = 8.0;      // of public data, for its cliques, as elsewhere

// Measured on ADULT and ACS, docs/mechanisms/mre.md.
constexpr double kUsualEvaluations = 1500.0;
constexpr double kSecondsPerVisit = 4e-9;  // of a row, a marginal and an evaluation
constexpr double kSecondsPerRow = 3e-8;    // of a row and an evaluation

void check_settings(const Curator& curator, const Problem& problem, const Options& options) {
  noise_of(curator, options.noise);
  if (problem.public_data.rows() == 0.0) {
    throw UsageError("The public data has no rows; give some with " TANDEM_SETTING("public") ".");
  }
}

// Of different public rows. Public cliques are as many as there is room for; a workload that is too
// large is refused.
std::unique_ptr<Room> room_of(const Problem& problem, const Options& options, double rows) {
  const double entries = rows * static_cast<double>(problem.workload.size());
  if (options.marginals == "workload" && entries > kMostEntries) {
    throw UsageError(fmt::format(
        "mre would solve for {:.4g} rows in {} marginals, more than {:g} entries; choose ide, or "
        "fewer marginals or public rows.",
        rows, problem.workload.size(), kMostEntries));
  }
  return room_on_rows(problem.domain, rows, options.max_model_mb, kMostEntries);
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& /*rng*/) {
  check_settings(curator, problem, options);
  Support p = public_rows(problem.public_data);
  const auto rows = static_cast<double>(p.rows.rows());
  const auto room = room_of(problem, options, rows);
  MarginalChoice choice("mre", options.marginals, problem, *room, kModelMb);
  Release release;
  release.warnings = public_data_warnings(problem);
  const double n = measure_total(curator, release);
  const auto W = choice.take(curator, n);
  for (auto& remark : remarks(problem, W, kAsInPublicRows)) {
    release.warnings.push_back(std::move(remark));
  }
  auto y = measure_to_the_end(curator, queries_of(W), noise_of(curator, options.noise));
  std::ranges::move(y, std::back_inserter(release.measurements));

  const auto shares = shares_on_rows(p.rows, release.measurements, n, curator.threads());
  auto q = fit_relative_entropy(
      p.weights, shares,
      {.linear_solver = options.solver == Stage1::Auto, .threads = curator.threads()});
  release.facts.set("fit",
                    Document::object({{"marginals", static_cast<std::uint64_t>(shares.size())},
                                      {"misfit", q.misfit},
                                      {"least_misfit", q.least_misfit},
                                      {"least_is_exact", q.exact},
                                      {"kl", q.kl},
                                      {"gap", q.gap},
                                      {"settled", q.settled}}));
  for (auto& warning :
       unseen_warnings(shares, release.measurements, n, "ide with support=model would have some")) {
    release.warnings.push_back(std::move(warning));
  }
  p.weights = std::move(q.q);
  release.model = std::make_unique<SupportHistogram>(std::move(p), n);
  return release;
}

Effort effort_of(const Curator& curator, const Problem& problem, const Options& options,
                 double rows_expected) {
  check_settings(curator, problem, options);
  const auto rows = static_cast<double>(public_rows(problem.public_data).rows.rows());
  const auto room = room_of(problem, options, rows);
  MarginalChoice choice("mre", options.marginals, problem, *room, kModelMb);
  const auto W =
      choice.about(curator, rows_expected > 0.0 ? rows_expected : problem.public_data.rows());
  Effort out{.seconds = choice.seconds()};
  out.model_bytes = rows * (8.0 + 2.0 * static_cast<double>(problem.domain.size()));
  out.bytes = out.model_bytes + 4.0 * sizeof(double) * rows;
  for (const auto& [clique, weight] : W.marginals) {
    const double cells = std::min(rows, problem.domain.about_cells(clique));
    constexpr double kOfLinearProgram = 40.0;  // bytes an entry
    constexpr double kOfSearch = 50.0 * 8.0;   // bytes a cell: pairs of steps and gradients
    out.bytes +=
        bytes_on_rows(problem.domain, clique, rows) + kOfLinearProgram * rows + kOfSearch * cells;
    out.seconds += kUsualEvaluations * kSecondsPerVisit * rows;
  }
  out.seconds += kUsualEvaluations * kSecondsPerRow * rows;
  return out;
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  check_settings(curator, problem, options);
  const auto rows = static_cast<double>(public_rows(problem.public_data).rows.rows());
  const auto room = room_of(problem, options, rows);
  MarginalChoice choice("mre", options.marginals, problem, *room, kModelMb);
  const double public_n = problem.public_data.rows();
  const auto W = choice.take(curator, public_n);
  Plan out = plan_marginals(curator, problem, W, choice.needs_rows() ? public_n : 0.0);
  out.push_back(plan_to_weigh(rows, effort_of(curator, problem, options, public_n).bytes));
  return out;
}

}  // namespace

Mechanism mre() {
  return make_mechanism<Options>(
      {.name = "mre",
       .summary = "Public rows that fit noisy marginals best, at the least relative entropy: exact",
       .reference = "Prior-aware distribution estimation for differential privacy. Section 3.1.",
       .needs_public_data = true,
       .pure = true},
      run, plan,
      {marginals_field<Options>(
           "those to measure: public-cliques, which public data recommends; workload, its own as "
           "far as there is room; or such as age+sex,region"),
       choice("noise", &Options::noise,
              {{"auto", MarginalNoise::Auto},
               {"laplace", MarginalNoise::Laplace},
               {"gaussian", MarginalNoise::Gaussian}},
              "of each count; auto: Laplace on a pure epsilon, else Gaussian"),
       choice("least-misfit", &Options::solver, {{"auto", Stage1::Auto}, {"dual", Stage1::Dual}},
              "how it is found: by a linear programme where this build has CLP, or bounded by the "
              "dual"),
       field("max-model-mb", &Options::max_model_mb, "memory for rows and their cells, in MB",
             at_least(0.001))},
      effort_of);
}

}  // namespace tandem::mechanism
