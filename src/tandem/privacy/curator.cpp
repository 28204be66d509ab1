// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/curator.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <numbers>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/digest.h"
#include "tandem/base/multiversion.h"
#include "tandem/base/text.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/discrete_gaussian.h"
#include "tandem/privacy/discrete_laplace.h"
#include "tandem/privacy/mutant.h"
#include "tandem/privacy/private_data.h"
#include "tandem/privacy/score_grid.h"
#include "tandem/privacy/selection.h"
#include "tandem/privacy/sensitivity.h"
#include "tandem/source/data_source.h"

namespace tandem {

namespace {

// ---- What a step costs, in both directions ----

// The pure epsilon that a cost buys for a step of this kind.
Epsilon selection_epsilon(Currency currency, Cost cost, Selection how) {
  if (mutant(Mutant::CheapFlips)) how = Selection::Exponential;
  const double amount = cost.lower_bound();
  if (currency == Currency::Pure) return Epsilon(amount);
  return how == Selection::Exponential ? exponential_epsilon(Rho(amount))
                                       : permute_and_flip_epsilon(Rho(amount));
}

Rho selection_rho(Epsilon epsilon, Selection how) {
  return how == Selection::Exponential ? exponential_rho(epsilon) : permute_and_flip_rho(epsilon);
}

Epsilon laplace_budget(Currency currency, Cost cost) {
  const double amount = cost.lower_bound();
  return currency == Currency::Pure ? Epsilon(amount) : pure_epsilon(Rho(amount));
}

// ---- Requests as text, for the transcript ----

std::string describe(const LinearQuery& query) {
  std::string text = "q";
  for (const auto id : query.clique) text += fmt::format(":{}", id);
  if (query.map.is_identity()) return text;
  text += fmt::format(";{};{}", query.map.unit_exponent(), query.map.columns());
  for (std::size_t r = 0; r < query.map.outputs(0); ++r) {
    text += ';';
    for (const auto& [column, coefficient] : query.map.row(r)) {
      text += fmt::format("{}={},", column, coefficient);
    }
  }
  return text;
}

std::string describe(const Candidate& candidate) {
  std::string text =
      fmt::format("{},{:a}", describe(LinearQuery{candidate.clique}), candidate.score.constant());
  for (const auto& term : candidate.score.terms()) {
    text += fmt::format("+{:a}*{}({}", term.weight, static_cast<int>(term.shape),
                        describe(LinearQuery{term.reference->clique}));
    for (const auto cell : term.cells) text += fmt::format(",{}", cell);
    text += ')';
  }
  return text;
}

// Tells lists of outputs apart, of one run and its resumption: a sum of products with odd keys.
TANDEM_MULTIVERSION
std::uint64_t hash_of(std::span<const std::uint32_t> outputs) {
  std::uint64_t mixed = outputs.size();
  std::uint64_t key = 0x9e3779b97f4a7c15ULL;
  for (const auto output : outputs) {
    mixed += (output + 0x100000001ULL) * key;
    key += 0xd1342543de82ef96ULL;  // even: the key stays odd
  }
  return mixed;
}

// ---- Noise ----

// How to draw a query's noise, in units of the query's map.
struct NoisePlan {
  NoiseKind kind = NoiseKind::None;
  double units = 0.0;  // sigma of a Gaussian or scale of a Laplace: exact, not below the need
};

double standard_deviation(const NoisePlan& plan, double unit) {
  switch (plan.kind) {
    case NoiseKind::None:
      return 0.0;
    case NoiseKind::Gaussian:
      return plan.units * unit;
    case NoiseKind::Laplace:
      // The variance 2 t / (1 - t)^2 with t = exp(-1/b) is below that of continuous noise, 2 b^2.
      return std::numbers::sqrt2 * plan.units * unit;
  }
  throw InternalError("Noise is of an unknown kind.");
}

void add_noise(const NoisePlan& plan, std::span<std::int64_t> values, EntropySource& entropy) {
  if (plan.kind == NoiseKind::None || mutant(Mutant::NoNoise)) return;
  std::vector<std::int64_t> noise(values.size());
  if (plan.kind == NoiseKind::Gaussian) {
    DiscreteGaussian(Sigma(plan.units)).fill(noise, entropy);
  } else {
    DiscreteLaplace(Scale(plan.units)).fill(noise, entropy);
  }
  if (mutant(Mutant::SharedNoise)) std::ranges::fill(noise, noise.front());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += noise[i];
}

// The exact answer in units of the map: whole numbers.
std::vector<std::int64_t> exact_answer(const LinearQuery& query, const Factor& counts) {
  const std::size_t outputs = query.map.outputs(counts.values.size());
  std::vector<std::int64_t> answer(outputs);
  for (std::size_t i = 0; i < outputs; ++i) {
    if (query.map.is_identity()) {
      answer[i] = static_cast<std::int64_t>(counts.values[i]);
      continue;
    }
    Int128 sum = 0;
    for (const auto& [column, coefficient] : query.map.row(i)) {
      sum += static_cast<Int128>(coefficient) * static_cast<std::int64_t>(counts.values[column]);
    }
    // Saturating is a contraction, so it keeps the sensitivity; 2^61 leaves room for the noise.
    constexpr Int128 kMost = static_cast<Int128>(1) << 61;
    answer[i] = static_cast<std::int64_t>(std::clamp(sum, -kMost, kMost));
  }
  return answer;
}

}  // namespace

PublicKey PublicKey::codes_of(const Domain& domain, AttributeId attribute) {
  PublicKey key{.attribute = attribute, .group = {}, .groups = domain[attribute].size};
  for (std::size_t code = 0; code < key.groups; ++code) key.group.push_back(code);
  return key;
}

// What a curator and the curators of its partitions have in common.
struct Curator::Shared {
  std::unique_ptr<EntropySource> entropy;
  std::unique_ptr<Transcript> transcript;
  PrivacyUnit unit;
  CuratorSettings settings;
  std::size_t step = 0;      // of the next draw
  bool interrupted = false;  // within a step: it was begun and is not done
};

struct Curator::Impl {
  std::shared_ptr<Shared> shared;                    // partitions draw from the same source
  std::vector<std::unique_ptr<DataSource>> sources;  // whose counts add up
  Filter filter;
  std::string prefix;  // of charges: names the group of a partition

