// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/rounds/candidates.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <utility>

#include "tandem/model/pgm/junction_tree.h"

namespace tandem {

namespace {

// Positions of the candidates in the order in which a round takes them: single attributes, pairs,
// then the others, each in random order.
std::vector<std::size_t> drawn_order(std::span<const Clique> candidates, Rng& rng) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto large = std::stable_partition(
      order.begin(), order.end(), [&](std::size_t i) { return candidates[i].size() <= 2; });
  const auto pairs = std::stable_partition(
      order.begin(), large, [&](std::size_t i) { return candidates[i].size() <= 1; });
  rng.shuffle(std::span(pairs, large));
  rng.shuffle(std::span(large, order.end()));
  return order;
}

}  // namespace

std::vector<Clique> offered(std::span<const Clique> candidates, const Domain& domain,
                            const HasRoom& has_room, Rng& rng, const RoundLimit& limit) {
  double cells = 0.0;
  for (const auto& candidate : candidates) cells += static_cast<double>(domain.cells(candidate));
  std::vector<Clique> out;
  if (candidates.size() <= limit.candidates && cells <= static_cast<double>(limit.cells)) {
    const auto fits = has_room(candidates);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (fits[i] != 0) out.push_back(candidates[i]);
    }
    return out;
  }
  // Rooms are asked for in batches: in a wide table most candidates never come up.
  const auto order = drawn_order(candidates, rng);
  std::vector<std::size_t> chosen;
  std::size_t used = 0;
  for (std::size_t start = 0; start < order.size() && chosen.size() < limit.candidates;) {
    const std::size_t end = std::min(order.size(), start + limit.candidates);
    std::vector<Clique> batch;
    for (std::size_t i = start; i < end; ++i) batch.push_back(candidates[order[i]]);
    const auto fits = has_room(batch);
    for (std::size_t i = start; i < end && chosen.size() < limit.candidates; ++i) {
      const Clique& candidate = batch[i - start];
      const std::size_t more = domain.cells(candidate);
      const bool within = candidate.size() <= 1 || chosen.empty() || used + more <= limit.cells;
      if (fits[i - start] == 0 || !within) continue;
      used += more;
      chosen.push_back(order[i]);
    }
    start = end;
    if (used >= limit.cells - limit.cells / 64) break;  // full but for crumbs
  }
  std::ranges::sort(chosen);
  for (const auto i : chosen) out.push_back(candidates[i]);
  return out;
}

std::vector<double> attribute_weights(const Workload& workload, const Domain& domain) {
  std::vector<double> weights(domain.size(), 0.0);
  for (const auto& [s, importance] : workload.cliques()) {
    for (const auto id : s) weights[id] += importance;
  }
  return weights;
}

double weight_of(const Clique& r, std::span<const double> attribute_weights) {
  double weight = 0.0;
  for (const auto id : r) weight += attribute_weights[id];
  return weight;
}

HasRoom tractable(const GraphicalModel& model, std::span<const Clique> measured, double limit_mb,
                  Threads threads) {
  // A std::function is copied, and a sizer is not.
  return [&model, sizer = std::make_shared<const ModelSizer>(model.domain(), measured), limit_mb,
          threads](std::span<const Clique> candidates) {
    auto fits = sizer->within(candidates, limit_mb * 1e6, threads);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (model.tree().find(candidates[i]) < model.tree().cliques.size()) fits[i] = 1;
    }
    return fits;
  };
}

HasRoom tractable(const Domain& domain, const std::vector<Clique>& measured, double limit_mb,
                  const Threads& threads) {
  return [measured, sizer = std::make_shared<const ModelSizer>(domain, measured), limit_mb,
          threads](std::span<const Clique> candidates) {
    auto fits = sizer->within(candidates, limit_mb * 1e6, threads);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (fits[i] == 0 && covered_by(candidates[i], measured)) fits[i] = 1;
    }
    return fits;
  };
}

double expected_noise(Sigma sigma, std::size_t cells) {
  return std::sqrt(2.0 / std::numbers::pi) * sigma.value() * static_cast<double>(cells);
}

double l1_distance(const Factor& a, const Factor& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.values.size(); ++i) sum += std::abs(a.values[i] - b.values[i]);
  return sum;
}

}  // namespace tandem
