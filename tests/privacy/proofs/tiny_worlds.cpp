// SPDX-License-Identifier: Apache-2.0
// Tiny worlds by enumeration. The law of each primitive is computed exactly from whole numbers: the
// answers are counted here, scores come from the grid that the gate uses (which the falsifier
// compares with an evaluation of its own). That the curator draws from these laws is tested by
// chi-square.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include "privacy/proofs/laws.h"
#include "privacy/proofs/proofs.h"
#include "privacy/proofs/score_cases.h"
#include "privacy/proofs/worlds.h"
#include "support/statistics.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/score_grid.h"
#include "tandem/privacy/selection.h"

namespace tandem::mechanism {
Mechanism independent();
}

namespace tandem::proofs {

namespace {

#ifdef TANDEM_SANITIZED
constexpr int kDraws = 600;
#else
constexpr int kDraws = 4000;
#endif

// The laws are right to about 1e-16 of their logarithms.
constexpr long double kSlack = 1e-12L;

const std::vector<double> kAmounts = {0.1, 0.7};  // of rho or epsilon

Filter filter_of(Currency currency, double total) {
  return currency == Currency::Zcdp ? Filter::zcdp(Rho(total)) : Filter::pure(Epsilon(total));
}

constexpr Currency kCurrencies[] = {Currency::Zcdp, Currency::Pure};

std::string label(Currency currency) { return currency == Currency::Zcdp ? "zCDP" : "pure"; }

// A primitive as the proofs see it: divergences between the laws on two tables.
struct Divergences {
  std::function<long double(const Histogram&, const Histogram&)> log_ratio;
  std::function<long double(const Histogram&, const Histogram&, long double)> renyi;
};

// Every ordered pair of neighbours, against what was charged.
Violation judge(const std::string& what, const std::vector<Histogram>& tables,
                const PrivacyUnit& unit, Currency currency, Cost charged, const Divergences& laws) {
  const long double paid = charged.upper_bound();
  for (const auto& a : tables) {
    for (const auto& b : tables) {
      if (!are_neighbours(a, b, unit)) continue;
      if (currency == Currency::Pure) {
        const long double found = laws.log_ratio(a, b);
        if (found > paid * (1.0L + kSlack)) {
          return fmt::format("{} ({}): log-ratio {:.9g} between {} and {}, {:.9g} was charged",
                             what, show(unit), static_cast<double>(found), show(a), show(b),
                             static_cast<double>(paid));
        }
        continue;
      }
      for (const auto alpha : orders()) {
        const long double found = laws.renyi(a, b, alpha);
        if (found > alpha * paid * (1.0L + kSlack)) {
          return fmt::format(
              "{} ({}): divergence {:.9g} of order {:.3g} between {} and {}, {:.9g} was charged",
              what, show(unit), static_cast<double>(found), static_cast<double>(alpha), show(a),
              show(b), static_cast<double>(alpha * paid));
        }
      }
    }
  }
  return std::nullopt;
}

// ---- Measurements -------------------------------------------------------------------------------

struct MeasureCase {
  std::string name;
  Domain domain;
  LinearQuery query;
};

std::vector<MeasureCase> measure_cases() {
  const Domain two = domain_of({2, 2});
  const Domain four = domain_of({4});
  return {
      {"marginal of one attribute", two, {Clique{0}}},
      {"marginal of two attributes", two, {Clique{0, 1}}},
      {"marginal of four cells", four, {Clique{0}}},
      {"the total", two, {Clique{}}},
      {"one cell", four, {Clique{0}, LinearMap::rows({{{2, 1}}}, 4)}},
      {"prefix sums",
       four,
       {Clique{0}, LinearMap::rows({{{0, 1}}, {{0, 1}, {1, 1}}, {{0, 1}, {1, 1}, {2, 1}}}, 4)}},
      {"a strategy with signs and quarters",
       two,
       {Clique{0, 1}, LinearMap::rows({{{0, 4}, {1, -3}, {3, 1}}, {{1, 2}, {2, 5}}}, 4, -2)}},
      {"a sum of all cells",
       four,
       {Clique{0}, LinearMap::rows({{{0, 1}, {1, 1}, {2, 1}, {3, 1}}}, 4)}},
  };
}

struct Ways {
  Currency currency;
  NoiseKind noise;
};
constexpr Ways kWays[] = {{Currency::Zcdp, NoiseKind::Gaussian},
                          {Currency::Zcdp, NoiseKind::Laplace},
                          {Currency::Pure, NoiseKind::Laplace}};

// The scale of a measurement's noise in units of its map, as the release states it.
double stated_scale(const Measurement& y) {
  const double units = y.sigma.value() / y.query.map.unit();
  return y.noise == NoiseKind::Laplace ? units / std::numbers::sqrt2 : units;
}

// Divergences of noise added to answers; cells add. Remembers, since few shifts occur.
Divergences noise_laws(const Domain& domain, const LinearQuery& query, NoiseKind kind,
                       double scale) {
  auto known = std::make_shared<std::map<std::pair<std::int64_t, long double>, long double>>();
  const auto shifts = [=](const Histogram& a, const Histogram& b) {
    auto out = answer(domain, a, query);
    const auto other = answer(domain, b, query);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = other[i] - out[i];
    return out;
  };
  return {[=](const Histogram& a, const Histogram& b) {
            long double sum = 0.0L;
            for (const auto shift : shifts(a, b)) sum += log_ratio(kind, scale, shift);
            return sum;
          },
          [=](const Histogram& a, const Histogram& b, long double alpha) {
            long double sum = 0.0L;
            for (const auto shift : shifts(a, b)) {
              const auto [at, added] = known->try_emplace({shift, alpha}, 0.0L);
              if (added) at->second = renyi(kind, scale, shift, alpha);
              sum += at->second;
            }
            return sum;
          }};
}

}  // namespace

Violation measurements_keep_their_price() {
  for (const auto& [name, domain, query] : measure_cases()) {
    const auto tables = tables_up_to(4, 3);
    for (const auto& unit : units(3)) {
      for (const auto& [currency, noise] : kWays) {
        for (const double amount : kAmounts) {
          // The scale and the charge must be the same for all tables; then laws can be compared.
          std::optional<double> scale;
          std::optional<NoiseKind> kind;
          Cost charged;
          for (const auto& table : tables) {
            Curator curator =
                gate(domain, table, {.unit = unit, .filter = filter_of(currency, 1.0)});
            const auto y = curator.measure(query, curator.filter().price(amount), noise);
            const bool same = !scale || (*scale == stated_scale(y) && *kind == y.noise &&
                                         charged == curator.filter().spent());
            if (!same) return name + ": noise or charge depend on the table";
            scale = stated_scale(y);
            kind = y.noise;
            charged = curator.filter().spent();
          }
          const auto found = judge(name, tables, unit, currency, charged,
                                   noise_laws(domain, query, *kind, *scale));
          if (found) return found;
        }
      }
    }
  }
  return std::nullopt;
}

namespace {

// Noise of many measurements, cell by cell, against its law; no two of them go together.
Violation judge_noise(const std::string& what, NoiseKind kind, double scale,
                      const std::vector<std::vector<std::int64_t>>& cells) {
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const auto& samples = cells[c];
    if (kind == NoiseKind::None) {
      for (const auto noise : samples) {
        if (noise != 0) return what + ": an exact answer is not exact";
      }
      continue;
    }
    const auto law =
        kind == NoiseKind::Gaussian ? test::gaussian_law(scale) : test::laplace_law(scale);
    const double p = test::fit_p(law, samples);
    if (p < test::kAlarm) {
      return fmt::format("{}: noise in cell {} is not of scale {:.6g} (p = {:.3g})", what, c, scale,
                         p);
    }
    // Products of independent noise of mean 0 add up to a normal deviate.
    const auto uncorrelated = [&](std::span<const std::int64_t> x,
                                  std::span<const std::int64_t> y) {
      double sum = 0.0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
      }
      const double variance = law.deviation * law.deviation;
      const double z = sum / (variance * std::sqrt(static_cast<double>(x.size())));
      return test::normal_p(z) >= test::kAlarm;
    };
    const std::span<const std::int64_t> all(samples);
    if (!uncorrelated(all.subspan(1), all.first(all.size() - 1))) {
      return what + ": noise of one step goes with that of the next";
    }
    if (c > 0 && !uncorrelated(all, cells[c - 1])) {
      return what + ": noise of one cell goes with that of another";
    }
  }
  return std::nullopt;
}

}  // namespace