  // True counts, kept up to a limit, least recently used first out. Never leaves this class.
  std::list<Factor> cache;
  std::unordered_map<Clique, std::list<Factor>::iterator> cached;
  std::size_t cached_bytes = 0;

  // Kept from one selection among cells for the next: the counts of the cells that can be chosen,
  // side by side, and room for their scores. Never leaves this class either.
  struct ChosenCounts {
    Clique clique;
    std::uint64_t list = 0;  // hash_of the cells
    std::vector<double> counts;
  };
  std::vector<ChosenCounts> chosen;  // one for each CellScores
  std::vector<std::int64_t> scores_room;

  const CuratorSettings& settings() const { return shared->settings; }
  PrivacyUnit effective_unit() const {
    PrivacyUnit unit = shared->unit;
    if (mutant(Mutant::ForgetRowsPerPerson)) unit.rows_per_person = 1;
    return unit;
  }
  const Domain& domain() const { return sources.front()->domain(); }

  QuerySensitivity sensitivity(const LinearQuery& query) const {
    return sensitivity_of(query, domain(), effective_unit());
  }

  // ---- Counts ----

  void load(std::span<const Clique> wanted) {
    std::vector<Clique> missing;
    for (const auto& clique : wanted) {
      if (!cached.contains(clique)) missing.push_back(clique);
    }
    std::ranges::sort(missing);
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    if (missing.empty()) return;
    auto counts = sources.front()->count(missing);
    for (std::size_t s = 1; s < sources.size(); ++s) {
      const auto more = sources[s]->count(missing);
      for (std::size_t i = 0; i < counts.size(); ++i) {
        for (std::size_t c = 0; c < counts[i].values.size(); ++c) {
          counts[i].values[c] += more[i].values[c];
        }
      }
    }
    for (auto& factor : counts) {
      cached_bytes += bytes_of(factor);
      cache.push_front(std::move(factor));
      cached[cache.front().clique] = cache.begin();
    }
  }

