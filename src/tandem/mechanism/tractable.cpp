// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/tractable.h"

#include <cmath>
#include <numbers>

#include "tandem/model/junction_tree.h"

namespace tandem {

std::vector<Clique> tractable(std::span<const Clique> candidates, const GraphicalModel& model,
                              std::span<const Clique> measured, double limit_mb) {
  const ModelSizer sizer(model.domain(), measured);
  std::vector<Clique> out;
  for (const auto& candidate : candidates) {
    if (model.tree().find(candidate) < model.tree().cliques.size() ||
        static_cast<double>(sizer.bytes_with(candidate)) <= limit_mb * 1e6) {
      out.push_back(candidate);
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