Violation measurements_follow_their_law() {
  std::uint64_t seed = 100;
  const Histogram table = {2, 0, 1, 0};
  for (const auto& [name, domain, query] : measure_cases()) {
    for (const auto& [currency, noise] : kWays) {
      const PrivacyUnit unit{seed % 2 == 0 ? Neighbors::ReplaceOne : Neighbors::AddRemove, 1};
      const double amount = 0.3;
      Curator curator = gate(
          domain, table,
          {.unit = unit, .filter = filter_of(currency, amount * (kDraws + 1)), .seed = ++seed});
      const auto truth = answer(domain, table, query);
      const Cost cost = curator.filter().price(amount);
      std::vector<std::vector<std::int64_t>> cells(truth.size());
      double scale = 0.0;
      NoiseKind kind = NoiseKind::None;
      for (int i = 0; i < kDraws; ++i) {
        const auto y = curator.measure(query, cost, noise);
        scale = stated_scale(y);
        kind = y.noise;
        for (std::size_t c = 0; c < truth.size(); ++c) {
          cells[c].push_back(std::llround(y.values[c] / query.map.unit()) - truth[c]);
        }
      }
      if (auto found = judge_noise(name, kind, scale, cells)) return found;
    }
  }
  return std::nullopt;
}

// ---- Queries measured together ------------------------------------------------------------------

