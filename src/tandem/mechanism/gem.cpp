// SPDX-License-Identifier: Apache-2.0
// GEM and GEM-Pub: a generator fitted to the marginals that it got most wrong.
//   Liu, Vietri, Wu. Iterative Methods for Private Synthetic Data: Unifying Framework and New
//   Methods. 2021. Algorithm 2 and section 5.
//   Symbols: G generator of K rows of distributions, q marginal, a its noisy answer, n rows, T
//   rounds, alpha how a round is divided, gamma share of the largest error.
//   Departures from the paper: docs/mechanisms/gem.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/candidates.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/model/generator/generated_rows.h"
#include "tandem/query/counting.h"

namespace tandem::mechanism {
namespace {

enum class Kind { Auto, Network, Rows };

struct Options {
  std::optional<int> rounds;
  double alpha = 0.33;
  Kind generator = Kind::Auto;
  int rows = 300;
  std::vector<double> hidden = {256, 256};
  int inputs = 64;
  std::optional<double> learning_rate;
  int steps = 20;
  int final_steps = 200;
  double threshold = 0.0;  // gamma
  std::optional<double> tolerance;
  bool clip = true;
  double averaging = 0.5;
  bool afresh = false;
  double max_model_mb = 16.0;
  int public_steps = 1000;  // the last three: of gem-pub
  std::optional<double> public_rate;
  int public_cells = 40'000;
};

constexpr double kTotalShare = 0.01;  // of the budget for n, where it is not public
constexpr double kErrorDecay = 0.5;   // of the average of the largest errors, as in the paper
// Rounds that the budget would last if none were too noisy, with rounds=auto: the paper's T on
// ADULT.
constexpr int kMostRounds = 50;
constexpr double kUsualRounds = 25.0;
constexpr double kAnnealing = 4.0;  // of a round's cost, when the last one taught nothing

constexpr float kStartDeviation = 1.0F;  // of the logits of free rows
constexpr double kOwnCode = 0.9;  // probability of a public row's own code at the start of its row
// Steps on the same public marginals. More of them follow these at the cost of all others.
constexpr int kStepsOfTurn = 5;
// Of the thousand cells of a marginal few are off by more than this many standard deviations of
// noise, so that it does not spoil public data that is right.
constexpr double kPublicTolerance = 3.0;
constexpr float kRuleWeight = 30.0F;  // of what cannot occur, beside 1 of the best answer
constexpr double kMostCellsOfCandidate = 0x1p20;              // some seconds of training each
constexpr std::size_t kMostRuleCells = std::size_t{1} << 20;  // of tables of what cannot occur

// Measured on ADULT, one thread.
constexpr double kSecondsPerMultiplication = 5e-11;  // of matrix products
constexpr double kSecondsPerLogit = 1e-8;            // of a step: softmax, Adam
constexpr double kBytesPerAnswer = 36.0;  // of a round: in single and double, cells, true counts
constexpr double kBytesPerPublic = 24.0;  // counts, proportions, answers
constexpr double kBytesPerMeasured = 32.0;

double select_share(const Options& options) {
  const double select = options.alpha * options.alpha;
  const double measure = (1.0 - options.alpha) * (1.0 - options.alpha);
  return select / (select + measure);
}

// As many rows as asked for, or as the released model has room for.
std::size_t K_of(const Domain& domain, const Options& options) {
  const double row = sizeof(double) * static_cast<double>(CodeLayout(domain).codes);
  const double room = std::floor(options.max_model_mb * 1e6 / row);
  return static_cast<std::size_t>(std::clamp(room, 1.0, static_cast<double>(options.rows)));
}

NetworkShape shape_of(const Domain& domain, const Options& options) {
  NetworkShape shape{.rows = K_of(domain, options),
                     .inputs = static_cast<std::size_t>(options.inputs),
                     .hidden = {},
                     .codes = CodeLayout(domain).codes};
  for (const double width : options.hidden) shape.hidden.push_back(static_cast<std::size_t>(width));
  return shape;
}

// Codes that a rule on a single column excludes.
std::vector<char> impossible_codes(const Problem& problem) {
  const CodeLayout layout(problem.domain);
  std::vector<char> out(layout.codes, 0);
  for (const auto& box : problem.impossible) {
    if (box.sides.size() != 1) continue;
    const auto& [attribute, codes] = box.sides.front();
    for (std::size_t code = 0; code < codes.size(); ++code) {
      if (codes[code]) out[layout.first[attribute] + code] = 1;
    }
  }
  return out;
}

// What rules on several columns exclude, as marginals that are zero there and unknown elsewhere. No
// row of a generator can exclude them, so it learns them like answers.
std::vector<MarginalTarget> rules_of(const Problem& problem) {
  std::vector<MarginalTarget> out;
  std::size_t used = 0;
  for (const auto& box : problem.impossible) {
    if (box.sides.size() < 2) continue;
    std::vector<AttributeId> ids;
    for (const auto& side : box.sides) ids.push_back(side.attribute);
    const Clique clique(std::move(ids));
    if (problem.domain.about_cells(clique) > static_cast<double>(kMostRuleCells - used)) continue;
    auto known = std::ranges::find(out, clique, &MarginalTarget::clique);
    if (known == out.end()) {
      const std::size_t cells = problem.domain.cells(clique);
      used += cells;
      out.push_back({.clique = clique,
                     .values = std::vector<float>(cells, std::numeric_limits<float>::quiet_NaN()),
                     .weight = kRuleWeight});
      known = out.end() - 1;
    }
    for (std::size_t cell = 0; cell < known->values.size(); ++cell) {
      bool inside = true;
      std::size_t rest = cell;
      for (std::size_t i = clique.size(); i-- > 0;) {
        const std::size_t size = problem.domain[clique[i]].size;
        const auto side = std::ranges::find(box.sides, clique[i], &ImpossibleBox::Side::attribute);
        inside = inside && side->codes[rest % size];
        rest /= size;
      }
      if (inside) known->values[cell] = 0.0F;
    }
  }
  return out;
}

// Logits of rows that begin as rows of the public data.
Floats logits_of_public_rows(const Problem& problem, std::size_t K, Rng& rng) {
  const CodeLayout layout(problem.domain);
  Floats out(K * layout.codes);
  std::vector<std::pair<std::size_t, std::size_t>> places;  // table and row
  const auto& tables = problem.public_data.tables;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    for (std::size_t r = 0; r < tables[t].table.rows(); ++r) places.emplace_back(t, r);
  }
  rng.shuffle(std::span(places));
  for (std::size_t k = 0; k < K; ++k) {
    const auto [t, r] = places[k % places.size()];
    for (AttributeId id = 0; id < problem.domain.size(); ++id) {
      const double other = (1.0 - kOwnCode) / static_cast<double>(layout.size[id]);
      const Code own = tables[t].table.column(id)[r];
      for (std::size_t code = 0; code < layout.size[id]; ++code) {
        const double share = other + (code == own ? kOwnCode : 0.0);
        out[(layout.first[id] + code) * K + k] = static_cast<float>(std::log(share));
      }
    }
  }
  return out;
}

// What the model has instead of all rows that were asked for is told.
void tell_rows(const Problem& problem, const Options& options, Release& release) {
  const std::size_t K = K_of(problem.domain, options);
  release.facts.set("generated_rows", static_cast<std::uint64_t>(K));
  if (K == static_cast<std::size_t>(options.rows)) return;
  release.warnings.push_back(
      {"model.fewer_rows",
       fmt::format("The model has {} rows of distributions and not {}, which do not fit in "
                   "max-model-mb {:g}; raise it, or ask for fewer.",
                   with_commas(K), with_commas(static_cast<std::uint64_t>(options.rows)),
                   options.max_model_mb)});
}

GeneratedRows start_rows(const Problem& problem, const Options& options, bool from_public, Rng& rng,
                         const Threads& threads) {
  const std::size_t K = K_of(problem.domain, options);
  std::unique_ptr<Generator> generator;
  if (options.generator == Kind::Network) {
    generator = network_generator(shape_of(problem.domain, options), rng);
  } else {
    const std::size_t codes = CodeLayout(problem.domain).codes;
    generator = rows_generator(from_public ? logits_of_public_rows(problem, K, rng)
                                           : normal_numbers(K * codes, kStartDeviation, rng));
  }
  return GeneratedRows(problem.domain, std::move(generator), K, impossible_codes(problem), threads);
}

// Marginals of the workload that can teach something; of one with too many cells, its columns.
std::vector<Clique> candidates_of(const Problem& problem) {
  std::set<Clique> columns;
  std::vector<Clique> large;
  for (const auto& [clique, weight] : problem.workload.cliques()) {
    if (problem.domain.about_cells(clique) <= kMostCellsOfCandidate) {
      if (problem.domain.cells(clique) > 1) large.push_back(clique);
      continue;
    }
    for (const auto id : clique) {
      if (problem.domain[id].size > 1) columns.insert(Clique{id});
    }
  }
  for (const auto& clique : large) columns.erase(clique);
  std::vector<Clique> out(columns.begin(), columns.end());
  out.insert(out.end(), large.begin(), large.end());
  return out;
}

// Whether the rounds can measure every pair of the workload's columns once. Where they can't, a
// network that is trained on some pairs makes up relations of all others; free rows do not.
bool reach_all_pairs(const Problem& problem, int rounds) {
  std::set<Clique> pairs;
  double held = 0.0;  // by all candidates
  const auto candidates = candidates_of(problem);
  for (const auto& clique : candidates) {
    for (std::size_t j = 1; j < clique.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) pairs.insert({clique[i], clique[j]});
      held += static_cast<double>(j);
    }
  }
  const auto all = static_cast<double>(candidates.size());
  return rounds * held >= static_cast<double>(pairs.size()) * all;
}

