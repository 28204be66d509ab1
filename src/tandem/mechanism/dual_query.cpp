// SPDX-License-Identifier: Apache-2.0
// DualQuery: draw the queries that the records so far get wrong, and answer with the record that
// does best on them.
//   Gaboardi, Gallego Arias, Hsu, Roth, Wu. Dual Query: Practical Private Query Release for High
//   Dimensional Data. 2014. Algorithm 1.
//   Symbols: Q conjunctions and their negations, x records, c_q how many records fulfil q, T
//   rounds, eta rate, s draws a round, n rows. Departures: docs/mechanisms/dual_query.md
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/dual/conjunction_queries.h"
#include "tandem/mechanism/dual/dual_parameters.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/model/records_model.h"
#include "tandem/optimize/max_csp.h"

namespace tandem::mechanism {
namespace {

enum class Free { Zero, Random };
enum class Rule { Default, Theorem };

struct Options {
  std::optional<int> rounds;
  std::optional<double> rate;
  std::optional<int> draws;
  Rule parameters = Rule::Default;
  double beta = 0.05;
  DualAccounting accounting = DualAccounting::Filter;
  double accounting_delta = 0.001;
  CspSolver solver = CspSolver::Local;
  bool one_hot = true;
  Free free = Free::Random;
};

// Above this, a noisy number of rows prefers conjunctions to negations, or the other way round, by
// more than a tenth.
constexpr double kMostTilt = 0.1;
constexpr double kHopeless = 0.5;  // to answer a half is never off by more

void check_options(const Options& options) {
  if (options.solver == CspSolver::Exact && !has_exact_solver()) {
    throw UsageError(TANDEM_SETTING(
        "param.solver") " is cbc, and there is no program of that name on the PATH; choose local, "
                        "or "
                        "install it (scripts/install.sh solvers).");
  }
  const bool wishes = options.rounds || options.rate || options.draws;
  if (options.parameters == Rule::Theorem && wishes) {
    throw UsageError(TANDEM_SETTING(
        "param.parameters") " theorem sets rounds, rate and draws; leave those out.");
  }
}

// The natural logarithm of how many different rows there are.
double log_rows_possible(const Domain& domain) {
  double out = 0.0;
  for (const auto& attribute : domain.attributes()) out += std::log(attribute.size);
  return out;
}

double values_of(const Domain& domain) {
  double out = 0.0;
  for (const auto& attribute : domain.attributes()) out += attribute.size;
  return out;
}

struct Game {
  DualParameters p;
  std::optional<double> alpha;  // what the theorem promises
};

Game choose(const DualBudget& budget, const Options& options, const Domain& domain,
            std::size_t queries) {
  if (options.parameters == Rule::Theorem) {
    const auto chosen = theorem_parameters(budget, static_cast<double>(queries),
                                           log_rows_possible(domain), options.beta);
    return {chosen.parameters, chosen.alpha};
  }
  return {choose_dual_parameters(budget, {options.rounds, options.rate, options.draws}), {}};
}

// Attributes that some drawn query names.
std::vector<std::uint8_t> touched_columns(const ConjunctionSet& Q, const BestResponse& answer) {
  std::vector<std::uint8_t> out(Q.domain().size());
  for (const auto indicator : answer.touched) out[Q.indicators()[indicator].attribute] = 1;
  return out;
}

// A record of the answer, and of free values where no drawn query asks.
std::vector<Code> record_of(const ConjunctionSet& Q, const BestResponse& answer, Free free,
                            Rng& rng) {
  const Domain& domain = Q.domain();
  std::vector<Code> values(domain.size(), 0);
  if (free == Free::Random) {
    for (AttributeId id = 0; id < domain.size(); ++id) {
      values[id] = static_cast<Code>(rng.below(domain[id].size));
    }
  }
  std::vector<Code> record = values;
  put_indicators(Q, answer, record);
  const auto touched = touched_columns(Q, answer);
  for (AttributeId id = 0; id < domain.size(); ++id) {
    if (touched[id] == 0) record[id] = values[id];
  }
  return record;
}

std::vector<DrawnConjunction> draw_evenly(std::size_t queries, std::int64_t s, Rng& rng) {
  std::vector<DrawnConjunction> drawn(static_cast<std::size_t>(s));
  for (auto& q : drawn) {
    const auto place = rng.below(2 * queries);
    q = {static_cast<std::uint32_t>(place % queries), place >= queries};
  }
  return drawn;
}

// Round t >= 2: s queries with probability ~ exp(eta (t-1)/n (q(D) - n c_q/(t-1))).
std::vector<DrawnConjunction> draw_by_error(Curator& curator, const ConjunctionSet& Q,
                                            std::span<const std::int64_t> c,
                                            const DualParameters& p, std::int64_t t, double n) {
  const auto records = static_cast<double>(t - 1);
  std::vector<double> references(Q.size());
  std::vector<double> negated(Q.size());
  for (std::size_t q = 0; q < Q.size(); ++q) {
    references[q] = n * static_cast<double>(c[q]) / records;
    negated[q] = n - references[q];
  }
  const auto choices = curator.sample_conjunctions({Q, references, negated}, p.rate * records / n,
                                                   static_cast<std::size_t>(p.draws));
  std::vector<DrawnConjunction> drawn;
  drawn.reserve(choices.size());
  for (const auto& [conjunction, is_negated] : choices) {
    drawn.push_back({static_cast<std::uint32_t>(conjunction), is_negated});
  }
  return drawn;
}

// By how much a noisy number of rows prefers conjunctions to their negations, or the other way
// round: the exponent.
double tilt_of(const Game& game, double n, std::span<const Measurement> totals) {
  double precision = 0.0;
  for (const auto& y : totals) precision += 1.0 / (y.sigma.value() * y.sigma.value());
  if (precision == 0.0) return 0.0;
  return game.p.rate * static_cast<double>(game.p.rounds - 1) / n / std::sqrt(precision);
}

// The number of rows n. Where the usual share of the budget leaves too much of a tilt, it is
// measured once more, with up to four times as much, unless the game would no longer fit.
double measure_rows(Curator& curator, const Problem& problem, const Options& options,
                    std::size_t queries, Release& release) {
  const double n = measure_total(curator, release);
  if (release.measurements.empty()) return n;
  const auto game_without = [&](double share) -> std::optional<Game> {
    auto budget = DualBudget::of(curator, n, options.accounting, options.accounting_delta);
    budget.amount *= 1.0 - share;
    try {
      return choose(budget, options, problem.domain, queries);
    } catch (const TooFewRows&) {
      return std::nullopt;
    }
  };
  const auto game = game_without(0.0);
  const double excess = game ? tilt_of(*game, n, release.measurements) / kMostTilt : 0.0;
  if (!(excess > 1.0)) return n;
  // Precision is in proportion to rho, and to the square of a pure epsilon.
  const double more = excess * excess - 1.0;
  const double times = curator.currency() == Currency::Pure ? std::sqrt(more) : more;
  const double share = kShareOfTotal * std::min(times, 4.0);
  if (!game_without(share)) return n;
  release.measurements.push_back(
      curator.measure(LinearQuery{Clique{}}, curator.remaining() * share));
  return release.total = estimate_total(release.measurements);
}

void warn(Release& release, const Game& game, double n) {
  if (game.alpha && *game.alpha >= kHopeless) {
    release.warnings.push_back(
        {"dual_query.vacuous",
         fmt::format("The theorem promises errors of at most {:.2g} here, which is no promise: to "
                     "answer a half is never further off.",
                     *game.alpha)});
  }
  const double tilt = tilt_of(game, n, release.measurements);
  if (tilt > kMostTilt) {
    release.warnings.push_back(
        {"dual_query.tilt",
         fmt::format("The number of rows, about {}, is so uncertain that draws of the last of {} "
                     "rounds prefer conjunctions or their negations by a factor of about e^{:.2g}; "
                     "fewer rounds or a lower rate would make that less.",
                     with_commas(static_cast<std::uint64_t>(std::llround(n))),
                     with_commas(static_cast<std::uint64_t>(game.p.rounds)), tilt)});
  }
}

// How many records are the best for what was drawn, and how often the solver failed to say.
struct Certificates {
  std::int64_t optimal = 0;
  std::int64_t failures = 0;
};

Document facts_of(const Game& game, std::size_t queries, const Certificates& certificates) {
  Document facts = Document::object({{"rounds", game.p.rounds},
                                     {"rate", game.p.rate},
                                     {"draws", game.p.draws},
                                     {"queries", static_cast<std::uint64_t>(queries)},
                                     {"optimal_rounds", certificates.optimal}});
  if (certificates.failures > 0) facts.set("solver_failures", certificates.failures);
  if (game.alpha) facts.set("alpha", *game.alpha);
  return facts;
}

Release run(Curator& curator, const Problem& problem, const Options& options, Rng& rng) {
  check_options(options);
  const ConjunctionSet Q = queries_of("dual-query", problem.workload);
  // With free bits, over a column of two values for each value, in the order of Q.
  const ConjunctionSet played = options.one_hot ? Q : over_indicators(Q);
  Release release;
  const double n = measure_rows(curator, problem, options, Q.size(), release);
  const auto budget = DualBudget::of(curator, n, options.accounting, options.accounting_delta);
  const Game game = choose(budget, options, problem.domain, Q.size());
  const auto& [T, eta, s] = game.p;

  RecordSet x(played.domain());
  std::vector<std::int64_t> c(Q.size());
  std::vector<std::uint8_t> last(played.indicators().size());
  Certificates certificates;
  for (std::int64_t t = 1; t <= T; ++t) {
    const auto drawn =
        t == 1 ? draw_evenly(Q.size(), s, rng) : draw_by_error(curator, Q, c, game.p, t, n);
    const auto answer =
        best_response(played, drawn, last, {.solver = options.solver, .tabu = {.seed = rng.next()}},
                      curator.threads());
    if (answer.optimal) ++certificates.optimal;
    if (answer.failed) ++certificates.failures;
    const auto record = record_of(played, answer, options.free, rng);
    x.add(record);
    add_fulfilled(played, literal_truths(played, record), c, curator.threads());
    last = indicators_of_record(played, record);
  }
  warn(release, game, n);
  if (certificates.failures > 0) {
    release.warnings.push_back(
        {"dual_query.solver",
         fmt::format("CBC failed in {} of {} rounds; there the search's records stand.",
                     with_commas(static_cast<std::uint64_t>(certificates.failures)),
                     with_commas(static_cast<std::uint64_t>(T)))});
  }
  release.facts.set("dual_query", facts_of(game, Q.size(), certificates));
  release.model = std::make_unique<RecordsModel>(
      options.one_hot ? RecordsModel(std::move(x), n)
                      : RecordsModel::of_bits(problem.domain, std::move(x), n));
  return release;
}

constexpr double kRowsOfPlan = 100'000.0;  // where nobody knows how many there are

// The game at the rows expected; where these are too few for it, at about the least that are
// enough.
struct Forecast {
  Game game;
  double rows = 0.0;
  std::string refusal{};  // at the rows expected; empty where they are enough
};

Forecast forecast(const Curator& curator, const Problem& problem, const Options& options,
                  std::size_t queries, double rows_expected) {
  constexpr double kPrecision = 1.01;
  constexpr double kMostImaginable = 1e15;  // where a game does not fit, the table is not to blame
  const auto at = [&](double rows) {
    auto budget = DualBudget::of(curator, rows, options.accounting, options.accounting_delta);
    if (!curator.unit().keeps_rows()) budget.amount *= 1.0 - kShareOfTotal;
    return choose(budget, options, problem.domain, queries);
  };
  std::string refusal;
  const auto game_at = [&](double rows) -> std::optional<Game> {
    try {
      return at(rows);
    } catch (const TooFewRows& error) {
      if (refusal.empty()) refusal = error.what();
      return std::nullopt;
    }
  };
  const double expected = rows_expected >= 1.0 ? rows_expected : kRowsOfPlan;
  auto found = game_at(expected);
  if (found) return {*found, expected};
  double few = expected;
  double enough = expected;
  while (!found) {
    few = enough;
    enough *= 2.0;
    if (enough > kMostImaginable) at(expected);  // which says what is wrong
    found = game_at(enough);
  }
  while (enough > kPrecision * few) {
    const double middle = std::sqrt(few * enough);
    const auto game = game_at(middle);
    (game ? enough : few) = middle;
    if (game) found = game;
  }
  return {*found, enough, std::move(refusal)};
}

// Of a round, in seconds.
double seconds_to_respond(const Options& options, const DualParameters& p) {
  const auto s = static_cast<double>(p.draws);
  const double search = 5e-5 * s + 0.02;
  const bool asks = options.solver == CspSolver::Exact ||
                    (options.solver == CspSolver::Auto && p.draws <= kMostCertifiedDraws);
  return search + (asks && has_exact_solver() ? ExactOptions{}.longest() : 0.0);
}

Effort effort_of(const Curator& curator, const Problem& problem, const Options& options,
                 double rows_expected) {
  check_options(options);
  const std::size_t queries = count_queries("dual-query", problem.workload);
  const auto [game, rows, refusal] = forecast(curator, problem, options, queries, rows_expected);
  const bool enough = refusal.empty();
  const auto K = static_cast<double>(queries);
  const auto T = static_cast<double>(game.p.rounds);
  const auto s = static_cast<double>(game.p.draws);
  const double records = T * static_cast<double>(problem.domain.size()) * 4.0;
  const double of_bits = options.one_hot ? 0.0 : 60.0 * K + 300.0 * values_of(problem.domain);
  // A score of each query and negation, references, counts, literals; a search for each round.
  return {.model_bytes = records,
          .bytes = records + of_bits + 120.0 * K + 400.0 * s +
                   16.0 * static_cast<double>(problem.domain.size()),
          .seconds = T * (2e-8 * K + seconds_to_respond(options, game.p)),
          .least_rows = enough ? 0.0 : rows,
          .refusal = refusal};
}

Plan plan(const Curator& curator, const Problem& problem, const Options& options,
          double rows_expected) {
  check_options(options);
  const std::size_t queries = count_queries("dual-query", problem.workload);
  const auto [game, rows, refusal] = forecast(curator, problem, options, queries, rows_expected);
  const bool enough = refusal.empty();
  const auto [T, eta, s] = game.p;
  const auto count = [](double number) { return static_cast<std::uint64_t>(std::llround(number)); };
  return {
      {"draw",
       Document::object({{"queries", static_cast<std::uint64_t>(queries)},
                         {"rows_assumed", count(rows)},
                         {"rounds", T},
                         {"rate", eta},
                         {"draws", s}}),
       fmt::format("Draws conjunctions and negations, of {} each, that the records so far get "
                   "wrong; {} {} rows there would be {} rounds of {} draws at rate {:.3g}{}.",
                   with_commas(queries), enough ? "with" : "only from about",
                   with_commas(count(rows)), with_commas(static_cast<std::uint64_t>(T)),
                   with_commas(static_cast<std::uint64_t>(s)), eta,
                   enough ? "" : ", and fewer seem to be there")},
      {"records", Document::object(),
       "Each round adds the record that satisfies most of them, and all records weigh the same: "
       "answers are multiples of one over their number."}};
}

}  // namespace

Mechanism dual_query() {
  return make_mechanism<Options>(
      {.name = "dual-query",
       .summary = "A few records that answer very many conjunctions, for wide tables",
       .reference = "Gaboardi, Gallego Arias, Hsu, Roth, Wu. Dual Query: Practical Private Query "
                    "Release for High Dimensional Data. 2014.",
       .pure = true,
       .conjunctions = true},
      run, plan,
      {field("rounds", &Options::rounds, "rounds T, and records", between(2, 1e5)),
       field("rate", &Options::rate, "rate eta of the draws", between(1e-6, 1e4)),
       field("draws", &Options::draws, "draws s of a round", between(1, 1e7)),
       choice("parameters", &Options::parameters,
              {{"default", Rule::Default}, {"theorem", Rule::Theorem}},
              "what is not stated by a rule found by experiment, or all by the paper's theorem"),
       field("beta", &Options::beta, "how often the theorem's promise may fail",
             between(1e-9, 0.5)),
       choice("accounting", &Options::accounting,
              {{"zcdp", DualAccounting::Filter},
               {"theorem", DualAccounting::Theorem},
               {"advanced", DualAccounting::Advanced}},
              "how the budget becomes draws; the last two as the paper and its code, for less"),
       field("accounting-delta", &Options::accounting_delta, "delta of the last two",
             between(1e-15, 0.5)),
       choice("solver", &Options::solver,
              {{"local", CspSolver::Local}, {"cbc", CspSolver::Exact}, {"auto", CspSolver::Auto}},
              "who finds the best record; auto lets CBC, if installed, prove small rounds optimal"),
       field("one-hot", &Options::one_hot,
             "a record has one value a column; false: values are bits, as in the paper"),
       choice("free", &Options::free, {{"zero", Free::Zero}, {"random", Free::Random}},
              "values where no drawn query asks: the first (for pairs:FILE, unless stated), or a "
              "random one")},
      effort_of,
      {{"paper", {{"accounting", "theorem"}, {"one-hot", "false"}, {"free", "zero"}}},
       {"authors", {{"accounting", "advanced"}, {"one-hot", "false"}, {"free", "zero"}}}});
}

}  // namespace tandem::mechanism
