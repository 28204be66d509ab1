// SPDX-License-Identifier: Apache-2.0
// MW-Pub: multiplicative weights over the rows of a public table.
//   Liu, Vietri, Steinke, Ullman, Wu. Leveraging Public Data in Practical Private Query Release.
//   2021. Algorithm 1 and section 4.3.
//   Symbols: A distribution on the public rows, q a cell of the workload, a noisy answer, n rows,
//   T rounds. Departures from the paper: docs/mechanisms/mw_pub.md
#include <fmt/core.h>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/mechanism/weights/adaptive_rounds.h"
#include "tandem/mechanism/weights/multiplicative_weights.h"

namespace tandem::mechanism {
namespace {

enum class Candidates { Larger, Supported, All };
enum class Output { Tail, Average, Last };
enum class Start { Public, Uniform };

struct Options {
  std::optional<int> rounds;
  Selection selection = Selection::Exponential;
  std::optional<double> select_share;
  Candidates candidates = Candidates::Larger;
  double step = 0.5;
  Replay replay = Replay::Fresh;
  Repeats repeats = Repeats::Average;
  Output output = Output::Tail;
  Start start = Start::Public;
  std::vector<double> public_weights;
  int max_model_mb = 4096;
};

// The share of a round's budget that selects. Rounds that are chosen as they go are few and can
// afford to look closely; T equal ones need their answers to be sharp as well.
double select_share(const Options& options) {
  return options.select_share.value_or(options.rounds ? 0.6 : 0.8);
}

// Public rows count as a tenth of their number against measurements (rounds=auto): had they been
// drawn from the private population they would count in full, and nobody knows that they were.
constexpr double kTrust = 0.1;

// Cells to select from hold at least this share of a selection's noise in the model. What others
// can be wrong by is lost in that noise, and there are many of them to be drawn by chance. Should
// one of them hold much of the private table, it shows in its marginal's larger cells.
constexpr double kSmallest = 1.0;
constexpr double kSmallestAuto = 0.75;  // there, good public data must not be made worse

// The first third of the rounds is on the way from the public data, and is not averaged.
constexpr int kWarmUp = 3;

// A_0, once everything that can be wrong with it has been looked at.
Support public_start(const Problem& problem, const Options& options) {
  require_questions(problem);
  if (!options.public_weights.empty() &&
      options.public_weights.size() != problem.public_data.tables.size()) {
    throw UsageError(fmt::format(
        TANDEM_SETTING("param.public-weights") " has {} numbers and there are {} public "
                                               "tables; give one for each.",
        options.public_weights.size(), problem.public_data.tables.size()));
  }
  double weight = options.public_weights.empty() ? 1.0 : 0.0;
  for (std::size_t i = 0; i < options.public_weights.size(); ++i) {
    if (problem.public_data.tables[i].table.rows() > 0) weight += options.public_weights[i];
  }
  if (weight == 0.0) {
    throw UsageError(
        TANDEM_SETTING("param.public-weights") " leaves no public row a weight; give one above 0.");
  }
  check_model_memory("mw-pub", problem.domain, problem.workload, problem.public_data.rows(),
                     options.max_model_mb, "raise it, or take fewer public rows or marginals");
  Support A_0 = public_rows(problem.public_data, options.public_weights);
  if (options.start == Start::Uniform) A_0.weights.assign(A_0.weights.size(), 1.0);
  return A_0;
}

MultiplicativeWeights start_from(Support A_0, const Problem& problem, const Options& options,
                                 double n, Threads threads) {
  std::vector<MultiplicativeWeights::Part> parts;
  parts.push_back({problem.domain.all(), std::move(A_0)});
  MultiplicativeWeights A(problem.domain, problem.workload, std::move(parts), n, threads);
  A.treat_repeats(options.repeats);
  if (options.candidates != Candidates::All) A.choose_among_larger(0.0);
  return A;
}

// Algorithm 1 with T rounds of equal cost.
void fixed_rounds(Curator& curator, MultiplicativeWeights& A, const Options& options, int T,
                  Release& release, Rng& rng) {
  if (T == 0) return;
  const auto [to_select, to_measure] = (curator.remaining() / T).split(select_share(options));
  if (options.candidates == Candidates::Larger) {
    A.choose_among_larger(kSmallest *
                          selection_noise(curator, A.errors(), to_select, options.selection));
  }
  const int warm_up = options.output == Output::Tail ? T / kWarmUp : 0;
  for (int t = 1; t <= T; ++t) {
    const CellChoice q = curator.select_cell(A.errors(), to_select, options.selection);
    release.measurements.push_back(curator.measure(A.query(q), to_measure));
    const std::size_t a = A.remember(q, release.measurements.back());
    update_and_replay(A, a, options.step, options.replay, rng);
    A.end_round(t > warm_up);
  }
  release.model = options.output == Output::Last ? A.last() : A.average();
}

void chosen_rounds(Curator& curator, MultiplicativeWeights& A, const Problem& problem,
                   const Options& options, Release& release) {
  const double expected =
      sampling_error(problem.public_data, problem.workload, A.n(), curator.threads());
  const RoundPlan plan =
      plan_rounds(curator, A.errors(), expected, A.n(), select_share(options), options.selection);
  auto measured =
      adaptive_rounds(curator, A, plan,
                      {.prior_rows = kTrust * problem.public_data.rows(),
                       .select_share = select_share(options),
                       .smallest = options.candidates == Candidates::Larger ? kSmallestAuto : 0.0,
                       .selection = options.selection});
  if (measured.empty()) {
    release.warnings.push_back(
        {"budget.too_small",
         "The budget is too small to tell whether the public data is wrong; the release is the "
         "public data."});
  }
  for (auto& a : measured) release.measurements.push_back(std::move(a));
  release.model = A.last();
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& rng) {
  Release release;
  release.warnings = public_data_warnings(problem);
  release.facts.set("public_row_share", 1.0);
  Support A_0 = public_start(problem, options);
  const double n = measure_total(curator, release);
  MultiplicativeWeights A = start_from(std::move(A_0), problem, options, n, curator.threads());
  if (options.rounds) {
    fixed_rounds(curator, A, options, *options.rounds, release, rng);
  } else {
    chosen_rounds(curator, A, problem, options, release);
    for (auto& warning : misfit_warnings(A)) release.warnings.push_back(std::move(warning));
  }
  if (!release.model) release.model = A.last();  // no round: the public data
  return release;
}

Effort effort_of(const Curator& /*curator*/, const Problem& problem, const Options& /*options*/,
                 double /*rows_expected*/) {
  return weighing_effort(problem, problem.public_data.rows());
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  const double public_rows = problem.public_data.rows();
  const MultiplicativeWeights A =
      start_from(public_start(problem, options), problem, options, public_rows, curator.threads());
  const LinearQuery cell = A.query({0, 0});
  Plan out;
  // A step of rounds that cost this share of the budget.
  const auto rounds_at = [&](double share, std::string sentence) {
    const auto [to_select, to_measure] = (curator.remaining() * share).split(select_share(options));
    const double selection = selection_noise(curator, A.errors(), to_select, options.selection);
    const double sigma = curator.noise_scale(cell, to_measure).value();
    sentence +=
        fmt::format(" each selection has noise of {:.4g} counts and each answer one of {:.4g}.",
                    selection, sigma);
    out.push_back(
        {"select",
         Document::object({{"candidates", static_cast<std::uint64_t>(problem.workload.queries())},
                           {"share_of_budget", share},
                           {"selection_noise", selection},
                           {"sigma", sigma}}),
         std::move(sentence)});
  };
  if (!options.rounds) {
    rounds_at(1.0 / 64.0,
              "Rounds start at 1/64 to 1/8 of the budget, by what the public data and n allow, and "
              "cost twice as much whenever what was found is within the noise: at 1/64,");
    const double error =
        sampling_error(problem.public_data, problem.workload, 1.0, curator.threads());
    out.push_back(
        {"start", Document::object({{"sampling_error", error}}),
         fmt::format("If the public data is a sample of the private population, its largest error "
                     "is about {:.2g} of all rows before the first round.",
                     error)});
  } else if (*options.rounds == 0) {
    out.push_back({"start", Document::object({{"rounds", 0}}),
                   "No round: the release is the public data and costs nothing."});
  } else {
    rounds_at(1.0 / *options.rounds,
              fmt::format("{} rounds, each of which selects one of {} cells and measures it:",
                          *options.rounds, with_commas(problem.workload.queries())));
    out.back().numbers.set("rounds", std::int64_t{*options.rounds});
  }
  out.push_back(plan_to_weigh(public_rows, weighing_effort(problem, public_rows).bytes));
  return out;
}

}  // namespace

Mechanism mw_pub() {
  return make_mechanism<Options>(
      {.name = "mw-pub",
       .summary = "Multiplicative weights on the rows of public data",
       .reference = "Liu, Vietri, Steinke, Ullman, Wu. Leveraging Public Data in Practical Private "
                    "Query Release. 2021.",
       .needs_public_data = true,
       .pure = true},
      run, plan,
      {field("rounds", &Options::rounds,
             "number of rounds T; auto: by public data, then by what was released",
             between(0, 1e5)),
       choice("selection", &Options::selection,
              {{"exponential", Selection::Exponential},
               {"permute-and-flip", Selection::PermuteAndFlip}},
              "how the worst cell is selected; the paper's is permute-and-flip"),
       field("select-share", &Options::select_share,
             "share of a round's budget that selects; auto: 0.8 with rounds=auto, else 0.6; the "
             "paper's is 0.5",
             between(0.01, 0.99)),
       choice("candidates", &Options::candidates,
              {{"larger", Candidates::Larger},
               {"supported", Candidates::Supported},
               {"all", Candidates::All}},
              "cells to select from: those the model gives more than noise, those with a public "
              "row, or all as in the paper"),
       field("step", &Options::step, "factor in the update's exponent, with a number of rounds",
             between(0.0, 100.0)),
       choice(
           "replay", &Options::replay,
           {{"fresh", Replay::Fresh},
            {"largest", Replay::Largest},
            {"stale", Replay::Stale},
            {"none", Replay::None}},
           "earlier answers applied again, with a number of rounds: those with half the newest's "
           "error; stale: as the authors' code; largest: those with half the largest error, as "
           "their later code"),
       choice("repeats", &Options::repeats,
              {{"average", Repeats::Average},
               {"replace", Repeats::Replace},
               {"never", Repeats::Never}},
              "answers of a cell that is measured again: their mean, or the newest as the authors; "
              "never: it is not selected again"),
       choice("output", &Options::output,
              {{"tail", Output::Tail}, {"average", Output::Average}, {"last", Output::Last}},
              "which distribution is released, with a number of rounds: the average of all but the "
              "first third, of all as in the paper, or the last"),
       choice("start", &Options::start, {{"public", Start::Public}, {"uniform", Start::Uniform}},
              "weights of the public rows at the start"),
       field("public-weights", &Options::public_weights,
             "a weight for each public table; auto: by its rows", between(0.0, 1e6)),
       field("max-model-mb", &Options::max_model_mb, "memory for rows and answers, in MB",
             between(1, 1e7))},
      effort_of,
      // The paper tunes T on other data; 100 is the middle of what it tries.
      {{"paper",
        {{"rounds", "100"},
         {"selection", "permute-and-flip"},
         {"select-share", "0.5"},
         {"candidates", "all"},
         {"step", "0.5"},
         {"replay", "fresh"},
         {"output", "average"}}},
       {"authors",
        {{"rounds", "100"},
         {"selection", "permute-and-flip"},
         {"select-share", "0.5"},
         {"candidates", "all"},
         {"step", "0.5"},
         {"replay", "stale"},
         {"repeats", "replace"},
         {"output", "average"}}}});
}

}  // namespace tandem::mechanism