// What is left to us. From public data, free rows are as accurate as the network in a quarter of
// the time, and steps are a third as long: Adam's are as long as its rate says however little is
// wrong.
Options settled(const Problem& problem, Options options, bool from_public) {
  if (options.generator == Kind::Auto) {
    const int rounds = options.rounds.value_or(kMostRounds);
    options.generator =
        !from_public && reach_all_pairs(problem, rounds) ? Kind::Network : Kind::Rows;
  }
  const bool network = options.generator == Kind::Network;
  if (!options.learning_rate) {
    options.learning_rate = from_public ? (network ? 1e-3 : 0.03) : (network ? 3e-3 : 0.1);
  }
  if (!options.public_rate) options.public_rate = network ? 5e-3 : 0.1;
  if (!options.tolerance) options.tolerance = from_public ? kPublicTolerance : 0.0;
  return options;
}

// Those that a round looks at, out of those not yet measured; of all when none is left.
std::vector<Clique> offered_now(std::span<const Clique> candidates, std::vector<char>& measured,
                                const Domain& domain, Rng& rng) {
  if (std::ranges::find(measured, 0) == measured.end()) std::ranges::fill(measured, 0);
  std::vector<Clique> left;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (measured[i] == 0) left.push_back(candidates[i]);
  }
  const auto all = [](std::span<const Clique> cliques) {
    return std::vector<char>(cliques.size(), 1);
  };
  return offered(left, domain, all, rng);
}