  // With what the list, the map and the allocator keep for it: about 240 bytes with GCC 12.
  static std::size_t bytes_of(const Factor& factor) {
    constexpr std::size_t kKept = 240;
    return factor.values.size() * sizeof(double) + kKept;
  }

  const Factor& counts(const Clique& clique) {
    load(std::span(&clique, 1));
    const auto at = cached.at(clique);
    cache.splice(cache.begin(), cache, at);
    return *at;
  }

  void trim_cache() {
    while (cached_bytes > settings().cache_bytes && !cache.empty()) {
      cached_bytes -= bytes_of(cache.back());
      cached.erase(cache.back().clique);
      cache.pop_back();
      chosen.clear();
    }
  }

  // ---- Steps ----

  // Privacy: one step of the transcript. A step reached by an earlier attempt is recalled, not
  // drawn again; a new one is durable before anything is done with it.
  template <class Draw>
  StepRecord step(const std::string& request, Cost cost, Rho rho, Draw&& draw) {
    const std::string digest = sha256_hex(request);
    const std::size_t index = shared->step;
    shared->interrupted = true;
    auto recorded = shared->transcript->recall(index);
    if (recorded && !mutant(Mutant::DrawAgain)) {
      if (recorded->request != digest && !mutant(Mutant::TakeAnyRecord)) {
        throw UsageError(
            fmt::format("Step {} of the interrupted run asked something else; resume it with the "
                        "same tandem and "
                        "settings, or start anew.",
                        index + 1));
      }
    } else {
      StepRecord record{digest, draw(), cost.grains(), filter.price(rho.value()).grains()};
      if (mutant(Mutant::RecordNoCost)) record.cost = record.rho = "0";
      trim_cache();
      if (!recorded && !mutant(Mutant::KeepNoRecord)) shared->transcript->commit(index, record);
      recorded = std::move(record);
    }
    shared->interrupted = false;
    ++shared->step;
    if (settings().progress) {
      const double total = filter.total().upper_bound();
      settings().progress(index + 1, total > 0 ? filter.spent().lower_bound() / total : 1.0);
    }
    return *std::move(recorded);
  }

  // Privacy: charges, then draws. Both see public values only until the charge is made.
  template <class Draw>
  StepRecord charged_step(const std::string& what, Cost cost, Rho rho, const std::string& request,
                          Draw&& draw) {
    // The run has paid for a group's steps when it was divided.
    const bool in_group = !prefix.empty();
    const Cost recorded = in_group ? Cost() : cost;
    const Rho recorded_rho = in_group ? Rho(0.0) : rho;
    if (mutant(Mutant::SpendAfterDrawing)) {
      auto record = step(request, recorded, recorded_rho, draw);
      filter.charge(prefix + what, cost, rho);
      return record;
    }
    filter.charge(prefix + what, cost, rho);
    return step(request, recorded, recorded_rho, draw);
  }
  template <class Draw>
  StepRecord free_step(const std::string& request, Draw&& draw) {
    return step(request, Cost(), Rho(0.0), draw);
  }

