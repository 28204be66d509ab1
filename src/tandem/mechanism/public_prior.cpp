// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/public_prior.h"

#include <algorithm>
#include <utility>

namespace tandem {

PublicPrior::PublicPrior(const PublicData& data, double n, const PriorOptions& options,
                         Threads threads) {
  for (std::size_t t = 0; t < data.tables.size(); ++t) {
    const PublicTable& source = data.tables[t];
    if (source.table.rows() == 0) continue;
    PublicModel model(std::span(&source, 1), options.ridge, threads);
    const double rows = model.rows();
    const double most = n * rows / (n + rows);  // numax: as good as private rows, sampled alike
    sources_.push_back(
        {.name = source.name,
         .table = t,
         .all_rows = source.table.rows(),
         .model = std::move(model),
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

bool PublicPrior::is_learnt() const {
  return std::ranges::any_of(sources_, [](const auto& source) { return source.fixed_nu == 0.0; });
}

void PublicPrior::scale_trust(double by) {
  for (auto& source : sources_) source.scale *= by;
}

std::vector<double> PublicPrior::trusts() const {
  std::vector<double> out;
  for (const auto& source : sources_) out.push_back(source.nu());
  return out;
}

void PublicPrior::fit(std::span<const Clique> cliques, double tolerance) {
  for (auto& source : sources_) source.model.fit(cliques, tolerance);
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