// Divergences of independent noise add over the queries of a stack.
Violation stacks_keep_their_price() {
  const Domain domain = domain_of({2, 2});
  const auto tables = tables_up_to(4, 3);
  const auto axis = [](AxisMap map) { return std::make_shared<const AxisMap>(std::move(map)); };
  const LinearMap residual =
      LinearMap::kronecker({axis(AxisMap::centred(2)), axis(AxisMap::centred(2))});
  const LinearMap prefix =
      LinearMap::kronecker({axis(AxisMap::given({1, 0, 1, 1}, 2)), axis(AxisMap::identity(2))});
  const std::vector<std::vector<WeightedQuery>> stacks = {
      {{{Clique{0}}, 1}, {{Clique{1}}, 3}, {{Clique{}}, 2}},
      {{{Clique{0, 1}, residual}, 2},
       {{Clique{0}, LinearMap::kronecker({axis(AxisMap::centred(2))})}, 5}},
      {{{Clique{0, 1}, prefix}, 1}, {{Clique{1}}, 1}},
  };
  for (std::size_t s = 0; s < stacks.size(); ++s) {
    for (const auto& unit : units(2)) {
      for (const auto& [currency, noise] : kWays) {
        Curator curator =
            gate(domain, tables.back(), {.unit = unit, .filter = filter_of(currency, 1.0)});
        const auto found = curator.measure_together(stacks[s], curator.filter().price(0.7), noise);
        std::vector<Divergences> laws;
        for (const auto& y : found) {
          laws.push_back(noise_laws(domain, y.query, y.noise, stated_scale(y)));
        }
        const Divergences together{[&](const Histogram& a, const Histogram& b) {
                                     long double sum = 0.0L;
                                     for (const auto& law : laws) sum += law.log_ratio(a, b);
                                     return sum;
                                   },
                                   [&](const Histogram& a, const Histogram& b, long double alpha) {
                                     long double sum = 0.0L;
                                     for (const auto& law : laws) sum += law.renyi(a, b, alpha);
                                     return sum;
                                   }};
        if (auto violation = judge(fmt::format("stack {}", s), tables, unit, currency,
                                   curator.filter().spent(), together)) {
          return violation;
        }
      }
    }
  }
  return std::nullopt;
}

// ---- Scores with noise --------------------------------------------------------------------------

namespace {

// One score of a case, as the gate measures it: in steps of its own grid.
struct MeasuredScore {
  ScoreCase one;
  ScoreGrid grid;

  MeasuredScore(const ScoreCase& scores, std::size_t index, const PrivacyUnit& unit)
      : one{scores.name, scores.domain, {scores.candidates[index]}, {}, nullptr},
        grid(one.grid(unit)) {}
  std::int64_t truth(const Histogram& table) const { return one.values(grid, table).front(); }
  NoisyScore ask(Curator& curator, double amount) const {
    return curator.measure_score(one.candidates.front().score, curator.filter().price(amount));
  }
  double scale(const NoisyScore& y) const {
    const double steps = y.sigma.value() / grid.step();
    return y.noise == NoiseKind::Laplace ? steps / std::numbers::sqrt2 : steps;
  }
};

// Noise of a million steps and more: |shift| / scale is the log-ratio of a Laplace exactly, and
// alpha shift^2 / (2 sigma^2) bounds a discrete Gaussian's divergence (Canonne, Kamath, Steinke
// 2020, Proposition 5), which it reaches where (1 - alpha) shift is whole.
Divergences wide_noise_laws(const MeasuredScore& score, NoiseKind kind, double scale) {
  const auto shift = [=](const Histogram& a, const Histogram& b) {
    return static_cast<long double>(score.truth(a) - score.truth(b));
  };
  return {[=](const Histogram& a, const Histogram& b) {
            return kind == NoiseKind::Laplace ? std::abs(shift(a, b)) / scale : HUGE_VALL;
          },
          [=](const Histogram& a, const Histogram& b, long double alpha) {
            if (kind != NoiseKind::Gaussian) return HUGE_VALL;
            return alpha * shift(a, b) * shift(a, b) / (2.0L * scale * scale);
          }};
}

}  // namespace