  // Privacy: public. A scale the samplers can't draw is refused here, before anything is charged.
  NoisePlan plan_noise(const LinearQuery& query, Cost cost, NoiseKind kind) const {
    const auto sensitivity = this->sensitivity(query);
    const bool exact_total = query.clique.empty() && mutant(Mutant::PeekAtTotal);
    if (sensitivity.l1.value() == 0.0 || exact_total) return {};
    if (cost.is_zero()) {
      throw BudgetError("A measurement needs a budget above zero; nothing is left for it.");
    }
    NoisePlan plan{.kind = kind, .units = 0.0};
    if (kind == NoiseKind::Gaussian) {
      check(filter.currency() == Currency::Zcdp, "Gaussian noise is paid for in rho");
      const Sigma need = gaussian_sigma(sensitivity.squared_l2, Rho(cost.lower_bound()));
      plan.units = DiscreteGaussian(need).sigma().value();
    } else {
      check(kind == NoiseKind::Laplace, "noise is Gaussian or Laplace");
      const L1Sensitivity moved(mutant(Mutant::LaplaceByL2)
                                    ? std::sqrt(sensitivity.squared_l2.value())
                                    : sensitivity.l1.value());
      const Scale need = laplace_scale(moved, laplace_budget(filter.currency(), cost));
      plan.units = DiscreteLaplace(need).scale().value();
    }
    if (mutant(Mutant::RoundSigmaDown)) plan.units *= 0.9;
    return plan;
  }

  NoiseKind default_noise() const {
    return filter.currency() == Currency::Zcdp ? NoiseKind::Gaussian : NoiseKind::Laplace;
  }

  std::size_t draw_one(std::span<const std::int64_t> values, Rate rate, Selection how) const {
    if (mutant(Mutant::LargestWins)) {
      return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
    }
    if (mutant(Mutant::DoubleSharpness)) rate.num *= 2;
    auto& entropy = *shared->entropy;
    return how == Selection::Exponential
               ? exponential_draw(values, rate, entropy, settings().threads)
               : permute_and_flip_draw(values, rate, entropy, settings().threads);
  }

  // Privacy: scores on the public grid; they stay inside the gate. All counts are loaded at once.
  std::vector<std::int64_t> values_of(std::span<const Candidate> candidates,
                                      const ScoreGrid& grid) {
    std::vector<Clique> cliques;
    for (const auto& candidate : candidates) {
      for (const auto& term : candidate.score.terms()) cliques.push_back(term.reference->clique);
    }
    load(cliques);
    return evaluate(
        candidates, grid, [&](const Clique& c) -> const Factor& { return counts(c); },
        settings().threads);
  }

  // `lists`: hash_of the cells of each. Privacy: counts are taken by what they are counts of, so
  // they are those of the cells asked for; were two lists ever of one hash, a score would be that
  // of another cell, which one row moves as little.
  std::span<const std::int64_t> values_of(std::span<const CellScores> scores, const ScoreGrid& grid,
                                          std::span<const std::uint64_t> lists) {
    chosen.resize(scores.size());
    const auto known = [&](std::size_t i) {
      const CellScores& cells = scores[i];
      return !cells.among.empty() && cells.query.map.is_identity() && chosen[i].list == lists[i] &&
             chosen[i].counts.size() == cells.among.size() &&
             chosen[i].clique == cells.query.clique;
    };
    std::vector<Clique> cliques;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (!known(i)) cliques.push_back(scores[i].query.clique);
    }
    load(cliques);
    std::vector<std::span<const double>> at_hand;
    at_hand.reserve(scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (known(i)) {
        at_hand.emplace_back(chosen[i].counts);
        continue;
      }
      const Clique& clique = scores[i].query.clique;
      chosen[i] = {clique, lists[i], {}};
      at_hand.push_back(counts_to_evaluate(scores[i], counts(clique), chosen[i].counts));
    }
    evaluate(scores, grid, at_hand, settings().threads, scores_room);
    return scores_room;
  }

