// SPDX-License-Identifier: Apache-2.0
// Record and replay: what a run asks depends on what it was given and on nothing else.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "privacy/proofs/proofs.h"
#include "privacy/proofs/replay.h"
#include "privacy/proofs/worlds.h"
#include "tandem/base/error.h"
#include "tandem/base/rng.h"
#include "tandem/mechanism/mechanism.h"

namespace tandem::mechanism {
Mechanism independent();
Mechanism mwem();
Mechanism mwem_pub();
Mechanism mw_pub();
}  // namespace tandem::mechanism

namespace tandem::proofs {

namespace {

// What a step of measurements should keep to: the noise in units of each query's map, its price.
struct Expected {
  LinearQuery query;
  double scale = 0.0;  // sigma, or the scale of a Laplace; 0: exact
  double price = 0.0;
};

struct Trace {
  std::vector<std::string> given;               // everything the gate returned
  std::vector<std::vector<Expected>> expected;  // for each step; empty for selections
};

// A run that calls everything the gate has, each time in a way that depends on earlier results.
// `changed` makes one step ask something else.
class Script {
 public:
  Script(Curator& curator, Trace& trace, int changed = -1)
      : curator_(curator), trace_(trace), changed_(changed) {}

  void run() {
    const Domain& domain = curator_.domain();
    const Cost share = curator_.filter().total() / 40.0;
    std::vector<double> y = measure(curator_, {{Clique{}}}, share);
    for (const double value : measure(curator_, {{Clique{0}}, {Clique{1}}}, share)) {
      y.push_back(value);
    }

    const double far = std::abs(y.back()) < 5.0 ? 1.0 : 2.0;
    std::vector<Candidate> candidates;
    for (const Clique& clique : {Clique{0}, Clique{1}, Clique{0, 1}}) {
      const Factor model{clique, std::vector<double>(domain.cells(clique), far)};
      const Factor proxy{clique, std::vector<double>(domain.cells(clique), y.front() / 4.0)};
      candidates.push_back({clique, Origin::Private, weight(2) * l1_error(model) - 0.5});
      candidates.push_back({clique, Origin::Public, l1_error(model) - l1_error(proxy)});
    }
    const std::size_t best = select(candidates, share, Selection::Exponential);
    const Clique chosen = candidates[best].clique;
    const auto marginal = measure(curator_, {{chosen}}, share * static_cast<double>(1 + best % 2));
    next_step({});
    const std::size_t second = curator_.select(std::span(candidates).first(2 + best % 3), share,
                                               flip(Selection::PermuteAndFlip));
    give(second);

    const std::vector<double> flat(domain.cells(chosen), marginal.front() / 2.0);
    const std::vector<CellScores> cells = {
        {{chosen}, marginal, CellScore::Absolute, weight(1.0)},
        {{chosen}, flat, CellScore::Signed, best == 0 ? 0.5 : -0.5}};
    next_step({});
    const auto cell = curator_.select_cell(cells, share, flip(Selection::Exponential));
    give(cell);
    const auto one = LinearMap::rows({{{cell.output, 3}}}, domain.cells(chosen), -1);
    measure(curator_, {{chosen, one}}, share);
    next_step({});
    const double rate = (second == 0 ? 0.005 : 0.01) * (is_changed() ? 2.0 : 1.0);
    for (const auto& drawn : curator_.sample_cells(cells, rate, 2 + second % 2)) give(drawn);
    next_step({});  // its scale is not what noise_scale() states
    for (const double value :
         curator_.measure({chosen}, changed_cost(share), NoiseKind::Laplace).values) {
      give(value);
    }
    if (curator_.unit().neighbors != Neighbors::AddRemove) return;

    next_step({});
    auto parts = curator_.partition(PublicKey::codes_of(domain, 0), share);
    for (auto& part : parts) {
      const auto [first, rest] = part.remaining().split(0.25);
      const auto here = measure(part, {{Clique{1}}}, first);
      if (here.front() < here.back()) measure(part, {{Clique{0, 1}}}, rest);
    }
    measure(curator_, {{Clique{0, 1}}}, share);
  }