Violation noisy_scores_keep_their_price() {
  for (const auto& scores : score_cases()) {
    const auto tables = tables_up_to(scores.kinds(), 3);
    for (const auto& unit : units(3)) {
      for (std::size_t i = 0; i < scores.candidates.size(); ++i) {
        const MeasuredScore score(scores, i, unit);
        if (scores.candidates[i].score.terms().empty()) continue;  // a public number
        for (const auto currency : kCurrencies) {
          for (const double amount : kAmounts) {
            Curator curator = gate(scores.domain, tables.back(),
                                   {.unit = unit, .filter = filter_of(currency, 1.0)});
            const auto y = score.ask(curator, amount);
            const auto found =
                judge("a noisy score: " + scores.name, tables, unit, currency,
                      curator.filter().spent(), wide_noise_laws(score, y.noise, score.scale(y)));
            if (found) return found;
          }
        }
      }
    }
  }
  return std::nullopt;
}

Violation noisy_scores_follow_their_law() {
  std::uint64_t seed = 300;
  for (const auto& scores : score_cases()) {
    if (scores.candidates.empty()) continue;
    for (const auto currency : kCurrencies) {
      const PrivacyUnit unit{Neighbors::AddRemove, 1 + static_cast<int>(++seed % 2)};
      Histogram table(scores.kinds(), 1);
      table.back() = 2;
      const double amount = 0.3;
      Curator curator =
          gate(scores.domain, table,
               {.unit = unit, .filter = filter_of(currency, amount * (kDraws + 1)), .seed = seed});
      const MeasuredScore score(scores, 0, unit);
      if (scores.candidates[0].score.terms().empty()) continue;
      std::vector<std::vector<std::int64_t>> noise(1);
      NoisyScore y;
      for (int i = 0; i < kDraws; ++i) {
        y = score.ask(curator, amount);
        noise[0].push_back(std::llround(y.value / score.grid.step()) - score.truth(table));
      }
      if (auto found =
              judge_noise("a noisy score: " + scores.name, y.noise, score.scale(y), noise)) {
        return found;
      }
    }
  }
  return std::nullopt;
}

// ---- Selections ---------------------------------------------------------------------------------

namespace {

constexpr Selection kSelections[] = {Selection::Exponential, Selection::PermuteAndFlip};

std::string label(Selection how) {
  return how == Selection::Exponential ? "exponential" : "permute-and-flip";
}

Epsilon epsilon_of(Currency currency, Cost cost, Selection how) {
  const double amount = cost.lower_bound();
  if (currency == Currency::Pure) return Epsilon(amount);
  return how == Selection::Exponential ? exponential_epsilon(Rho(amount))
                                       : permute_and_flip_epsilon(Rho(amount));
}

FiniteLaw law_of(Selection how, std::span<const std::int64_t> scores, Rate rate) {
  return how == Selection::Exponential ? exponential_law(scores, rate)
                                       : permute_and_flip_law(scores, rate);
}

// The laws on all tables, compared by their divergences; `times` independent draws.
Divergences finite_laws(std::map<Histogram, FiniteLaw> laws, int times = 1) {
  auto all = std::make_shared<const std::map<Histogram, FiniteLaw>>(std::move(laws));
  return {[=](const Histogram& a, const Histogram& b) {
            return times * log_ratio(all->at(a), all->at(b));
          },
          [=](const Histogram& a, const Histogram& b, long double alpha) {
            return times * renyi(all->at(a), all->at(b), alpha);
          }};
}

}  // namespace