MarginalTarget target_of(const Measurement& a, double n, double tolerance, bool clip) {
  MarginalTarget out{.clique = a.query.clique, .values = {}};
  for (const double value : a.values) {
    const double share = value / n;
    out.values.push_back(static_cast<float>(clip ? std::clamp(share, 0.0, 1.0) : share));
  }
  out.tolerance = static_cast<float>(tolerance * a.sigma.value() / n);
  return out;
}

// Answers weigh by their precision.
void weigh(std::vector<MarginalTarget>& targets, std::span<const Measurement> a,
           std::size_t rules) {
  double least = HUGE_VAL;
  for (const auto& answer : a) least = std::min(least, answer.sigma.value());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double ratio = a[i].sigma.value() > 0.0 ? least / a[i].sigma.value() : 1.0;
    targets[rules + i].weight = static_cast<float>(ratio * ratio);
  }
}

double largest_difference(std::span<const double> answer, std::span<const float> target) {
  double largest = 0.0;
  for (std::size_t c = 0; c < answer.size(); ++c) {
    largest = std::max(largest, std::abs(answer[c] - static_cast<double>(target[c])));
  }
  return largest;
}

// The largest error of all that was measured, which gamma is a share of.
double largest_difference(GeneratedRows& G, std::span<const MarginalTarget> targets) {
  std::vector<Clique> cliques;
  for (const auto& target : targets) cliques.push_back(target.clique);
  const auto answers = G.project_all(cliques, 1.0);
  double largest = 0.0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    largest = std::max(largest, largest_difference(answers[i].values, targets[i].values));
  }
  return largest;
}

