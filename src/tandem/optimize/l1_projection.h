// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers that are possible and as near to noisy ones, in L1, as possible answers come.
//
//   y = argmin |y - y~|_1   over y >= 0 with sum 1 (or at most 1)
//
// The minimum is a whole polytope: with pos = max(y~, 0), every y <= pos of sum 1 where pos sums to
// 1 or more, every y >= pos of sum 1 where it sums to less. A tie rule picks one of them.

#include <span>

namespace tandem {

enum class Tie {
  Prior,  // of least relative entropy to b: min(pos, c b) or max(pos, c b), with c for the sum
  Scaled  // pos / sum of pos
};

// `b`: what the distribution answers now, not negative. `exhaustive`: the answers sum to 1;
// otherwise to at most 1, and y is pos where that does. Where b is 0 throughout, what pos leaves is
// spread evenly. One pass over the cells for each of a few steps; none of the results is NaN.
void project_l1(std::span<const double> noisy, std::span<const double> b, bool exhaustive, Tie tie,
                std::span<double> y);
// The same, looking for c from where it was the last time; 0 where that is not known.
void project_l1(std::span<const double> noisy, std::span<const double> b, bool exhaustive, Tie tie,
                std::span<double> y, double& c);

}  // namespace tandem