Violation selections_keep_their_price() {
  for (const auto& scores : score_cases()) {
    const auto tables = tables_up_to(scores.kinds(), 3);
    for (const auto& unit : units(3)) {
      const ScoreGrid grid = scores.grid(unit);
      for (const auto how : kSelections) {
        for (const auto currency : kCurrencies) {
          for (const double amount : {0.05, 3.0}) {
            Curator curator = gate(scores.domain, tables.back(),
                                   {.unit = unit, .filter = filter_of(currency, 4.0)});
            const Cost cost = curator.filter().price(amount);
            scores.select(curator, cost, how);
            const Rate rate = rate_at_most(grid.rate_for(epsilon_of(currency, cost, how).value()));
            std::map<Histogram, FiniteLaw> laws;
            for (const auto& table : tables) {
              laws[table] = law_of(how, scores.values(grid, table), rate);
            }
            const auto found =
                judge(scores.name + ", " + label(how) + ", " + label(currency), tables, unit,
                      currency, curator.filter().spent(), finite_laws(laws));
            if (found) return found;
          }
        }
      }
    }
  }
  return std::nullopt;
}

namespace {

Violation judge_draws(const std::string& what, const FiniteLaw& law,
                      std::span<const std::uint64_t> drawn) {
  const double p = test::chi_square_p(probabilities(law), drawn);
  if (p >= test::kAlarm) return std::nullopt;
  return fmt::format("{}: draws do not follow their law (p = {:.3g})", what, p);
}

}  // namespace

Violation selections_follow_their_law() {
  std::uint64_t seed = 500;
  for (const auto& scores : score_cases()) {
    for (const auto how : kSelections) {
      for (const auto currency : kCurrencies) {
        const PrivacyUnit unit{Neighbors::AddRemove, 1 + static_cast<int>(++seed % 2)};
        Histogram table(scores.kinds(), 0);
        table.back() = 2;
        const double amount = currency == Currency::Zcdp ? 0.8 : 2.0;
        Curator curator = gate(
            scores.domain, table,
            {.unit = unit, .filter = filter_of(currency, amount * (kDraws + 1)), .seed = seed});
        const Cost cost = curator.filter().price(amount);
        const ScoreGrid grid = scores.grid(unit);
        const auto values = scores.values(grid, table);
        const auto law = law_of(
            how, values, rate_at_most(grid.rate_for(epsilon_of(currency, cost, how).value())));
        std::vector<std::uint64_t> drawn(values.size(), 0);
        for (int i = 0; i < kDraws; ++i) ++drawn[scores.select(curator, cost, how)];
        if (auto found =
                judge_draws(scores.name + ", " + label(how) + ", " + label(currency), law, drawn)) {
          return found;
        }
      }
    }
  }
  return std::nullopt;
}

// ---- Many draws from one table ------------------------------------------------------------------

namespace {

// A rate per 1 of score that is worth about 1.8 of epsilon for one row of a person.
double rate_for(const ScoreCase& scores) {
  const ScoreGrid grid = scores.grid({Neighbors::AddRemove, 1});
  return 0.9 / (static_cast<double>(grid.sensitivity) * grid.step());
}

}  // namespace

Violation repeated_draws_keep_their_price() {
  for (const auto& scores : cell_cases()) {
    const auto tables = tables_up_to(scores.kinds(), 3);
    for (const auto& unit : units(3)) {
      const ScoreGrid grid = scores.grid(unit);
      const double sharpness = rate_for(scores);
      const Rate rate = rate_at_most(sharpness * grid.step());
      std::map<Histogram, FiniteLaw> laws;
      for (const auto& table : tables) {
        laws[table] = exponential_law(scores.values(grid, table), rate);
      }
      for (const auto currency : kCurrencies) {
        for (const int draws : {1, 3}) {
          Curator curator = gate(scores.domain, tables.back(),
                                 {.unit = unit, .filter = filter_of(currency, 1e6)});
          const auto one = curator.cost_for_rate(scores.cells, sharpness);
          curator.sample_cells(scores.cells, sharpness, static_cast<std::size_t>(draws));
          if (curator.filter().spent() < one * draws) {
            return scores.name + ": draws cost less than their stated price";
          }
          const auto found = judge(fmt::format("{}, {} draws", scores.name, draws), tables, unit,
                                   currency, curator.filter().spent(), finite_laws(laws, draws));
          if (found) return found;
        }
      }
    }
  }
  return std::nullopt;
}

Violation repeated_draws_follow_their_law() {
  std::uint64_t seed = 700;
  for (const auto& scores : cell_cases()) {
    const PrivacyUnit unit{Neighbors::AddRemove, 1};
    Histogram table(scores.kinds(), 0);
    table.front() = 2;
    Curator curator = gate(scores.domain, table,
                           {.unit = unit, .filter = Filter::zcdp(Rho(1e9)), .seed = ++seed});
    const ScoreGrid grid = scores.grid(unit);
    const auto values = scores.values(grid, table);
    std::vector<std::uint64_t> drawn(values.size(), 0);
    for (const auto& choice : curator.sample_cells(scores.cells, rate_for(scores), 10 * kDraws)) {
      ++drawn[scores.position(choice)];
    }
    const auto law = exponential_law(values, rate_at_most(rate_for(scores) * grid.step()));
    if (auto found = judge_draws(scores.name + ", many draws", law, drawn)) return found;
  }
  return std::nullopt;
}