// The rounds, from a generator that may know public data.
void fit_rounds(Curator& curator, const Problem& problem, const Options& options, GeneratedRows& G,
                Release& release, Rng& rng) {
  const double n = release.total;
  const auto candidates = candidates_of(problem);
  std::vector<char> measured(candidates.size(), 0);
  std::vector<MarginalTarget> targets = rules_of(problem);
  const std::size_t rules = targets.size();
  std::vector<Measurement> a;
  double threshold = 0.0;  // gamma times the average of the largest errors
  const auto train = [&](int steps) {
    G.fit(targets, {.most = steps,
                    .rate = *options.learning_rate,
                    .threshold = threshold,
                    .afresh = options.afresh});
  };
  const int T = options.rounds.value_or(std::numeric_limits<int>::max());
  Cost round = curator.remaining() / std::max(1, options.rounds.value_or(kMostRounds));

  for (int t = 1; t <= T && !curator.remaining().is_zero(); ++t) {
    const bool last = options.rounds ? t == T : curator.remaining() < round * 2.0;
    if (last) round = curator.remaining();
    const auto [to_select, to_measure] = round.split(select_share(options));

    // Select: the marginal with the largest error of a cell.
    const auto C = offered_now(candidates, measured, problem.domain, rng);
    auto answers = G.project_all(C, n);
    std::vector<Candidate> scored;
    for (auto& answer : answers) {
      const Clique clique = answer.clique;
      std::vector<std::size_t> cells(answer.values.size());
      std::iota(cells.begin(), cells.end(), std::size_t{0});
      scored.push_back(
          {clique, Origin::Private, largest_error(std::move(answer), std::move(cells))});
    }
    const Clique q = C[curator.select(scored, to_select)];
    scored.clear();

    // Measure all of it.
    a.push_back(curator.measure({q}, last ? curator.remaining() : to_measure));
    measured[static_cast<std::size_t>(std::ranges::find(candidates, q) - candidates.begin())] = 1;
    targets.push_back(target_of(a.back(), n, *options.tolerance, options.clip));
    weigh(targets, a, rules);
    const double error = largest_difference(G, std::span(&targets.back(), 1));

    // Update.
    if (options.threshold > 0.0) {
      const auto answered = std::span(targets).subspan(rules);
      const double now = options.threshold * largest_difference(G, answered);
      threshold = t == 1 ? now : kErrorDecay * threshold + (1.0 - kErrorDecay) * now;
    }
    train(options.steps);
    const bool late = !options.rounds || 2 * t > T;
    if (late && options.averaging > 0.0) G.average_in(options.averaging);

    // What was selected is no further off than noise may make it, so look closer.
    const double noise =
        a.back().sigma.value() *
        std::sqrt(2.0 * std::log(2.0 * static_cast<double>(a.back().values.size())));
    if (!options.rounds && error * n <= noise) round = round * kAnnealing;
  }
  G.take_average();
  train(options.final_steps);
  release.measurements.insert(release.measurements.end(), std::make_move_iterator(a.begin()),
                              std::make_move_iterator(a.end()));
  release.model = G.model(n);
}

