// SPDX-License-Identifier: Apache-2.0
// MWEM+PUB: MW-Pub as it was first published, with Laplace noise.
//   Liu, Vietri, Steinke, Ullman, Wu. Leveraging Public Data in Practical Private Query Release: A
//   Case Study with ACS Data. 2021. Algorithm 1.
//   Symbols: A distribution on the public rows, q a cell of the workload, a noisy answer, n rows,
//   T rounds, e0 the epsilon of a round. Departures: docs/mechanisms/mwem_pub.md
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/mechanism/weights/multiplicative_weights.h"
#include "tandem/privacy/accountant.h"

namespace tandem::mechanism {
namespace {

enum class Accounting { Filter, Advanced };
enum class Output { Average, Last };
enum class Start { Public, Uniform };

struct Options {
  int rounds = 50;
  Accounting accounting = Accounting::Filter;
  std::optional<double> delta;
  double step = 1.0;
  bool clip = true;
  Start start = Start::Public;
  Output output = Output::Average;
  int max_model_mb = 4096;
};

struct RoundCost {
  Cost to_select;
  Cost to_measure;
};

// What a round may cost. By the filter's own composition that is a T-th of the budget, half and
// half. As printed in the paper, e0 follows from advanced composition and is shared half and half;
// that is always less than the filter allows, and what is left is returned.
RoundCost round_cost(const Curator& curator, const Options& options) {
  const Cost all = curator.remaining();
  if (options.accounting == Accounting::Filter) {
    const auto [to_select, to_measure] = (all / options.rounds).split(0.5);
    return {to_select, to_measure};
  }
  if (curator.currency() == Currency::Pure) {
    throw UsageError(
        TANDEM_SETTING("param.accounting") "=advanced composes to a delta above 0; give a " TANDEM_SETTING("delta") ", or take "
        "accounting=filter.");
  }
  if (!options.delta) {
    throw UsageError(TANDEM_SETTING("param.delta") " is auto and no run says its own; state it.");
  }
  const Rho rho(all.lower_bound());
  const Delta delta(*options.delta);
  const Epsilon epsilon = epsilon_of(rho, delta);
  const Epsilon e0 = advanced_composition_step(epsilon, options.rounds, delta);
  const Epsilon half(e0.value() / 2.0);
  const double share = 1.0 / options.rounds;
  return {all * std::min(share / 2.0, exponential_rho(half).value() / rho.value()),
          all * std::min(share / 2.0, pure_rho(half).value() / rho.value())};
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& /*rng*/) {
  Release release;
  release.warnings = public_data_warnings(problem);
  release.facts.set("public_row_share", 1.0);
  check_model_memory("mwem-pub", problem.domain, problem.workload, problem.public_data.rows(),
                     options.max_model_mb, "raise it, or take fewer public rows or marginals");
  require_questions(problem);
  round_cost(curator, options);  // says whether there can be one
  Support A_0 = public_rows(problem.public_data);
  if (options.start == Start::Uniform) A_0.weights.assign(A_0.weights.size(), 1.0);
  const double n = measure_total(curator, release);
  std::vector<MultiplicativeWeights::Part> parts;
  parts.push_back({problem.domain.all(), std::move(A_0)});
  MultiplicativeWeights A(problem.domain, problem.workload, std::move(parts), n, curator.threads());
  A.clip_answers(options.clip);

  const auto [to_select, to_measure] = round_cost(curator, options);
  for (int t = 1; t <= options.rounds; ++t) {
    const CellChoice q = curator.select_cell(A.errors(), to_select);
    release.measurements.push_back(curator.measure(A.query(q), to_measure, NoiseKind::Laplace));
    A.update(A.remember(q, release.measurements.back()), options.step);
    A.end_round();
  }
  release.model = options.output == Output::Average ? A.average() : A.last();
  return release;
}

Effort effort_of(const Curator& /*curator*/, const Problem& problem, const Options& /*options*/,
                 double /*rows_expected*/) {
  return weighing_effort(problem, problem.public_data.rows());
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  require_questions(problem);
  const double rows = problem.public_data.rows();
  check_model_memory("mwem-pub", problem.domain, problem.workload, rows, options.max_model_mb,
                     "raise it, or take fewer public rows or marginals");
  const auto [to_select, to_measure] = round_cost(curator, options);
  const double spent =
      (to_select + to_measure).upper_bound() * options.rounds / curator.remaining().upper_bound();
  PlanStep rounds{
      "select",
      Document::object({{"candidates", static_cast<std::uint64_t>(problem.workload.queries())},
                        {"rounds", std::int64_t{options.rounds}},
                        {"share_of_budget", std::min(1.0, spent)}}),
      fmt::format("{} rounds, each of which selects one of {} cells and measures it with Laplace "
                  "noise, {:.3g}% of the budget together.",
                  options.rounds, with_commas(problem.workload.queries()),
                  100.0 * std::min(1.0, spent))};
  return {std::move(rounds), plan_to_weigh(rows, weighing_effort(problem, rows).bytes)};
}

}  // namespace

Mechanism mwem_pub() {
  return make_mechanism<Options>(
      {.name = "mwem-pub",
       .summary = "MW-Pub as first published: the exponential mechanism and Laplace noise",
       .reference = "Liu, Vietri, Steinke, Ullman, Wu. Leveraging Public Data in Practical Private "
                    "Query Release: A Case Study with ACS Data. 2021.",
       .needs_public_data = true,
       .pure = true},
      run, plan,
      {field("rounds", &Options::rounds, "number of rounds T", between(1, 1e5)),
       choice("accounting", &Options::accounting,
              {{"filter", Accounting::Filter}, {"advanced", Accounting::Advanced}},
              "a round's cost: by the filter's own composition, or by advanced composition as "
              "printed"),
       field("delta", &Options::delta, "of advanced composition; auto: that of the run",
             between(1e-300, 1.0)),
       field("step", &Options::step, "factor in the update's exponent", between(0.0, 100.0)),
       field("clip", &Options::clip,
             "measured counts are moved to between 0 and n; not so as printed"),
       choice("start", &Options::start, {{"public", Start::Public}, {"uniform", Start::Uniform}},
              "weights of the public rows at the start"),
       choice("output", &Options::output, {{"average", Output::Average}, {"last", Output::Last}},
              "which distribution is released"),
       field("max-model-mb", &Options::max_model_mb, "memory for rows and answers, in MB",
             between(1, 1e7))},
      effort_of, {{"paper", {{"accounting", "advanced"}, {"clip", "false"}}}});
}

}  // namespace tandem::mechanism