// ---- Conjunctions -------------------------------------------------------------------------------

namespace {

// Nested, overlapping and disjoint ones, so that rows exist that fulfil all and none.
struct ConjunctionWorld {
  Domain domain = domain_of({2, 2});
  std::vector<std::vector<Literal>> all = {
      {{0, 1, true}}, {{0, 1, true}, {1, 1, true}}, {{0, 0, true}, {1, 0, true}}, {{1, 1, true}}};
  std::vector<double> references = {0.5, 1.25, 2.0, 0.0};
  std::vector<double> negated_references = {1.5, 0.0, 0.75, 3.0};
  std::vector<std::size_t> place{};  // in the set, of each
  ConjunctionSet set = make();

  ConjunctionSet make() {
    ConjunctionBuilder builder(domain);
    for (const auto& literals : all) builder.add(literals);
    std::vector<std::uint32_t> which;
    auto made = std::move(builder).finish(&which);
    place.assign(which.begin(), which.end());
    return made;
  }
  // By an evaluation of its own: rows that fulfil each, then rows that do not.
  std::vector<std::int64_t> fulfilled(const Histogram& table) const {
    std::vector<std::int64_t> out(2 * all.size(), 0);
    for (std::size_t kind = 0; kind < table.size(); ++kind) {
      const Code codes[] = {static_cast<Code>(kind / 2), static_cast<Code>(kind % 2)};
      for (std::size_t q = 0; q < all.size(); ++q) {
        const bool holds = std::ranges::all_of(all[q], [&](const Literal& literal) {
          return (codes[literal.attribute] == literal.code) == literal.equal;
        });
        out[(holds ? 0 : all.size()) + place[q]] += table[kind];
      }
    }
    return out;
  }
  // Scores in units of 2^-20; the references are given in the order of the set.
  std::vector<std::int64_t> scores(const Histogram& table) const {
    auto out = fulfilled(table);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double reference = i < all.size() ? references[i] : negated_references[i - all.size()];
      out[i] = (out[i] << 20) - std::llround(std::ldexp(reference, 20));
    }
    return out;
  }
};

}  // namespace

Violation conjunction_draws_keep_their_price() {
  const ConjunctionWorld world;
  const auto tables = tables_up_to(4, 3);
  for (const double rate : {0.05, 1.1}) {
    std::map<Histogram, FiniteLaw> laws;
    for (const auto& table : tables) {
      laws[table] = exponential_law(world.scores(table), rate_at_most(std::ldexp(rate, -20)));
    }
    for (const auto& unit : units(3)) {
      for (const auto currency : kCurrencies) {
        for (const int draws : {1, 3}) {
          Curator curator =
              gate(world.domain, tables.back(), {.unit = unit, .filter = filter_of(currency, 1e6)});
          curator.sample_conjunctions({world.set, world.references, world.negated_references}, rate,
                                      static_cast<std::size_t>(draws));
          const auto found = judge(fmt::format("{} conjunctions", draws), tables, unit, currency,
                                   curator.filter().spent(), finite_laws(laws, draws));
          if (found) return found;
        }
      }
    }
  }
  return std::nullopt;
}

Violation conjunction_counts_keep_their_price() {
  const ConjunctionWorld world;
  const auto tables = tables_up_to(4, 3);
  for (const auto& unit : units(2)) {
    for (const auto& [currency, noise] : kWays) {
      Curator curator =
          gate(world.domain, tables.back(), {.unit = unit, .filter = filter_of(currency, 1.0)});
      const auto y = curator.measure_conjunctions(world.set, curator.filter().price(0.7), noise);
      const double scale =
          y.noise == NoiseKind::Laplace ? y.sigma.value() / std::numbers::sqrt2 : y.sigma.value();
      const auto total = [&](const Histogram& a, const Histogram& b, const auto& divergence) {
        const auto here = world.fulfilled(a);
        const auto there = world.fulfilled(b);
        long double sum = 0.0L;
        for (std::size_t q = 0; q < world.all.size(); ++q) sum += divergence(there[q] - here[q]);
        return sum;
      };
      const Divergences laws{[&](const Histogram& a, const Histogram& b) {
                               return total(a, b, [&](std::int64_t shift) {
                                 return log_ratio(y.noise, scale, shift);
                               });
                             },
                             [&](const Histogram& a, const Histogram& b, long double alpha) {
                               return total(a, b, [&](std::int64_t shift) {
                                 return renyi(y.noise, scale, shift, alpha);
                               });
                             }};
      const auto found =
          judge("counts of conjunctions", tables, unit, currency, curator.filter().spent(), laws);
      if (found) return found;
    }
  }
  return std::nullopt;
}

