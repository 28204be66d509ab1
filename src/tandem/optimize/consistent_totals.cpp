// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/consistent_totals.h"

#include "tandem/base/check.h"

namespace tandem {

ConsistentTotals consistent_totals(std::span<const NoisyTotal> fine,
                                   std::span<const NoisyTotal> coarse,
                                   std::span<const std::size_t> coarse_of) {
  check(coarse_of.size() == fine.size(), "each fine group is in one coarse group");
  std::vector<double> missing(coarse.size());
  std::vector<double> variance(coarse.size());
  for (std::size_t s = 0; s < coarse.size(); ++s) {
    missing[s] = coarse[s].value;
    variance[s] = coarse[s].variance;
  }
  for (std::size_t g = 0; g < fine.size(); ++g) {
    check(coarse_of[g] < coarse.size(), "a fine group is in a coarse group that there is");
    missing[coarse_of[g]] -= fine[g].value;
    variance[coarse_of[g]] += fine[g].variance;
  }
  ConsistentTotals out{.fine = {}, .coarse = std::vector<double>(coarse.size(), 0.0)};
  for (std::size_t g = 0; g < fine.size(); ++g) {
    const std::size_t s = coarse_of[g];
    const double share = variance[s] > 0.0 ? fine[g].variance / variance[s] : 0.0;
    out.fine.push_back(fine[g].value + share * missing[s]);
    out.coarse[s] += out.fine.back();
  }
  return out;
}

}  // namespace tandem
