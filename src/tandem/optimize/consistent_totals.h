// SPDX-License-Identifier: Apache-2.0
#pragma once
// Noisy totals of groups, made to agree with noisy totals of the coarser groups that they are in.
//
//   min sum_g (x_g - f_g)^2 / v_g + sum_S (X_S - c_S)^2 / V_S   with X_S = sum of x_g for g in S
//
// Each coarse group by itself: what is missing is shared out by the variances.

#include <cstddef>
#include <span>
#include <vector>

namespace tandem {

struct NoisyTotal {
  double value = 0.0;
  double variance = 0.0;
};

struct ConsistentTotals {
  std::vector<double> fine;
  std::vector<double> coarse;
};

// `coarse_of`: the coarse group of each fine one. Where nothing has a variance, the fine totals
// decide.
ConsistentTotals consistent_totals(std::span<const NoisyTotal> fine,
                                   std::span<const NoisyTotal> coarse,
                                   std::span<const std::size_t> coarse_of);

}  // namespace tandem
