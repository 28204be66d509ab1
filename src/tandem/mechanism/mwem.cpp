// SPDX-License-Identifier: Apache-2.0
// MWEM: multiplicative weights over the whole domain, or a random part of it.
//   Hardt, Ligett, McSherry. A Simple and Practical Algorithm for Differentially Private Data
//   Release. 2012. Figure 1; and as the baseline of the MW-Pub paper.
//   Symbols: A distribution on rows of the domain, q a cell of the workload, a noisy answer, n
//   rows, T rounds. Departures: docs/mechanisms/mwem.md
#include <fmt/core.h>

#include <algorithm>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/mechanism/weights/multiplicative_weights.h"

namespace tandem::mechanism {
namespace {

// The rows that can have weight: all of the domain, or as many random ones.
struct Rows {
  std::optional<std::size_t> random;
};
void assign(Rows& rows, const std::string& name, const std::string& text, const Range& /*range*/) {
  rows.random.reset();
  if (text == "full") return;
  const auto count = text.starts_with("random:") ? parse_integer(text.substr(7)) : std::nullopt;
  if (!count || *count < 1 || *count > 1'000'000'000) {
    throw UsageError(fmt::format("{} is {}; expected full, or random:C for C rows.",
                                 setting("param." + std::string(name)), in_quotes(text)));
  }
  rows.random = static_cast<std::size_t>(*count);
}
std::string show(const Rows& rows) {
  return rows.random ? fmt::format("random:{}", *rows.random) : "full";
}
std::string type_of(const Rows& /*rows*/) { return "full or random:C"; }

enum class Variant { MwPub, Original };
enum class Output { Average, Last };
enum class Candidates { Supported, All };
enum class Start { Uniform, Noisy };

struct Options {
  int rounds = 100;
  Variant variant = Variant::MwPub;
  Rows support;
  Selection selection = Selection::Exponential;
  double select_share = 0.5;
  Candidates candidates = Candidates::Supported;
  double step = 2.0;
  Replay replay = Replay::Fresh;
  Repeats repeats = Repeats::Average;
  Output output = Output::Last;
  Start start = Start::Uniform;
  int max_model_mb = 4096;
};

constexpr double kStartShare = 0.1;  // of the budget for a noisy count of every row
// A count below so many standard deviations of noise says nothing of its row.
constexpr double kSaysSomething = 3.0;
constexpr double kLeastRest = 0.01;  // of n for all rows of which nothing is known

// What the rounds have.
Cost for_rounds(const Curator& curator, const Options& options) {
  if (options.start == Start::Uniform) return curator.remaining();
  return curator.remaining().split(kStartShare).second;
}

// Columns that no marginal ties together, directly or by way of others. As MWEM's
// authors note, a distribution for each group says all that the workload can ask.
std::vector<Clique> groups_of(const Problem& problem) {
  std::vector<Clique> groups;
  for (AttributeId id = 0; id < problem.domain.size(); ++id) groups.push_back(Clique{id});
  for (const auto& [clique, weight] : problem.workload.cliques()) {
    Clique merged = clique;
    std::erase_if(groups, [&merged, &clique = clique](const Clique& group) {
      if (intersect(group, clique).empty()) return false;
      merged = join(merged, group);
      return true;
    });
    groups.push_back(std::move(merged));
  }
  std::erase_if(groups, [](const Clique& group) { return group.empty(); });
  std::ranges::sort(groups);
  return groups;
}

// How many rows all groups have together. UsageError when they are too many to keep.
double checked_rows(const Problem& problem, const Options& options) {
  double rows = 0.0;
  for (const auto& group : groups_of(problem)) {
    double cells = problem.domain.about_cells(group);
    if (options.support.random)
      cells = std::min(cells, static_cast<double>(*options.support.random));
    rows += cells;
  }
  check_model_memory("mwem", problem.domain, problem.workload, rows, options.max_model_mb,
                     "choose mw-pub, which keeps public rows only, or aim, or " TANDEM_SETTING(
                         "param.support") "=random:10000");
  if (rows >= 0x1p32) {
    throw UsageError("mwem keeps fewer than 2^32 rows; choose mw-pub or aim, or " TANDEM_SETTING(
        "param.support") "=random:10000.");
  }
  return rows;
}

void check_start(const Options& options) {
  if (options.start == Start::Uniform || !options.support.random) return;
  throw UsageError(TANDEM_SETTING("param.start") "=noisy counts every row of the domain; choose " TANDEM_SETTING("param.support") "=full, or "
      "start=uniform.");
}

// Weights by noisy counts of all rows: those that are more than noise as they are, what is left of
// n evenly on the others.
void start_noisily(Curator& curator, std::vector<MultiplicativeWeights::Part>& parts, double n,
                   Release& release) {
  std::vector<LinearQuery> everything;
  for (const auto& part : parts) everything.push_back({part.group});
  const Cost cost = curator.remaining().split(kStartShare).first;
  auto counted = curator.measure_all(everything, cost);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& counts = counted[i].values;
    const double least = kSaysSomething * counted[i].sigma.value();
    double kept = 0.0;
    double others = 0.0;
    for (const double count : counts)
      (count > least ? kept : others) += count > least ? count : 1.0;
    const double other = std::max(n - kept, kLeastRest * n) / std::max(others, 1.0);
    for (std::size_t row = 0; row < counts.size(); ++row) {
      parts[i].support.weights[row] = counts[row] > least ? counts[row] : other;
    }
  }
  for (auto& measurement : counted) release.measurements.push_back(std::move(measurement));
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& rng) {
  require_questions(problem);
  checked_rows(problem, options);
  check_start(options);
  Release release;
  const double n = measure_total(curator, release);
  std::vector<MultiplicativeWeights::Part> parts;
  for (const auto& group : groups_of(problem)) {
    const Domain domain = domain_of_group(problem.domain, group);
    parts.push_back({group, options.support.random
                                ? random_rows(domain, *options.support.random, rng)
                                : whole_domain(domain)});
  }
  const Cost rounds = for_rounds(curator, options);
  if (options.start == Start::Noisy) start_noisily(curator, parts, n, release);
  MultiplicativeWeights A(problem.domain, problem.workload, std::move(parts), n, curator.threads());
  if (options.candidates == Candidates::Supported) A.choose_among_larger(0.0);
  A.treat_repeats(options.repeats);

  const bool original = options.variant == Variant::Original;
  const NoiseKind noise =
      original || curator.currency() == Currency::Pure ? NoiseKind::Laplace : NoiseKind::Gaussian;
  const auto [to_select, to_measure] = (rounds / options.rounds).split(options.select_share);
  for (int t = 1; t <= options.rounds; ++t) {
    const CellChoice q = curator.select_cell(A.errors(), to_select, options.selection);
    release.measurements.push_back(curator.measure(A.query(q), to_measure, noise));
    const std::size_t a = A.remember(q, release.measurements.back());
    update_and_replay(A, a, options.step, original ? Replay::None : options.replay, rng);
    A.end_round();
  }
  release.model = options.output == Output::Average ? A.average() : A.last();
  return release;
}

Effort effort_of(const Curator& /*curator*/, const Problem& problem, const Options& options,
                 double /*rows_expected*/) {
  return weighing_effort(problem, checked_rows(problem, options));
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  require_questions(problem);
  const double rows = checked_rows(problem, options);
  check_start(options);
  const auto groups = groups_of(problem);
  const auto& clique = problem.workload.cliques().front().clique;
  const LinearQuery cell{clique, LinearMap::rows({{{0, 1}}}, problem.domain.cells(clique))};
  const Cost to_measure =
      (for_rounds(curator, options) / options.rounds).split(options.select_share).second;
  const double sigma = curator.noise_scale(cell, to_measure).value();
  PlanStep keeps = plan_to_weigh(rows, weighing_effort(problem, rows).bytes);
  keeps.numbers.set("groups", static_cast<std::uint64_t>(groups.size()));
  if (groups.size() > 1) {
    keeps.sentence += fmt::format(" They are in {} groups of columns.", groups.size());
  }
  return {plan_rounds_of_cells(options.rounds, problem.workload.queries(), sigma),
          std::move(keeps)};
}

}  // namespace