  // Privacy: charges first; then scores are evaluated on the public grid and one is drawn.
  template <class Scores, class Values>
  std::size_t select_among(const Scores& scores, const std::string& what, std::string request,
                           Cost cost, Selection how, Values&& values) {
    if (scores.empty()) throw InternalError("A selection needs at least one candidate.");
    const ScoreGrid grid = ScoreGrid::of(scores, domain(), effective_unit());
    if (cost.is_zero()) {
      throw BudgetError("A selection needs a budget above zero; nothing is left for it.");
    }
    const Epsilon epsilon = selection_epsilon(filter.currency(), cost, how);
    const Rate rate = rate_at_most(grid.rate_for(epsilon.value()));
    // The epsilon too, since the same cost buys another one in another currency.
    request += fmt::format("|{}|{:a}|{}|{}|{}", cost.grains(), epsilon.value(),
                           static_cast<int>(how), grid.shift, grid.sensitivity);
    const auto record = charged_step(what, cost, selection_rho(epsilon, how), request, [&] {
      const std::size_t drawn = draw_one(values(grid), rate, how);
      return std::vector<std::vector<std::int64_t>>{{static_cast<std::int64_t>(drawn)}};
    });
    return static_cast<std::size_t>(single(record));
  }

  std::int64_t single(const StepRecord& record) const {
    if (record.results.size() != 1 || record.results[0].size() != 1) damaged();
    return record.results[0][0];
  }

  // The record of the last step is not of what was asked; it may be mended and resumed.
  [[noreturn]] void damaged() const {
    shared->interrupted = true;
    throw UsageError("The interrupted run's transcript does not fit its settings; start anew.");
  }

  std::size_t choices(const CellScores& cells) const {
    return cells.among.empty() ? cells.query.map.outputs(domain().cells(cells.query.clique))
                               : cells.among.size();
  }
  static std::size_t output(const CellScores& cells, std::size_t choice) {
    return cells.among.empty() ? choice : cells.among[choice];
  }

  // From the position among what can be chosen of all scores.
  CellChoice choice(std::span<const CellScores> scores, std::int64_t position) const {
    auto rest = static_cast<std::size_t>(position);
    for (std::size_t i = 0; i < scores.size() && position >= 0; ++i) {
      if (rest < choices(scores[i])) return {i, output(scores[i], rest)};
      rest -= choices(scores[i]);
    }
    damaged();
  }

  // The hash of each list of cells to choose; 0 where all can be chosen.
  static std::vector<std::uint64_t> hash_lists(std::span<const CellScores> scores) {
    std::vector<std::uint64_t> lists;
    lists.reserve(scores.size());
    for (const auto& cells : scores) {
      lists.push_back(cells.among.empty() ? 0 : hash_of(cells.among));
    }
    return lists;
  }

  static std::string describe_scores(std::string_view verb, std::span<const CellScores> scores,
                                     std::span<const std::uint64_t> lists) {
    std::string text = fmt::format("{}:{}", verb, scores.size());
    std::string weight;  // most often the same for all
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const CellScores& cells = scores[i];
      if (i == 0 || cells.weight != scores[i - 1].weight)
        weight = fmt::format("{:a}", cells.weight);
      text += '|';
      text += describe(cells.query);
      const auto kind = mutant(Mutant::ForgetKindOfScore) ? CellScore::Absolute : cells.kind;
      text += fmt::format(",{},", static_cast<int>(kind));
      text += weight;
      if (!cells.among.empty() && !mutant(Mutant::ForgetListOfCells))
        text += fmt::format(",{:x}", lists[i]);
    }
    return text;
  }

  // What one draw at this rate costs, as a pure epsilon.
  Epsilon rate_epsilon(std::span<const CellScores> scores, double rate) const {
    if (!(rate > 0.0 && std::isfinite(rate))) throw InternalError("A rate is a positive number.");
    return Epsilon(ScoreGrid::of(scores, domain(), effective_unit()).epsilon_for(rate));
  }

  Cost rate_price(Epsilon epsilon) const {
    return filter.price(filter.currency() == Currency::Pure ? epsilon.value()
                                                            : exponential_rho(epsilon).value());
  }
};

