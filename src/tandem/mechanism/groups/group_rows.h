// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many rows each group gets, of noisy totals: which groups could be noise alone, and what those
// have together. Post-processing.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tandem/optimize/consistent_totals.h"

namespace tandem {

// How many rows groups have, by everything that was measured of them.
struct GroupTotals {
  std::vector<NoisyTotal> of;
  // A total at or above this is seldom the noise of a group without rows: with all groups empty,
  // one run in twenty would have one, at most.
  double least = 1.0;
  double largest = 0.0;  // standard deviation of the largest Laplace variable in a total
};

// Totals that agree: of fine groups with those of coarse ones, and of coarse ones with n where it
// is public. By least squares.
std::vector<double> agreeing_totals(const GroupTotals& fine, const GroupTotals& coarse,
                                    std::span<const std::size_t> coarse_of,
                                    std::optional<double> n);

// Rows of each fine group, at least 0, from totals x as above or as they were measured.
//
// A total of `least` or more stays. The others could each be empty, but not all of them need be:
// what those of a coarse group have together is known better than what each has, and where that is
// more than noise they share it out. Then the same for all that are still without rows, against
// n. Otherwise they get nothing, and what x gave them goes to their coarse group's others in equal
// parts: least squares with the empty groups at 0. So no group gets the rows of another.
//
// How they share: the prior of such a group's number of rows is the one under which their totals
// are most likely, a group gets its posterior mean, or none where it is more likely empty, and all
// are scaled to what they have together.
std::vector<double> rows_of_groups(const GroupTotals& fine, const GroupTotals& coarse,
                                   std::span<const std::size_t> coarse_of, std::vector<double> x,
                                   std::optional<double> n);

}  // namespace tandem