Mechanism mwem() {
  return make_mechanism<Options>(
      {.name = "mwem",
       .summary = "Multiplicative weights on the whole domain, for small ones",
       .reference = "Hardt, Ligett, McSherry. A Simple and Practical Algorithm for Differentially "
                    "Private Data Release. 2012.",
       .needs_public_data = false,
       .pure = true},
      run, plan,
      {field("rounds", &Options::rounds, "number of rounds T", between(1, 1e5)),
       choice("variant", &Options::variant,
              {{"mw-pub", Variant::MwPub}, {"original", Variant::Original}},
              "Gaussian noise and replay as in the MW-Pub paper, or Laplace noise and no replay"),
       field("support", &Options::support, "rows that can have weight"),
       choice("selection", &Options::selection,
              {{"exponential", Selection::Exponential},
               {"permute-and-flip", Selection::PermuteAndFlip}},
              "how the worst cell is selected"),
       field("select-share", &Options::select_share, "share of a round's budget that selects",
             between(0.01, 0.99)),
       choice(
           "candidates", &Options::candidates,
           {{"supported", Candidates::Supported}, {"all", Candidates::All}},
           "cells to select from: those with a row that can have weight, or all as in the papers"),
       field("step", &Options::step, "factor in the update's exponent; the papers' is 0.5",
             between(0.0, 100.0)),
       choice("replay", &Options::replay,
              {{"fresh", Replay::Fresh},
               {"largest", Replay::Largest},
               {"stale", Replay::Stale},
               {"none", Replay::None}},
              "earlier answers applied again, with variant=mw-pub: those with half "
              "the newest's error; stale: as the authors' code; largest: those with half the "
              "largest error, as their later code"),
       choice("repeats", &Options::repeats,
              {{"average", Repeats::Average},
               {"replace", Repeats::Replace},
               {"never", Repeats::Never}},
              "answers of a cell that is measured again: their mean, or the newest as the authors; "
              "never: it is not selected again"),
       choice("output", &Options::output, {{"average", Output::Average}, {"last", Output::Last}},
              "which distribution is released; the papers' is average"),
       choice(
           "start", &Options::start, {{"uniform", Start::Uniform}, {"noisy", Start::Noisy}},
           "weights at the start: all alike, or by a noisy count of every row of the domain, for a "
           "tenth of the budget"),
       field("max-model-mb", &Options::max_model_mb, "memory for rows and answers, in MB",
             between(1, 1e7))},
      effort_of,
      // Hardt et al. show T = 10; the others are those who ran it as the baseline of MW-Pub.
      {{"paper",
        {{"rounds", "10"},
         {"variant", "original"},
         {"candidates", "all"},
         {"step", "0.5"},
         {"repeats", "replace"},
         {"output", "average"}}},
       {"authors",
        {{"rounds", "200"},
         {"candidates", "all"},
         {"step", "0.5"},
         {"replay", "largest"},
         {"repeats", "never"},
         {"output", "last"}}}});
}

}  // namespace tandem::mechanism
