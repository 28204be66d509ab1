// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/marginal_cover.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace tandem {
namespace {

constexpr double kLeastStart = 1e-2;  // of the largest weight, for sets that hold nothing

}  // namespace

MarginalCover::MarginalCover(const PlanningProblem& problem, std::span<const Clique> sets,
                             std::span<const ColumnSplit> splits)
    : held_(sets.size()) {
  ColumnErrors errors(problem.sizes.size(), splits);
  std::unordered_map<Clique, std::size_t> index;
  for (std::size_t a = 0; a < sets.size(); ++a) {
    index[sets[a]] = a;
    cells_.push_back(1.0);
    for (const auto id : sets[a]) cells_.back() /= splits[id].shared;
  }
  std::unordered_map<Clique, std::size_t> items;
  for (const auto& item : problem.workload) {
    const Clique asked = asked_columns(problem, item);
    const auto home = index.find(asked);
    if (asked.empty() || home == index.end()) continue;
    double k = item.weight * item.weight;
    for (std::size_t i = 0; i < item.clique.size(); ++i) {
      const auto id = item.clique[i];
      const auto pair = errors.of(id, item.factors[i], problem.sizes[id]);
      k *= splits[id].shared * pair.inside + pair.outside;
    }
    const auto [found, is_new] = items.try_emplace(asked, cliques_.size());
    if (is_new) {
      cliques_.push_back(asked);
      home_.push_back(home->second);
      k_.push_back(0.0);
    }
    k_[found->second] += k;
  }
  for (std::size_t a = 0; a < sets.size(); ++a) {
    if (sets[a].size() < 20 && std::size_t{1} << sets[a].size() < cliques_.size()) {
      for (const auto& part : subsets(sets[a])) {
        if (const auto found = items.find(part); found != items.end()) {
          held_[a].push_back(found->second);
        }
      }
      continue;
    }
    for (std::size_t b = 0; b < cliques_.size(); ++b) {
      if (sets[a].contains(cliques_[b])) held_[a].push_back(b);
    }
  }
}

std::vector<double> MarginalCover::start(double disorder, Rng& rng, const Threads& threads) const {
  std::vector<double> k = k_;
  for (double& weight : k) weight *= std::exp(disorder * (2.0 * rng.uniform() - 1.0));
  std::vector<std::size_t> owner = home_;
  std::vector<double> load(held_.size(), 0.0);
  for (std::size_t b = 0; b < k.size(); ++b) load[owner[b]] += k[b];
  const auto cost = [&](std::size_t a, double with) { return std::cbrt(with * cells_[a]); };
  std::vector<double> moved(held_.size(), 0.0);
  for (;;) {
    threads.check();
    double best_gain = 0.0;
    std::size_t best = 0;
    for (std::size_t a = 0; a < held_.size(); ++a) {
      double arriving = 0.0;
      for (const auto b : held_[a]) {
        if (owner[b] == a) continue;
        moved[owner[b]] += k[b];
        arriving += k[b];
      }
      double gain = cost(a, load[a]) - cost(a, load[a] + arriving);
      for (const auto b : held_[a]) {
        const std::size_t from = owner[b];
        if (moved[from] == 0.0) continue;
        gain += cost(from, load[from]) - cost(from, std::max(0.0, load[from] - moved[from]));
        moved[from] = 0.0;
      }
      if (gain > best_gain * (1.0 + 1e-9) + 1e-9) {
        best_gain = gain;
        best = a;
      }
    }
    if (best_gain == 0.0) break;
    for (const auto b : held_[best]) owner[b] = best;
    std::ranges::fill(load, 0.0);
    for (std::size_t b = 0; b < k.size(); ++b) load[owner[b]] += k[b];
  }
  std::vector<double> out;
  double largest = 0.0;
  for (std::size_t a = 0; a < held_.size(); ++a) largest = std::max(largest, cost(a, load[a]));
  for (std::size_t a = 0; a < held_.size(); ++a) {
    out.push_back(std::log(cost(a, load[a]) / largest + kLeastStart));
  }
  return out;
}

}  // namespace tandem
