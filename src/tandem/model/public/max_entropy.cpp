// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/public/max_entropy.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tandem/query/cell_map.h"

namespace tandem {
namespace {

constexpr int kMostSweeps = 30;
constexpr double kTolerance = 1e-3;

// Scales to the wanted marginal; gives how far off it was.
double scale_to(Factor& table, const Domain& domain, const Factor& wanted) {
  Factor found = marginalize(table, domain, wanted.clique);
  double off = 0.0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    off += std::abs(found.values[i] - wanted.values[i]);
    found.values[i] = found.values[i] > 0.0 ? wanted.values[i] / found.values[i] : 0.0;
  }
  for_each_cell(domain, table.clique, wanted.clique,
                [&](std::size_t from, std::size_t to) { table.values[from] *= found.values[to]; });
  return off;
}

}  // namespace

Factor from_parts(const Factor& table, const Domain& domain, std::span<const Clique> parts) {
  const double sum = total(table);
  Factor out{table.clique, std::vector<double>(table.values.size(),
                                               sum / static_cast<double>(table.values.size()))};
  if (sum <= 0.0) return out;
  std::vector<Factor> wanted;
  for (const auto id : table.clique) wanted.push_back(marginalize(table, domain, Clique{id}));
  for (const auto& part : parts) {
    if (part.size() > 1) wanted.push_back(marginalize(table, domain, part));
  }
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double off = 0.0;
    for (const auto& marginal : wanted) off = std::max(off, scale_to(out, domain, marginal));
    if (off <= kTolerance * sum) break;
  }
  return out;
}

}  // namespace tandem
