// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/fillers.h"

#include <algorithm>
#include <cmath>

#include "tandem/model/junction_tree.h"

namespace tandem {

Fillers::Fillers(const Domain& domain, std::vector<PublicClique> structure,
                 const std::unordered_map<Clique, double>& weights, double public_rows,
                 double limit_mb)
    : domain_(domain), public_rows_(public_rows), limit_(limit_mb * 1e6) {
  for (auto& found : structure) {
    const double weight = weights.at(found.clique);
    structure_.push_back({std::move(found), weight});
  }
}

Fillers::Choice Fillers::choose(std::span<const Clique> measured, double nu) const {
  Choice choice;
  std::vector<Clique> cliques(measured.begin(), measured.end());
  ModelSizer sizer(domain_, cliques);
  const double noisier = std::sqrt(public_rows_ / std::min(nu, public_rows_));
  for (const auto& [found, weight] : structure_) {
    if (found.gain + found.noise - found.noise * noisier <= 0.0) continue;
    const auto bytes = sizer.bytes_with(found.clique);
    if (!fits(bytes)) {
      choice.lost += found.gain * weight;
      continue;
    }
    choice.kept.push_back(found.clique);
    cliques.push_back(found.clique);
    if (bytes != sizer.bytes()) sizer = ModelSizer(domain_, cliques);
  }
  return choice;
}

}  // namespace tandem