Release run(Curator& curator, const Problem& problem, const Options& given, Rng& rng) {
  require_questions(problem);
  const Options options = settled(problem, given, false);
  Release release;
  tell_rows(problem, options, release);
  measure_total(curator, release, kTotalShare);
  GeneratedRows G = start_rows(problem, options, false, rng, curator.threads());
  fit_rounds(curator, problem, options, G, release, rng);
  return release;
}

void require_public_rows(const Problem& problem) {
  if (problem.public_data.rows() > 0.0) return;
  throw UsageError("gem-pub: the public data has no rows; give some.");
}

// Marginals of all public tables together, as proportions.
std::vector<MarginalTarget> public_targets(const Problem& problem, std::span<const Clique> cliques,
                                           const Threads& threads) {
  std::vector<MarginalTarget> out;
  for (const auto& clique : cliques) {
    out.push_back(
        {.clique = clique, .values = std::vector<float>(problem.domain.cells(clique), 0.0F)});
  }
  const double rows = problem.public_data.rows();
  for (const auto& [name, table] : problem.public_data.tables) {
    const auto counts = count_marginals(table, cliques, threads);
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (std::size_t c = 0; c < out[i].values.size(); ++c) {
        out[i].values[c] += static_cast<float>(counts[i].values[c] / rows);
      }
    }
  }
  return out;
}

void fit_public(const Problem& problem, const Options& options, GeneratedRows& G, Rng& rng,
                const Threads& threads) {
  const auto candidates = candidates_of(problem);
  std::vector<char> none(candidates.size(), 0);
  const auto cliques = offered_now(candidates, none, problem.domain, rng);
  G.fit_in_turns(public_targets(problem, cliques, threads),
                 static_cast<std::size_t>(options.public_cells),
                 (options.public_steps + kStepsOfTurn - 1) / kStepsOfTurn,
                 {.most = kStepsOfTurn, .rate = *options.public_rate, .threshold = 0.0}, rng);
}

Release run_public(Curator& curator, const Problem& problem, const Options& given, Rng& rng) {
  require_questions(problem);
  const Options options = settled(problem, given, true);
  require_public_rows(problem);
  Release release;
  tell_rows(problem, options, release);
  measure_total(curator, release, kTotalShare);
  GeneratedRows G = start_rows(problem, options, true, rng, curator.threads());
  if (options.public_steps > 0) fit_public(problem, options, G, rng, curator.threads());
  fit_rounds(curator, problem, options, G, release, rng);
  return release;
}

Effort effort_with(const Problem& problem, const Options& given, bool from_public) {
  const Options options = settled(problem, given, from_public);
  const RoundLimit limit;
  double all_cells = 0.0;
  double marginals = 0.0;
  for (const auto& clique : candidates_of(problem)) {
    all_cells += problem.domain.about_cells(clique);
    marginals += 1.0;
  }
  if (marginals == 0.0) return {};
  const double cells = std::min(all_cells, static_cast<double>(limit.cells));
  const auto K = static_cast<double>(K_of(problem.domain, options));
  const auto codes = static_cast<double>(CodeLayout(problem.domain).codes);
  const double rounds = std::min(options.rounds ? *options.rounds : kUsualRounds, 1e6);
  const double each = std::min(marginals, static_cast<double>(limit.candidates));
  const double of_measured = rounds * cells / each;  // cells of all that is measured
  const NetworkShape shape = shape_of(problem.domain, options);
  const bool network = options.generator == Kind::Network;
  const double parameters = network ? static_cast<double>(shape.parameters()) : K * codes;

  Effort out;
  out.model_bytes = sizeof(double) * K * codes;
  out.bytes = generated_rows_bytes(parameters, K, codes) + 2.0 * out.model_bytes +
              (network ? shape.bytes() : sizeof(float) * K * codes) + kBytesPerAnswer * cells +
              kBytesPerMeasured * of_measured + (from_public ? kBytesPerPublic * cells : 0.0);
  const auto step = [&](double measured) {
    return kSecondsPerMultiplication *
               ((network ? shape.multiplications() : 0.0) + 3.0 * K * measured) +
           kSecondsPerLogit * (parameters + K * codes);
  };
  out.seconds =
      rounds * (options.steps * step(of_measured / 2.0) + kSecondsPerMultiplication * K * cells) +
      options.final_steps * step(of_measured);
  if (from_public) {
    out.seconds += options.public_steps * (step(std::min<double>(cells, options.public_cells)) +
                                           kSecondsPerMultiplication * K * cells / kStepsOfTurn);
  }
  return out;
}

