// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/tractable.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "tandem/model/junction_tree.h"

namespace tandem {

std::vector<Clique> offered(std::span<const Clique> candidates, const Domain& domain, Rng& rng,
                            const RoundLimit& limit) {
  std::vector<std::size_t> all(candidates.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto first = std::stable_partition(
      all.begin(), all.end(), [&](std::size_t i) { return candidates[i].size() <= 2; });
  const auto first_large = static_cast<std::size_t>(first - all.begin());
  double cells = 0.0;
  for (const auto& candidate : candidates) cells += static_cast<double>(domain.cells(candidate));
  if (all.size() <= limit.candidates && cells <= static_cast<double>(limit.cells)) {
    return {candidates.begin(), candidates.end()};
  }
  std::vector<std::size_t> chosen;
  std::size_t used = 0;
  for (std::size_t i = 0; i < all.size() && chosen.size() < limit.candidates; ++i) {
    const std::size_t end = i < first_large ? first_large : all.size();
    std::swap(all[i], all[i + static_cast<std::size_t>(rng.below(end - i))]);
    const std::size_t more = domain.cells(candidates[all[i]]);
    if (!chosen.empty() && used + more > limit.cells) continue;
    used += more;
    chosen.push_back(all[i]);
  }
  std::ranges::sort(chosen);
  std::vector<Clique> out;
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

std::vector<Clique> tractable(std::span<const Clique> candidates, const GraphicalModel& model,
                              std::span<const Clique> measured, double limit_mb, Threads threads) {
  const ModelSizer sizer(model.domain(), measured);
  const auto fits = sizer.within(candidates, limit_mb * 1e6, threads);
  std::vector<Clique> out;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (fits[i] != 0 || model.tree().find(candidates[i]) < model.tree().cliques.size()) {
      out.push_back(candidates[i]);
    }
  }
  return out;
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
