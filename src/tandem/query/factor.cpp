// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/factor.h"

#include <numeric>

#include "tandem/base/check.h"
#include "tandem/query/cell_map.h"

namespace tandem {

double total(const Factor& factor) {
  return std::accumulate(factor.values.begin(), factor.values.end(), 0.0);
}

Factor marginalize(const Factor& factor, const Domain& domain, const Clique& onto) {
  check(factor.clique.contains(onto), "a factor is summed down to a part of its clique");
  Factor out{onto, std::vector<double>(domain.cells(onto), 0.0)};
  for_each_cell(domain, factor.clique, onto,
                [&](std::size_t from, std::size_t to) { out.values[to] += factor.values[from]; });
  return out;
}

}  // namespace tandem