Curator::Curator(PrivateData data, Filter filter, std::unique_ptr<EntropySource> entropy,
                 std::unique_ptr<Transcript> transcript, CuratorSettings settings) {
  check(entropy != nullptr && transcript != nullptr, "a curator has entropy and a transcript");
  auto shared = std::make_shared<Shared>(
      Shared{std::move(entropy), std::move(transcript), data.unit_, std::move(settings), 0});
  std::vector<std::unique_ptr<DataSource>> sources;
  sources.push_back(std::move(data.source_));
  impl_ = std::make_unique<Impl>(
      Impl{std::move(shared), std::move(sources), std::move(filter), "", {}, {}, 0, {}, {}});
}

Curator::Curator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Curator::~Curator() = default;
Curator::Curator(Curator&&) noexcept = default;
Curator& Curator::operator=(Curator&&) noexcept = default;

const Domain& Curator::domain() const { return impl_->domain(); }
const PrivacyUnit& Curator::unit() const { return impl_->shared->unit; }
Currency Curator::currency() const { return impl_->filter.currency(); }
Cost Curator::remaining() const { return impl_->filter.remaining(); }
Threads Curator::threads() const { return impl_->settings().threads; }
bool Curator::seeded() const { return impl_->shared->entropy->seeded(); }
const Filter& Curator::filter() const { return impl_->filter; }
std::size_t Curator::steps() const { return impl_->shared->step; }
bool Curator::interrupted() const { return impl_->shared->interrupted; }

Sigma Curator::noise_scale(const LinearQuery& query, Cost cost) const {
  const auto plan = impl_->plan_noise(query, cost, impl_->default_noise());
  return Sigma(standard_deviation(plan, query.map.unit()));
}

Cost Curator::cost_for(const LinearQuery& query, Sigma sigma) const {
  const auto sensitivity = impl_->sensitivity(query);
  if (sensitivity.l1.value() == 0.0) return {};
  const double units = sigma.value() / query.map.unit();
  if (impl_->filter.currency() == Currency::Zcdp) {
    return impl_->filter.price(gaussian_rho(sensitivity.squared_l2, Sigma(units)).value());
  }
  const Scale scale(units / std::numbers::sqrt2);
  return impl_->filter.price(laplace_epsilon(sensitivity.l1, scale).value());
}

Cost Curator::cost_for_rate(std::span<const CellScores> scores, double rate) const {
  return impl_->rate_price(impl_->rate_epsilon(scores, rate));
}

Measurement Curator::measure(const LinearQuery& query, Cost cost) {
  return measure(query, cost, impl_->default_noise());
}

Measurement Curator::measure(const LinearQuery& query, Cost cost, NoiseKind noise) {
  return std::move(measure_all(std::span(&query, 1), std::span(&cost, 1), noise).front());
}

std::vector<Measurement> Curator::measure_all(std::span<const LinearQuery> queries, Cost total) {
  if (queries.empty()) return {};
  const std::vector<Cost> costs(queries.size(), total / static_cast<double>(queries.size()));
  return measure_all(queries, costs);
}

std::vector<Measurement> Curator::measure_all(std::span<const LinearQuery> queries,
                                              std::span<const Cost> costs) {
  return measure_all(queries, costs, impl_->default_noise());
}

