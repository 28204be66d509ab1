// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/curator.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/curator_impl.h"
#include "tandem/privacy/pricing.h"
#include "tandem/privacy/private_data.h"
#include "tandem/privacy/requests.h"

namespace tandem {

PublicKey PublicKey::codes_of(const Domain& domain, AttributeId attribute) {
  PublicKey key{.attribute = attribute, .group = {}, .groups = domain[attribute].size};
  for (std::size_t code = 0; code < key.groups; ++code) key.group.push_back(code);
  return key;
}

Curator::Curator(PrivateData data, Filter filter, std::unique_ptr<EntropySource> entropy,
                 std::unique_ptr<Transcript> transcript, CuratorSettings settings) {
  check(entropy != nullptr && transcript != nullptr, "a curator has entropy and a transcript");
  std::vector<std::unique_ptr<DataSource>> sources;
  sources.push_back(std::move(data.source_));
  CountCache counts(std::move(sources), settings.cache_bytes);
  auto shared = std::make_shared<Shared>(Shared{.entropy = std::move(entropy),
                                                .transcript = std::move(transcript),
                                                .unit = data.unit_,
                                                .settings = std::move(settings)});
  impl_ = std::make_unique<Impl>(
      Impl{.shared = std::move(shared), .counts = std::move(counts), .filter = std::move(filter)});
}

Curator::Curator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Curator::~Curator() = default;
Curator::Curator(Curator&&) noexcept = default;
Curator& Curator::operator=(Curator&&) noexcept = default;

const Domain& Curator::domain() const { return impl_->domain(); }
const PrivacyUnit& Curator::unit() const { return impl_->shared->unit; }
Currency Curator::currency() const { return impl_->filter.currency(); }
Cost Curator::remaining() const { return impl_->filter.remaining(); }
Cost Curator::let_go() { return impl_->filter.let_go(); }
Threads Curator::threads() const { return impl_->settings().threads; }
bool Curator::seeded() const { return impl_->shared->entropy->seeded(); }
const Filter& Curator::filter() const { return impl_->filter; }
std::size_t Curator::steps() const { return impl_->shared->step; }
bool Curator::interrupted() const { return impl_->shared->interrupted; }
std::span<const Step> Curator::history() const { return impl_->shared->history; }

Sigma Curator::noise_scale(const LinearQuery& query, Cost cost) const {
  const auto plan = impl_->plan(query, cost, impl_->default_noise());
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

std::vector<Measurement> Curator::Impl::measured(std::span<const LinearQuery> queries,
                                                 std::span<const NoisePlan> plans,
                                                 const std::string& request, Step told) {
  std::vector<Clique> cliques;
  for (const auto& query : queries) cliques.push_back(query.clique);
  const std::string what = queries.size() == 1
                               ? "measure " + domain().describe(queries.front().clique)
                               : fmt::format("measure {} marginals", queries.size());
  const auto draw = [&] {
    counts.load(cliques);
    std::vector<std::vector<std::int64_t>> results;
    for (std::size_t i = 0; i < queries.size(); ++i) {
      results.push_back(exact_answer(queries[i], counts.counts(cliques[i])));
      add_noise(plans[i], results.back(), *shared->entropy);
    }
    return results;
  };
  const bool is_free = told.cost.is_zero();  // exact
  const auto record = is_free ? free_step(request, draw) : charged_step(what, told, request, draw);

  if (record.results.size() != queries.size()) damaged();
  std::vector<Measurement> measurements;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (record.results[i].size() != queries[i].map.outputs(domain().cells(cliques[i]))) damaged();
    Measurement out;
    out.query = queries[i];
    out.noise = plans[i].kind;
    out.sigma = Sigma(standard_deviation(plans[i], queries[i].map.unit()));
    told.measured.push_back({cliques[i], record.results[i].size(), out.sigma.value()});
    out.values.reserve(record.results[i].size());
    for (const auto value : record.results[i]) {
      out.values.push_back(std::ldexp(static_cast<double>(value), queries[i].map.unit_exponent()));
    }
    measurements.push_back(std::move(out));
  }
  if (is_free) told.noise = NoiseKind::None;
  tell(std::move(told));
  return measurements;
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
  Cost cost;
  double rho = 0.0;
  std::string request = "measure";
  for (std::size_t i = 0; i < queries.size(); ++i) {
    plans.push_back(impl_->plan(queries[i], costs[i], noise));
    // The scale too, since the same cost buys another one with other neighbours or currency.
    request += fmt::format("|{},{},{},{:a}", request_of(queries[i]), costs[i].grains(),
                           static_cast<int>(plans.back().kind), plans.back().units);
    if (plans.back().kind == NoiseKind::None) continue;
    cost = cost + costs[i];
    rho = std::nextafter(rho + impl_->measuring_rho(costs[i], noise).value(), HUGE_VAL);
  }
  return impl_->measured(
      queries, plans, request,
      {.kind = StepKind::Measure, .noise = noise, .cost = cost, .rho = Rho(rho)});
}

Sigma Curator::noise_together(std::span<const WeightedQuery> queries, Cost cost,
                              NoiseKind noise) const {
  const auto common = impl_->plan_together(queries, cost, noise);
  return Sigma(standard_deviation(common, 1.0));
}

std::vector<Measurement> Curator::measure_together(std::span<const WeightedQuery> queries,
                                                   Cost cost, NoiseKind noise) {
  if (queries.empty()) return {};
  const NoisePlan common = impl_->plan_together(queries, cost, noise);
  std::vector<LinearQuery> asked;
  std::vector<NoisePlan> plans;
  std::string request = fmt::format("measure_together|{}|{}|{:a}", cost.grains(),
                                    static_cast<int>(common.kind), common.units);
  for (const auto& [query, weight] : queries) {
    asked.push_back(query);
    // Privacy: a query that nobody can move adds nothing to the stack's sensitivity.
    const bool moves = impl_->sensitivity(query).l1.value() > 0.0;
    plans.push_back(moves ? divided(common, weight) : NoisePlan{});
    request += fmt::format("|{},{}", request_of(query),
                           mutant(Mutant::ForgetWeights) ? std::int64_t{1} : weight);
  }
  Step told{.kind = StepKind::Measure, .noise = noise};
  if (common.kind != NoiseKind::None) {
    told.cost = cost;
    told.rho = impl_->measuring_rho(cost, noise);
    if (mutant(Mutant::StacksRhoHalved)) told.rho = Rho(told.rho.value() / 2.0);
  }
  return impl_->measured(asked, plans, request, std::move(told));
}

std::vector<Curator> Curator::partition(const PublicKey& key, Cost each) {
  if (unit().neighbors != Neighbors::AddRemove) {
    throw UsageError("Groups of rows are measured apart only under " TANDEM_SETTING(
        "neighbors") " add-remove; choose that.");
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
  const Step told{.kind = StepKind::Divide, .groups = key.groups, .cost = each, .rho = rho};
  if (mutant(Mutant::FreeGroups)) {
    impl_->free_step(request, nothing);
  } else {
    impl_->charged_step(fmt::format("divide into {} groups", key.groups), told, request, nothing);
  }
  impl_->tell(told);

  std::vector<Curator> parts;
  for (std::size_t g = 0; g < key.groups; ++g) {
    std::vector<std::unique_ptr<DataSource>> sources;
    for (const auto& source : impl_->counts.sources()) {
      for (Code code = 0; code < key.group.size(); ++code) {
        const bool mine = key.group[code] == g || mutant(Mutant::GroupsOverlap);
        if (mine) sources.push_back(source->where(key.attribute, code));
      }
    }
    Filter filter = currency() == Currency::Zcdp ? Filter::zcdp(Rho(each.lower_bound()))
                                                 : Filter::pure(Epsilon(each.lower_bound()));
    parts.push_back(Curator(std::make_unique<Impl>(
        Impl{.shared = impl_->shared,
             .counts = CountCache(std::move(sources), impl_->settings().cache_bytes),
             .filter = std::move(filter),
             .group = g + 1,
             .prefix = impl_->prefix + fmt::format("group {}: ", g + 1)})));
  }
  return parts;
}

}  // namespace tandem