// Draws and counts are of the rows that the table has.
Violation conjunctions_follow_their_law() {
  const ConjunctionWorld world;
  const Histogram table = {3, 0, 2, 5};
  Curator curator =
      gate(world.domain, table,
           {.unit = {Neighbors::AddRemove, 1}, .filter = Filter::zcdp(Rho(1e9)), .seed = 41});
  const double rate = 0.4;
  std::vector<std::uint64_t> drawn(2 * world.all.size(), 0);
  for (const auto& [query, negated] : curator.sample_conjunctions(
           {world.set, world.references, world.negated_references}, rate, 10 * kDraws)) {
    ++drawn[query + (negated ? world.all.size() : 0)];
  }
  const auto law = exponential_law(world.scores(table), rate_at_most(std::ldexp(rate, -20)));
  if (auto found = judge_draws("conjunctions", law, drawn)) return found;

  const auto truth = world.fulfilled(table);
  std::vector<std::vector<std::int64_t>> cells(world.all.size());
  NoisyCounts y;
  for (int i = 0; i < kDraws; ++i) {
    y = curator.measure_conjunctions(world.set, curator.filter().price(0.3), NoiseKind::Gaussian);
    for (std::size_t q = 0; q < cells.size(); ++q) {
      cells[q].push_back(std::llround(y.values[q]) - truth[q]);
    }
  }
  return judge_noise("counts of conjunctions", y.noise, y.sigma.value(), cells);
}

// ---- Groups -------------------------------------------------------------------------------------

// A measurement and a selection in each group, in turn: laws of groups are independent given what
// came before, so divergences add over groups and steps.
Violation groups_keep_their_price() {
  const Domain domain = domain_of({2, 2});
  const auto tables = tables_up_to(4, 3);
  const auto key = PublicKey::codes_of(domain, 0);
  const LinearQuery query{Clique{1}};
  for (int rows = 1; rows <= 3; ++rows) {
    const PrivacyUnit unit{Neighbors::AddRemove, rows};
    for (const auto currency : kCurrencies) {
      for (const auto& scores : score_cases()) {
        if (!(scores.domain == domain)) continue;
        Curator curator =
            gate(domain, tables.back(), {.unit = unit, .filter = filter_of(currency, 2.0)});
        auto parts = curator.partition(key, curator.filter().price(1.5));
        const ScoreGrid grid = scores.grid(unit);
        std::vector<Divergences> laws;
        for (std::size_t g = 0; g < parts.size(); ++g) {
          const auto [first, second] = parts[g].remaining().split(0.5);
          const auto y = parts[g].measure(query, first);
          scores.select(parts[g], second, Selection::Exponential);
          if (parts[g].filter().spent() > parts[g].filter().total() ||
              parts[g].filter().total() > curator.filter().spent()) {
            return "a group spends more than was charged for the groups";
          }
          laws.push_back(noise_laws(domain, query, y.noise, stated_scale(y)));
          const Rate rate = rate_at_most(
              grid.rate_for(epsilon_of(currency, second, Selection::Exponential).value()));
          std::map<Histogram, FiniteLaw> finite;
          for (const auto& table : tables) {
            finite[table] = exponential_law(scores.values(grid, table), rate);
          }
          laws.push_back(finite_laws(finite));
        }
        const auto total = [&](const Histogram& a, const Histogram& b, const auto& divergence) {
          long double sum = 0.0L;
          for (std::size_t g = 0; g < parts.size(); ++g) {
            const auto here = group_of(domain, a, key, g);
            const auto there = group_of(domain, b, key, g);
            sum += divergence(laws[2 * g], here, there) + divergence(laws[2 * g + 1], here, there);
          }
          return sum;
        };
        const Divergences together{
            [&](const Histogram& a, const Histogram& b) {
              return total(a, b, [](const Divergences& of, const auto& x, const auto& y) {
                return of.log_ratio(x, y);
              });
            },
            [&](const Histogram& a, const Histogram& b, long double alpha) {
              return total(a, b, [&](const Divergences& of, const auto& x, const auto& y) {
                return of.renyi(x, y, alpha);
              });
            }};
        const auto found = judge("groups, " + scores.name, tables, unit, currency,
                                 curator.filter().spent(), together);
        if (found) return found;
      }
    }
  }
  return std::nullopt;
}

