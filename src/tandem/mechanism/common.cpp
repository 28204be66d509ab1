// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/common.h"

#include <algorithm>
#include <numeric>

#include "tandem/base/check.h"

namespace tandem {

std::vector<LinearQuery> one_way_marginals(const Domain& domain) {
  std::vector<LinearQuery> queries;
  for (AttributeId id = 0; id < domain.size(); ++id) queries.push_back({Clique{id}});
  return queries;
}

std::optional<double> public_total(Curator& curator) {
  const LinearQuery total{Clique{}};
  const Cost nothing;
  if (curator.unit().neighbors != Neighbors::ReplaceOne || curator.unit().rows_per_person != 1) {
    return std::nullopt;
  }
  const double rows = curator.measure(total, nothing).values.front();
  if (rows < 1.0) throw UsageError("The private table has no rows; give one with at least one.");
  return rows;
}

double estimate_total(std::span<const Measurement> marginals) {
  check(!marginals.empty(), "a total is estimated from at least one marginal");
  double weighted = 0.0;
  double weights = 0.0;
  for (const auto& marginal : marginals) {
    check(marginal.query.map.is_identity() && marginal.sigma > Sigma(0.0),
          "a total is estimated from noisy marginals");
    const double variance = static_cast<double>(marginal.values.size()) * marginal.sigma.value() *
                            marginal.sigma.value();
    weighted += std::accumulate(marginal.values.begin(), marginal.values.end(), 0.0) / variance;
    weights += 1.0 / variance;
  }
  return std::max(1.0, weighted / weights);
}

}  // namespace tandem