std::vector<Measurement> Curator::measure_all(std::span<const LinearQuery> queries,
                                              std::span<const Cost> costs, NoiseKind noise) {
  check(queries.size() == costs.size(), "each query has a cost");
  if (queries.empty()) return {};

  std::vector<NoisePlan> plans;
  std::vector<Clique> cliques;
  Cost cost;
  double rho = 0.0;
  std::string request = "measure";
  for (std::size_t i = 0; i < queries.size(); ++i) {
    plans.push_back(impl_->plan_noise(queries[i], costs[i], noise));
    cliques.push_back(queries[i].clique);
    // The scale too, since the same cost buys another one with other neighbours or currency.
    request += fmt::format("|{},{},{},{:a}", describe(queries[i]), costs[i].grains(),
                           static_cast<int>(plans.back().kind), plans.back().units);
    if (plans.back().kind == NoiseKind::None) continue;
    cost = cost + costs[i];
    const Rho step_rho =
        noise == NoiseKind::Gaussian
            ? Rho(costs[i].upper_bound())
            : pure_rho(Epsilon(laplace_budget(impl_->filter.currency(), costs[i]).value()));
    rho = std::nextafter(rho + step_rho.value(), HUGE_VAL);
  }
  const std::string what = queries.size() == 1
                               ? "measure " + domain().describe(queries.front().clique)
                               : fmt::format("measure {} marginals", queries.size());
  const auto draw = [&] {
    impl_->load(cliques);
    std::vector<std::vector<std::int64_t>> results;
    for (std::size_t i = 0; i < queries.size(); ++i) {
      results.push_back(exact_answer(queries[i], impl_->counts(cliques[i])));
      add_noise(plans[i], results.back(), *impl_->shared->entropy);
    }
    return results;
  };
  const auto record = cost.is_zero()  // exact and free
                          ? impl_->free_step(request, draw)
                          : impl_->charged_step(what, cost, Rho(rho), request, draw);

  if (record.results.size() != queries.size()) impl_->damaged();
  std::vector<Measurement> measurements;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (record.results[i].size() != queries[i].map.outputs(domain().cells(cliques[i]))) {
      impl_->damaged();
    }
    Measurement out;
    out.query = queries[i];
    out.noise = plans[i].kind;
    out.sigma = Sigma(standard_deviation(plans[i], queries[i].map.unit()));
    out.values.reserve(record.results[i].size());
    for (const auto value : record.results[i]) {
      out.values.push_back(std::ldexp(static_cast<double>(value), queries[i].map.unit_exponent()));
    }
    measurements.push_back(std::move(out));
  }
  return measurements;
}

std::size_t Curator::select(std::span<const Candidate> candidates, Cost cost, Selection how) {
  std::string request = fmt::format("select:{}", candidates.size());
  for (const auto& candidate : candidates) request += '|' + describe(candidate);
  const std::size_t drawn = impl_->select_among(
      candidates, fmt::format("select one of {} candidates", with_commas(candidates.size())),
      std::move(request), cost, how,
      [&](const ScoreGrid& grid) { return impl_->values_of(candidates, grid); });
  if (drawn >= candidates.size()) impl_->damaged();
  return drawn;
}

CellChoice Curator::select_cell(std::span<const CellScores> scores, Cost cost, Selection how) {
  std::size_t cells = 0;
  for (const auto& table : scores) cells += impl_->choices(table);
  const auto lists = Impl::hash_lists(scores);
  const std::size_t drawn = impl_->select_among(
      scores, fmt::format("select one of {} cells", with_commas(cells)),
      Impl::describe_scores("select_cell", scores, lists), cost, how,
      [&](const ScoreGrid& grid) { return impl_->values_of(scores, grid, lists); });
  return impl_->choice(scores, static_cast<std::int64_t>(drawn));
}

