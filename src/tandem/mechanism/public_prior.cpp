// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/public_prior.h"

namespace tandem {

PublicPrior::PublicPrior(const PublicData& data, double n, const PriorOptions& options,
                         Threads threads) {
  for (const auto& source : data.tables) {
    const auto rows = static_cast<double>(source.table.rows());
    if (rows == 0.0) continue;
    const double most = n * rows / (n + rows);  // numax: as good as private rows, sampled alike
    sources_.push_back(
        {.name = source.name,
         .model = PublicModel(std::span(&source, 1), options.ridge, threads),
         .trust =
             Trust({.most = most, .prior_spread = options.prior_spread, .spread = options.spread}),
         .fixed_nu = options.fixed_trust * most});
  }
}

double PublicPrior::nu() const {
  double sum = 0.0;
  for (const auto& source : sources_) sum += source.nu();
  return sum;
}

void PublicPrior::fit(std::span<const Clique> cliques, double tolerance) {
  for (auto& source : sources_) source.model.fit({cliques.begin(), cliques.end()}, tolerance);
}

std::vector<Factor> PublicPrior::potentials() const {
  std::vector<Factor> out;
  const double all = nu();
  for (const auto& source : sources_) {
    const double share = source.nu() / all;
    for (Factor potential : source.model.potentials()) {
      for (double& value : potential.values) value *= share;
      out.push_back(std::move(potential));
    }
  }
  return out;
}

}  // namespace tandem