Effort effort_of(const Curator& /*curator*/, const Problem& problem, const Options& options,
                 double /*rows_expected*/) {
  return effort_with(problem, options, false);
}
Effort effort_public(const Curator& /*curator*/, const Problem& problem, const Options& options,
                     double /*rows_expected*/) {
  return effort_with(problem, options, true);
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options) {
  require_questions(problem);
  const auto candidates = candidates_of(problem);
  const int T = options.rounds.value_or(kMostRounds);
  if (T == 0) {
    return {{"start", Document::object({{"rounds", 0}}),
             "No round: the release is fitted to the public data and costs nothing."}};
  }
  const auto [to_select, to_measure] = (curator.remaining() / T).split(select_share(options));
  const double sigma = curator.noise_scale({candidates.front()}, to_measure).value();
  const auto marginals = with_commas(candidates.size());
  std::string sentence = fmt::format(
      "{} rounds, each of which selects one of {} marginals and measures it with noise of standard "
      "deviation {:.4g}.",
      T, marginals, sigma);
  if (!options.rounds) {
    sentence = fmt::format(
        "At most {} rounds, each of which selects one of {} marginals and measures it, at first "
        "with noise of standard deviation {:.4g}; whenever what was selected is within the noise, "
        "a round costs four times as much.",
        T, marginals, sigma);
  }
  return {{"select",
           Document::object({{"candidates", static_cast<std::uint64_t>(candidates.size())},
                             {"rounds", std::int64_t{T}},
                             {options.rounds ? "sigma" : "sigma_at_most", sigma}}),
           std::move(sentence)}};
}

Plan plan_public(const Curator& curator, const Problem& problem, const Options& options) {
  require_public_rows(problem);
  Plan out = {{"start", Document::object({{"from_public_data", true}}),
               "Starts from a generator that is fitted to the public marginals."}};
  for (auto& step : plan(curator, problem, options)) out.push_back(std::move(step));
  return out;
}

// Beside numbers there is a word for no block at all.
Field<Options> widths_field() {
  constexpr const char* kNone = "none";
  auto out =
      field("hidden", &Options::hidden,
            "width of each block of the network; none: no block; auto: 256,256", between(1, 1e5));
  out.info.type = std::string(kNone) + ", " + out.info.type;
  out.set = [numbers = out.set](Options& options, const std::string& text) {
    if (text == kNone) {
      options.hidden.clear();
    } else if (text == "auto") {
      options.hidden = Options().hidden;
    } else {
      numbers(options, text);
    }
  };
  out.get = [numbers = out.get](const Options& options) {
    return options.hidden.empty() ? kNone : numbers(options);
  };
  return out;
}

