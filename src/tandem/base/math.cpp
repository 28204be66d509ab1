// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/math.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "tandem/base/check.h"
#include "tandem/base/rng.h"

namespace tandem {

std::vector<double> project_to_simplex(std::span<const double> values, double total) {
  check(total > 0.0 && !values.empty(), "a simplex has a positive total and a corner");
  // Duchi, Shalev-Shwartz, Singer, Chandra 2008: shift by the threshold that leaves `total`. The
  // largest value is taken off first, which moves nothing but keeps `total` from drowning in it.
  const double largest = std::ranges::max(values);
  std::vector<double> sorted;
  sorted.reserve(values.size());
  for (const double value : values) sorted.push_back(value - largest);
  std::ranges::sort(sorted, std::greater<>());
  double sum = 0.0;
  double threshold = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double candidate = (sum - total) / static_cast<double>(i + 1);
    if (sorted[i] - candidate > 0.0) threshold = candidate;
  }
  std::vector<double> out;
  out.reserve(values.size());
  for (const double value : values) out.push_back(std::max(0.0, value - largest - threshold));
  return out;
}

std::vector<std::size_t> round_to_total(std::span<const double> weights, std::size_t total,
                                        Rng& rng) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  check(sum > 0.0 && std::isfinite(sum), "rows are shared out by weights with a positive sum");
  // Entry i gets the whole numbers k with k + u in its stretch of the line from 0 to total: from
  // its start to just before its end, so that an empty stretch has none even when u is 0.
  std::vector<std::size_t> out(weights.size(), 0);
  const double u = rng.uniform();
  double end = 0.0;
  std::size_t given = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    end += weights[i] / sum * static_cast<double>(total);
    const double reach = std::ceil(end - u);
    const auto upto = static_cast<std::size_t>(std::clamp(reach, 0.0, static_cast<double>(total)));
    out[i] = upto > given ? upto - given : 0;
    given = std::max(given, upto);
    if (weights[i] > 0.0) last = i;
  }
  out[last] += total - given;  // what rounding of the sum left over
  return out;
}

}  // namespace tandem
