// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/answers/laplace_margins.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tandem/base/rng.h"
#include "tandem/optimize/strategy/reconstruction.h"

namespace tandem {
namespace {

constexpr std::uint64_t kSeed = 20;
constexpr double kMostNumbers = 2e7;     // drawn in all
constexpr std::size_t kEnough = 20'000;  // errors of an item: the quantile is within 1%
constexpr std::size_t kFew = 2'000;      // fewer say too little

double laplace(Rng& rng) {  // of standard deviation 1
  const double u = rng.uniform() - 0.5;
  const double size = -std::log1p(-2.0 * std::abs(u)) / std::numbers::sqrt2;
  return u < 0.0 ? -size : size;
}

}  // namespace

std::vector<double> laplace_margins(const PlanningProblem& problem, const Strategy& strategy,
                                    const StrategyKnowledge& known, const Threads& threads) {
  const std::size_t items = problem.workload.size();
  std::vector<double> out(items, kLaplace95);
  double fewest = HUGE_VAL;
  std::vector<std::vector<double>> deviations;
  const double sensitivity = strategy.sensitivity;
  const double each = strategy.outputs() + problem.queries();
  if (!(sensitivity > 0.0) || each > kMostNumbers) return out;
  for (const auto& item : problem.workload) {
    threads.check();
    auto variances = QueryVariances(problem, strategy, known, item).all();
    for (double& v : variances) v = std::sqrt(v) / sensitivity;  // for s = 1
    fewest = std::min(fewest, static_cast<double>(variances.size()));
    deviations.push_back(std::move(variances));
  }
  const auto draws = static_cast<std::size_t>(std::max(
      1.0, std::min(std::ceil(static_cast<double>(kEnough) / fewest), kMostNumbers / each)));
  Rng rng(kSeed);
  std::vector<std::vector<float>> errors(items);
  for (std::size_t d = 0; d < draws; ++d) {
    threads.check();
    std::vector<std::vector<double>> noise;
    for (const auto& map : strategy.maps) {
      std::size_t outputs = 1;
      for (const auto c : map.columns) outputs *= strategy.columns[c].outputs();
      auto& values = noise.emplace_back(outputs);
      for (double& value : values) value = laplace(rng) / map.weight.value();
    }
    const Reconstruction answers(problem, strategy, known, std::move(noise), 0.0, threads);
    for (std::size_t t = 0; t < items; ++t) {
      if (errors[t].size() >= kEnough) continue;
      const auto found = answers.answer(problem.workload[t]);
      for (std::size_t q = 0; q < found.size(); ++q) {
        if (deviations[t][q] > 0.0) {
          errors[t].push_back(static_cast<float>(std::abs(found[q]) / deviations[t][q]));
        }
      }
    }
  }
  for (std::size_t t = 0; t < items; ++t) {
    if (errors[t].size() < kFew) continue;
    const auto at = errors[t].begin() + static_cast<std::ptrdiff_t>(errors[t].size() * 95 / 100);
    std::nth_element(errors[t].begin(), at, errors[t].end());
    out[t] = std::clamp(static_cast<double>(*at), kNormal95, kLaplace95);
  }
  return out;
}

}  // namespace tandem