std::vector<CellChoice> Curator::sample_cells(std::span<const CellScores> scores, double rate,
                                              std::size_t draws) {
  if (draws == 0) return {};
  const Epsilon epsilon = impl_->rate_epsilon(scores, rate);
  const ScoreGrid grid = ScoreGrid::of(scores, domain(), impl_->effective_unit());
  const Rate rate_of_steps = rate_at_most(rate * grid.step());
  const auto times = mutant(Mutant::OneDrawPaid) ? 1.0 : static_cast<double>(draws);
  const auto lists = Impl::hash_lists(scores);
  const std::string request =
      Impl::describe_scores("sample_cells", scores, lists) +
      fmt::format("|{:a}|{}|{}|{}", rate, draws, grid.shift, grid.sensitivity);
  const Cost price = impl_->rate_price(epsilon) * times;  // exact: `draws` is a whole number
  const double rho_times = mutant(Mutant::OneDrawsRho) ? 1.0 : times;
  const Rho rho(std::nextafter(exponential_rho(epsilon).value() * rho_times, HUGE_VAL));
  const std::string what = fmt::format("draw {} cells", with_commas(draws));
  const auto record = impl_->charged_step(what, price, rho, request, [&] {
    const auto values = impl_->values_of(scores, grid, lists);
    Rate sharpness = rate_of_steps;
    if (mutant(Mutant::DoubleSharpness)) sharpness.num *= 2;
    const ExponentialTable table(values, sharpness, impl_->settings().threads);
    std::vector<std::size_t> drawn(draws);
    table.draw_many(drawn, *impl_->shared->entropy);
    return std::vector<std::vector<std::int64_t>>{{drawn.begin(), drawn.end()}};
  });
  if (record.results.size() != 1 || record.results[0].size() != draws) impl_->damaged();

  std::vector<std::size_t> starts = {0};
  for (const auto& cells : scores) starts.push_back(starts.back() + impl_->choices(cells));
  std::vector<CellChoice> choices;
  choices.reserve(draws);
  for (const auto position : record.results[0]) {
    if (position < 0 || static_cast<std::size_t>(position) >= starts.back()) impl_->damaged();
    const auto after = std::ranges::upper_bound(starts, static_cast<std::size_t>(position));
    const auto which = static_cast<std::size_t>(after - starts.begin()) - 1;
    const std::size_t choice = static_cast<std::size_t>(position) - starts[which];
    choices.push_back({which, Impl::output(scores[which], choice)});
  }
  return choices;
}

std::vector<Curator> Curator::partition(const PublicKey& key, Cost each) {
  if (unit().neighbors != Neighbors::AddRemove) {
    throw UsageError(
        "Groups of rows are measured apart only under --neighbors add-remove; choose that.");
  }
  check(key.group.size() == domain()[key.attribute].size, "a key has a group for each code");
  std::vector<bool> used(key.groups, false);
  for (const auto group : key.group) {
    check(group < key.groups, "a key's groups are numbered from 0");
    used[group] = true;
  }
  check(std::ranges::find(used, false) == used.end(), "each group of a key has at least one code");
  Rho rho(each.upper_bound());
  if (currency() == Currency::Pure) rho = pure_rho(Epsilon(each.upper_bound()));
  if (mutant(Mutant::CheapGroupRho)) rho = Rho(rho.value() / 4.0);
  std::string request = fmt::format("partition|{}|{}", key.attribute, each.grains());
  for (const auto group : key.group) request += fmt::format(",{}", group);
  const auto nothing = [] { return std::vector<std::vector<std::int64_t>>(); };
  if (mutant(Mutant::FreeGroups)) {
    impl_->free_step(request, nothing);
  } else {
    impl_->charged_step(fmt::format("divide into {} groups", key.groups), each, rho, request,
                        nothing);
  }

  std::vector<Curator> parts;
  for (std::size_t g = 0; g < key.groups; ++g) {
    std::vector<std::unique_ptr<DataSource>> sources;
    for (const auto& source : impl_->sources) {
      for (Code code = 0; code < key.group.size(); ++code) {
        const bool mine = key.group[code] == g || mutant(Mutant::GroupsOverlap);
        if (mine) sources.push_back(source->where(key.attribute, code));
      }
    }
    Filter filter = currency() == Currency::Zcdp ? Filter::zcdp(Rho(each.lower_bound()))
                                                 : Filter::pure(Epsilon(each.lower_bound()));
    parts.push_back(
        Curator(std::make_unique<Impl>(Impl{impl_->shared,
                                            std::move(sources),
                                            std::move(filter),
                                            impl_->prefix + fmt::format("group {}: ", g + 1),
                                            {},
                                            {},
                                            0,
                                            {},
                                            {}})));
  }
  return parts;
}

}  // namespace tandem