 private:
  void next_step(std::vector<Expected> expected) {
    ++step_;
    trace_.expected.push_back(std::move(expected));
  }
  bool is_changed() const { return step_ == changed_; }
  Cost changed_cost(Cost cost) const { return is_changed() ? cost / 2.0 : cost; }
  Selection flip(Selection how) const {
    if (!is_changed()) return how;
    return how == Selection::Exponential ? Selection::PermuteAndFlip : Selection::Exponential;
  }
  // The weight of what the next step scores.
  double weight(double usual) const { return step_ + 1 == changed_ ? 1.5 * usual : usual; }

  std::vector<double> measure(Curator& curator, const std::vector<LinearQuery>& queries,
                              Cost total) {
    const Cost each = total / static_cast<double>(queries.size());
    std::vector<Expected> expected;
    for (const auto& query : queries) {
      const double units = curator.noise_scale(query, each).value() / query.map.unit();
      expected.push_back(
          {query, curator.currency() == Currency::Zcdp ? units : units / std::numbers::sqrt2,
           each.upper_bound()});
    }
    next_step(std::move(expected));
    std::vector<double> values;
    for (const auto& y : curator.measure_all(queries, changed_cost(total))) {
      values.insert(values.end(), y.values.begin(), y.values.end());
    }
    for (const double value : values) give(value);
    return values;
  }

  std::size_t select(const std::vector<Candidate>& candidates, Cost cost, Selection how) {
    next_step({});
    const std::size_t drawn = curator_.select(candidates, cost, how);
    give(drawn);
    return drawn;
  }

  void give(double value) { trace_.given.push_back(fmt::format("{:a}", value)); }
  void give(std::size_t value) { trace_.given.push_back(fmt::format("{}", value)); }
  void give(const CellChoice& choice) {
    trace_.given.push_back(fmt::format("{}:{}", choice.scores, choice.output));
  }