std::vector<Field<Options>> shared_fields(int fewest_rounds) {
  return {
      field("rounds", &Options::rounds,
            "number of rounds T; auto: up to 50, fewer where what was released is mostly noise",
            between(fewest_rounds, 1e5)),
      field("alpha", &Options::alpha,
            "how a round is divided: alpha^2 selects and (1 - alpha)^2 measures, of their sum; the "
            "papers' is 0.67",
            between(0.01, 0.99)),
      choice(
          "generator", &Options::generator,
          {{"auto", Kind::Auto}, {"network", Kind::Network}, {"rows", Kind::Rows}},
          "what makes the rows: the paper's network, or free numbers for each of them; auto: rows "
          "with public data, and where there are more pairs of columns than the rounds measure; "
          "otherwise the network"),
      field("rows", &Options::rows, "rows K that the generator makes; the papers' are 1000",
            between(1, 1e6)),
      widths_field(),
      field("inputs", &Options::inputs, "columns of noise that the network starts from",
            between(1, 1e5)),
      field("learning-rate", &Options::learning_rate,
            "of Adam at the start of a round; auto: 0.003 for a network, 0.1 for rows, and a third "
            "of "
            "that with public data; the paper's is 0.0001",
            between(1e-8, 100.0)),
      field("steps", &Options::steps, "most steps of training in a round; the paper's are 100",
            between(0, 1e6)),
      field("final-steps", &Options::final_steps,
            "most steps of training after the last round; the paper has none", between(0, 1e6)),
      field("threshold", &Options::threshold,
            "gamma: cells count whose error is above this share of the largest; the paper's is 0.5",
            between(0.0, 1.0)),
      field("tolerance", &Options::tolerance,
            "errors count by what they are above so many standard deviations of noise; auto: 0, "
            "and 3 with public data; the paper's is 0",
            between(0.0, 100.0)),
      field("clip", &Options::clip, "measured counts are moved to between 0 and n"),
      field("averaging", &Options::averaging,
            "weight of a round's parameters in their average over the last half of the rounds; 0: "
            "the last round's; the paper's is 0.1",
            between(0.0, 1.0)),
      field("afresh", &Options::afresh,
            "Adam forgets in each round what former rounds taught it; so in the authors' code"),
      field("max-model-mb", &Options::max_model_mb,
            "largest model, in megabytes: fewer rows where they would not fit", at_least(0.001))};
}

// The paper's settings; gem-pub's are these and two of its own.
Parameters printed() {
  return {{"rounds", "50"},
          {"alpha", "0.67"},
          {"generator", "network"},
          {"rows", "1000"},
          {"inputs", "512"},
          {"hidden", "512,1024,1024"},
          {"learning-rate", "0.0001"},
          {"steps", "100"},
          {"final-steps", "0"},
          {"threshold", "0.5"},
          {"tolerance", "0"},
          {"averaging", "0.1"},
          {"afresh", "true"},
          {"max-model-mb", "100"}};
}

constexpr const char* kReference =
    "Liu, Vietri, Wu. Iterative Methods for Private Synthetic Data: Unifying Framework and New "
    "Methods. 2021.";

}  // namespace

Mechanism gem() {
  return make_mechanism<Options>(
      {.name = "gem",
       .summary = "Rows of distributions trained on the marginals that they get most wrong",
       .reference = kReference},
      run, plan, shared_fields(1), effort_of, {{"paper", printed()}});
}

Mechanism gem_pub() {
  auto fields = shared_fields(0);
  fields.push_back(field("public-steps", &Options::public_steps,
                         "steps of training on public marginals; the paper's are up to 5000",
                         between(0, 1e6)));
  fields.push_back(field("public-rate", &Options::public_rate,
                         "learning rate there; auto: 0.005 for a network, 0.1 for rows; the "
                         "paper's is 0.0005",
                         between(1e-8, 100.0)));
  fields.push_back(field("public-cells", &Options::public_cells,
                         "cells of public marginals that a step looks at; the paper's are 10000",
                         between(1, 1e8)));
  auto as_printed = printed();
  as_printed.emplace_back("public-steps", "5000");
  as_printed.emplace_back("public-rate", "0.0005");
  as_printed.emplace_back("public-cells", "10000");
  Mechanism out = make_mechanism<Options>({.name = "gem-pub",
                                           .summary = "The same, trained on public marginals first",
                                           .reference = kReference,
                                           .needs_public_data = true},
                                          run_public, plan_public, fields, effort_public,
                                          {{"paper", as_printed}});
  out.rehearsed = {{"public-steps", "0"}};
  return out;
}

}  // namespace tandem::mechanism