// What a group gives out is about its own rows.
Violation groups_follow_their_law() {
  const Domain domain = domain_of({4});
  const Histogram table = {3, 0, 5, 9};
  const PublicKey key{.attribute = 0, .group = {1, 0, 1, 0}, .groups = 2};
  Curator curator = gate(
      domain, table,
      {.unit = {Neighbors::AddRemove, 1}, .filter = Filter::zcdp(Rho(0.5 * kDraws)), .seed = 900});
  auto parts = curator.partition(key, curator.remaining());
  const LinearQuery query{Clique{0}};
  for (std::size_t g = 0; g < 2; ++g) {
    const auto truth = answer(domain, group_of(domain, table, key, g), query);
    const Cost cost = parts[g].remaining() / kDraws;
    std::vector<std::vector<std::int64_t>> cells(truth.size());
    Measurement y;
    for (int i = 0; i < kDraws; ++i) {
      y = parts[g].measure(query, cost);
      for (std::size_t c = 0; c < truth.size(); ++c) {
        cells[c].push_back(std::llround(y.values[c]) - truth[c]);
      }
    }
    const auto found = judge_noise(fmt::format("group {}", g + 1), y.noise, stated_scale(y), cells);
    if (found) return found;
  }
  return std::nullopt;
}

// ---- A whole run --------------------------------------------------------------------------------

// The mechanism `independent`: its transcript is the total where it is public, and one measurement
// of every one-way marginal. The transcript's law is the product of the laws of its cells; that is
// tested on many runs, and its divergence between neighbours against the filter's total.
Violation whole_run_keeps_its_total() {
  const Domain domain = domain_of({2, 2});
  const auto tables = tables_up_to(4, 3);
  const Problem problem{domain, Workload::all_k_way(domain, 1), {}};
  const auto mechanism = mechanism::independent();
  std::uint64_t seed = 1000;
  for (const auto& unit : units(2)) {
    const bool public_total = unit.keeps_rows();
    for (const auto currency : kCurrencies) {
      const Filter filter = filter_of(currency, 0.8);
      std::vector<std::vector<std::int64_t>> noise(4);
      Release release;
      const int runs = kDraws / 4;
      for (int i = 0; i < runs; ++i) {
        const auto& table = tables[1 + static_cast<std::size_t>(i) % (tables.size() - 1)];
        auto records = std::make_shared<std::vector<StepRecord>>();
        CuratorSettings settings;
        Curator curator(PrivateData(std::make_unique<ProbeSource>(domain, table), unit), filter,
                        std::make_unique<SeededEntropy>(++seed),
                        std::make_unique<ProbeTranscript>(records), settings);
        Rng rng(1);
        release = mechanism.run(curator, problem, {}, rng);
        if (records->size() != (public_total ? 2U : 1U)) return "a run has an unexpected step";
        if (public_total &&
            records->front().results != std::vector<std::vector<std::int64_t>>{{rows_of(table)}}) {
          return "the public total is not exact";
        }
        const auto& results = records->back().results;
        std::size_t cell = 0;
        for (const auto& y : release.measurements) {
          const auto truth = answer(domain, table, y.query);
          const auto& drawn = results[cell / 2];
          for (std::size_t c = 0; c < truth.size(); ++c)
            noise[cell++].push_back(drawn[c] - truth[c]);
        }
        if (curator.filter().spent() > filter.total()) return "a run spends more than it has";
      }
      std::vector<Divergences> laws;
      for (const auto& y : release.measurements) {
        laws.push_back(noise_laws(domain, y.query, y.noise, stated_scale(y)));
      }
      const Divergences together{[&](const Histogram& a, const Histogram& b) {
                                   return laws[0].log_ratio(a, b) + laws[1].log_ratio(a, b);
                                 },
                                 [&](const Histogram& a, const Histogram& b, long double alpha) {
                                   return laws[0].renyi(a, b, alpha) + laws[1].renyi(a, b, alpha);
                                 }};
      if (auto found =
              judge("a run of independent", tables, unit, currency, filter.total(), together)) {
        return found;
      }
      const auto& y = release.measurements.front();
      if (auto found = judge_noise("a run of independent", y.noise, stated_scale(y), noise)) {
        return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace tandem::proofs