  Curator& curator_;
  Trace& trace_;
  int changed_;
  int step_ = -1;
};

const std::vector<MechanismRun>& mechanism_runs() {
  static const std::vector<MechanismRun> runs = {
      {"independent", mechanism::independent, {}},
      {"mwem", mechanism::mwem, {{"rounds", "2"}}, 1.0, true},
      {"mwem, original", mechanism::mwem, {{"rounds", "2"}, {"variant", "original"}}, 1.0, true},
      {"mwem-pub", mechanism::mwem_pub, {{"rounds", "2"}}, 1.0, true},
      {"mw-pub",
       mechanism::mw_pub,
       {{"rounds", "2"}, {"selection", "permute-and-flip"}},
       1.0,
       true},
      {"mw-pub, rounds=auto", mechanism::mw_pub, {}, 20.0, true}};  // with less it does no round
  return runs;
}

Problem problem_of(const Domain& domain, std::size_t ways) {
  const std::vector<std::vector<Code>> rows = {{0, 0}, {0, 1}, {1, 1}, {1, 1}, {1, 0}};
  return {
      domain, Workload::all_k_way(domain, ways), {{{"public", Table::from_rows(domain, rows)}}}};
}

using Records = std::vector<StepRecord>;

struct Attempt {
  Records records;  // those given and those made
  Trace trace;
  std::vector<Charge> charges;
  int words = 0;   // drawn from the entropy source
  int counts = 0;  // times that the source was asked
  std::string error;
  bool refused = false;  // by a UsageError
};

struct AttemptOptions {
  PrivacyUnit unit;
  Currency currency = Currency::Zcdp;
  std::uint64_t seed = 1;
  Records recorded;
  int changed = -1;
  std::optional<std::size_t> stop_after;    // this step is recorded
  const MechanismRun* mechanism = nullptr;  // nothing: the script
};

Attempt attempt(const Domain& domain, const Histogram& table, const AttemptOptions& options) {
  Attempt out;
  auto records = std::make_shared<Records>(options.recorded);
  const double budget = options.mechanism == nullptr ? 1.0 : options.mechanism->budget;
  const Filter filter = options.currency == Currency::Zcdp ? Filter::zcdp(Rho(budget))
                                                           : Filter::pure(Epsilon(budget));
  CuratorSettings settings;
  Curator curator(
      PrivateData(std::make_unique<ProbeSource>(domain, table, [&](auto) { ++out.counts; }),
                  options.unit),
      filter, std::make_unique<ProbeEntropy>(options.seed, [&] { ++out.words; }),
      std::make_unique<ProbeTranscript>(records,
                                        [&](std::size_t step) {
                                          if (options.stop_after == step) throw StopHere{};
                                        }),
      settings);
  try {
    if (options.mechanism != nullptr) {
      Rng rng(1);
      const auto& run = *options.mechanism;
      const auto release =
          run.mechanism().run(curator, problem_of(domain, run.ways), run.parameters, rng);
      for (const auto& y : release.measurements) {
        for (const double value : y.values) out.trace.given.push_back(fmt::format("{:a}", value));
      }
    } else {
      Script(curator, out.trace, options.changed).run();
    }
  } catch (const StopHere&) {
  } catch (const UsageError& error) {
    out.refused = true;
    out.error = error.what();
  } catch (const Error& error) {
    out.error = error.what();
  }
  out.charges = curator.filter().charges();
  out.records = *records;
  return out;
}

bool same(const std::vector<Charge>& a, const std::vector<Charge>& b) {
  return std::ranges::equal(a, b, [](const Charge& x, const Charge& y) {
    return x.what == y.what && x.cost == y.cost && x.rho == y.rho;
  });
}

// A table and one of its neighbours, for each of several seeds.
struct Pair {
  Histogram one;
  Histogram other;
};

std::vector<Pair> pairs(const PrivacyUnit& unit) {
  std::vector<Pair> out;
  const auto people = tables_up_to(4, unit.rows_per_person);
  Rng rng(17);
  while (out.size() < 4) {
    Histogram others(4);
    for (auto& rows : others) rows = static_cast<int>(rng.below(6)) + 1;
    Pair pair{others, others};
    const auto& before = people[rng.below(people.size())];
    const auto& after = people[rng.below(people.size())];
    for (std::size_t k = 0; k < 4; ++k) {
      pair.one[k] += before[k];
      pair.other[k] += after[k];
    }
    if (are_neighbours(pair.one, pair.other, unit)) out.push_back(pair);
  }
  return out;
}

Domain world() { return domain_of({2, 2}); }

// The script, and mechanisms that need little else to be built.
std::vector<const MechanismRun*> usual_runs() {
  std::vector<const MechanismRun*> out = {nullptr};
  for (const auto& run : mechanism_runs()) out.push_back(&run);
  return out;
}

// Calls f for each unit, currency, pair of neighbours and kind of run.
Violation for_all(const std::vector<const MechanismRun*>& runs,
                  const std::function<Violation(AttemptOptions, const Pair&)>& f) {
  for (const auto& unit : units(2)) {
    for (const auto currency : {Currency::Zcdp, Currency::Pure}) {
      std::uint64_t seed = 40;
      for (const auto& pair : pairs(unit)) {
        for (const auto* run : runs) {
          if (run != nullptr && run->zcdp_only && currency != Currency::Zcdp) continue;
          AttemptOptions options;
          options.unit = unit;
          options.currency = currency;
          options.seed = ++seed;
          options.mechanism = run;
          if (auto found = f(options, pair)) {
            return fmt::format("{} ({}, {})", *found, run != nullptr ? run->name : "script",
                               show(unit));
          }
        }
      }
    }
  }
  return std::nullopt;
}

std::size_t steps_at_least(const AttemptOptions& options) {
  if (options.mechanism == nullptr) return options.unit.neighbors == Neighbors::AddRemove ? 13 : 9;
  return 1;
}

}  // namespace

Violation neighbours_ask_the_same() { return neighbours_ask_the_same(usual_runs()); }

Violation neighbours_ask_the_same(const std::vector<const MechanismRun*>& runs) {
  return for_all(runs, [](AttemptOptions options, const Pair& pair) -> Violation {
    const Attempt first = attempt(world(), pair.one, options);
    if (!first.error.empty()) return "a run failed: " + first.error;
    if (first.records.size() < steps_at_least(options)) return "a run left steps unrecorded";
    options.recorded = first.records;
    options.seed += 1000;
    const Attempt second = attempt(world(), pair.other, options);
    if (!second.error.empty()) return "the neighbour asked something else: " + second.error;
    if (second.trace.given != first.trace.given || second.records != first.records) {
      return "frozen draws came out different";
    }
    if (!same(first.charges, second.charges)) return "the neighbour was charged differently";
    if (second.words != 0) return "recorded steps drew noise";
    if (second.counts != 0) return "recorded steps counted private rows";
    return std::nullopt;
  });
}

// From the same transcript on, with the same random words, two neighbours draw the same noise: what
// is left of the difference is the distance of the exact answers.
Violation inputs_stay_within_declarations() {
  return for_all(usual_runs(), [](AttemptOptions options, const Pair& pair) -> Violation {
    if (options.mechanism != nullptr) return std::nullopt;
    const Attempt whole = attempt(world(), pair.one, options);
    for (std::size_t step = 0; step < whole.records.size(); ++step) {
      options.recorded.assign(whole.records.begin(),
                              whole.records.begin() + static_cast<std::ptrdiff_t>(step));
      options.stop_after = step;
      const Attempt here = attempt(world(), pair.one, options);
      const Attempt there = attempt(world(), pair.other, options);
      if (here.records.size() != step + 1 || there.records.size() != step + 1 ||
          here.records[step].request != there.records[step].request) {
        return "neighbours ask different things after the same results";
      }
      const auto& expected = here.trace.expected.back();
      for (std::size_t q = 0; q < expected.size(); ++q) {
        const auto& a = here.records[step].results[q];
        const auto& b = there.records[step].results[q];
        double l1 = 0.0;
        double squares = 0.0;
        for (std::size_t c = 0; c < a.size(); ++c) {
          const auto apart = static_cast<double>(a[c] - b[c]);
          l1 += std::abs(apart);
          squares += apart * apart;
        }
        if (l1 == 0.0) continue;
        const double scale = expected[q].scale;
        const double cost =
            options.currency == Currency::Zcdp ? squares / (2.0 * scale * scale) : l1 / scale;
        if (!(scale > 0.0) || cost > expected[q].price * (1.0 + 1e-12)) {
          return fmt::format(
              "step {}: answers {:.6g} apart at scale {:.6g} are worth {:.6g}, not {:.6g}",
              step + 1, std::sqrt(squares), scale, cost, expected[q].price);
        }
      }
    }
    return std::nullopt;
  });
}

Violation recorded_steps_are_never_redrawn() {
  return recorded_steps_are_never_redrawn(usual_runs());
}

Violation recorded_steps_are_never_redrawn(const std::vector<const MechanismRun*>& runs) {
  return for_all(runs, [](AttemptOptions options, const Pair& pair) -> Violation {
    const Attempt whole = attempt(world(), pair.one, options);
    if (whole.records.size() < steps_at_least(options)) return "a run left steps unrecorded";
    options.seed += 2000;  // whatever is drawn again comes out different
    for (std::size_t cut = 0; cut <= whole.records.size(); ++cut) {
      options.recorded.assign(whole.records.begin(),
                              whole.records.begin() + static_cast<std::ptrdiff_t>(cut));
      const Attempt resumed = attempt(world(), pair.one, options);
      if (!resumed.error.empty()) return "a resumed run failed: " + resumed.error;
      if (resumed.records.size() < cut ||
          !std::equal(options.recorded.begin(), options.recorded.end(), resumed.records.begin())) {
        return "a resumed run changed what was recorded";
      }
      if (cut == whole.records.size() &&
          (resumed.trace.given != whole.trace.given || resumed.words != 0 || resumed.counts != 0)) {
        return "a run that was complete was drawn again";
      }
      // What the recorded steps gave is given again.
      options.stop_after = cut;
      std::size_t given = 0;
      for (std::size_t s = 0; s < cut; ++s) {
        for (const auto& values : whole.records[s].results) given += values.size();
      }
      if (resumed.trace.given.size() < given ||
          !std::equal(resumed.trace.given.begin(),
                      resumed.trace.given.begin() +
                          static_cast<std::ptrdiff_t>(options.mechanism != nullptr ? 0 : given),
                      whole.trace.given.begin())) {
        if (options.mechanism == nullptr) return "a recorded step was given out differently";
      }
      options.stop_after.reset();
    }
    return std::nullopt;
  });
}

Violation changed_requests_are_refused() { return changed_requests_are_refused(usual_runs()); }

Violation changed_requests_are_refused(const std::vector<const MechanismRun*>& runs) {
  return for_all(runs, [](AttemptOptions options, const Pair& pair) -> Violation {
    const Attempt whole = attempt(world(), pair.one, options);
    options.recorded = whole.records;
    if (options.mechanism == nullptr) {
      for (int step = 0; step < 9; ++step) {
        // An exact total is free, whatever is offered for it.
        AttemptOptions other = options;
        other.changed = step;
        if (!attempt(world(), pair.one, other).refused) {
          return fmt::format("step {} asked something else and was answered", step + 1);
        }
      }
    }
    // The same costs under another relation, number of rows or currency buy other protection.
    AttemptOptions other = options;
    other.unit.rows_per_person += 1;
    if (!attempt(world(), pair.one, other).refused) return "resumed with more rows a person";
    other = options;
    other.unit.neighbors = options.unit.neighbors == Neighbors::AddRemove ? Neighbors::ReplaceOne
                                                                          : Neighbors::AddRemove;
    const bool alike = options.mechanism != nullptr && options.mechanism->cells_only &&
                       !options.unit.keeps_rows() && !other.unit.keeps_rows();
    if (!alike && !attempt(world(), pair.one, other).refused) {
      return "resumed under another relation";
    }
    other = options;
    other.currency = options.currency == Currency::Zcdp ? Currency::Pure : Currency::Zcdp;
    if (!attempt(world(), pair.one, other).refused) return "resumed in another currency";
    return std::nullopt;
  });
}

namespace {

// Queries measured together with other weights, and a score at another cost, even where the noise
// is the same.
Violation changed_amounts_are_refused() {
  const auto refused = [](const auto& ask, const auto& other) {
    auto records = std::make_shared<Records>();
    const auto curator_of = [&] {
      return Curator(PrivateData(std::make_unique<ProbeSource>(world(), Histogram{3, 1, 0, 2}),
                                 PrivacyUnit{Neighbors::AddRemove, 1}),
                     Filter::zcdp(Rho(1.0)), std::make_unique<SeededEntropy>(7),
                     std::make_unique<ProbeTranscript>(records), {});
    };
    Curator first = curator_of();
    ask(first);
    Curator again = curator_of();
    try {
      other(again);
    } catch (const UsageError&) {
      return true;
    }
    return false;
  };
  const auto together = [](std::int64_t a, std::int64_t b) {
    return [a, b](Curator& curator) {
      const WeightedQuery stack[] = {{{Clique{0}}, a}, {{Clique{1}}, b}};
      curator.measure_together(stack, curator.remaining() / 4.0, NoiseKind::Gaussian);
    };
  };
  if (!refused(together(1, 2), together(2, 1))) {
    return "queries that were measured together were recalled with other weights";
  }
  const auto score = [](Cost cost) {
    return [cost](Curator& curator) {
      curator.measure_score(l1_error({Clique{0}, {1.0, 2.0}}), cost);
    };
  };
  // A grain more, which no noise shows.
  const Filter filter = Filter::zcdp(Rho(1.0));
  const Cost grain = filter.price(1e-30);
  const Cost cost = filter.price(0.25) + grain;
  if (!refused(score(cost), score(cost + grain))) return "a score was recalled at another cost";
  return std::nullopt;
}

}  // namespace

Violation changed_scores_are_refused() {
  const std::vector<double> reference = {1.0, 2.0, 0.0, 0.5};
  const std::vector<std::uint32_t> cells = {0, 2};
  const std::vector<std::uint32_t> others = {0, 3};
  const CellScores usual{{Clique{0, 1}}, reference, CellScore::Absolute, 1.0, 1.0, cells};
  CellScores other_kind = usual;
  other_kind.kind = CellScore::Signed;
  CellScores other_cells = usual;
  other_cells.among = others;
  for (const bool sampled : {false, true}) {
    const auto ask = [&](const std::shared_ptr<Records>& records, const CellScores& scores) {
      Curator curator(PrivateData(std::make_unique<ProbeSource>(world(), Histogram{3, 1, 0, 2}),
                                  PrivacyUnit{Neighbors::AddRemove, 1}),
                      Filter::zcdp(Rho(1.0)), std::make_unique<SeededEntropy>(7),
                      std::make_unique<ProbeTranscript>(records), {});
      if (sampled) {
        curator.sample_cells(std::span(&scores, 1), 0.01, 2);
      } else {
        curator.select_cell(std::span(&scores, 1), curator.remaining() / 4.0);
      }
    };
    auto records = std::make_shared<Records>();
    ask(records, usual);
    for (const auto* changed : {&other_kind, &other_cells}) {
      bool refused = false;
      try {
        ask(std::make_shared<Records>(*records), *changed);
      } catch (const UsageError&) {
        refused = true;
      }
      if (!refused) {
        return fmt::format("a recorded selection answered one {}",
                           changed == &other_kind ? "by another kind of error" : "of other cells");
      }
    }
  }
  return changed_amounts_are_refused();
}

}  // namespace tandem::proofs
