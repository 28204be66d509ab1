// SPDX-License-Identifier: Apache-2.0
#pragma once
// A table as the sum of its residuals: for each set R of its columns a part that sums to zero along
// the columns of R and is spread along the others by their profiles pi_i (evenly, or not).
//
// The residual of R is kept as a table over R: (kron_R (I - pi 1')) x_R, x_R the marginal.

#include <cstddef>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tandem/query/linear_query.h"

namespace tandem {

using ResidualTables = std::unordered_map<Clique, std::vector<double>>;

// The columns of a clique whose bits are set.
Clique subset_of(const Clique& clique, std::size_t bits);
std::size_t cells_of(std::span<const std::size_t> sizes, const Clique& clique);

// Operations on the middle axis of a table of the shape outer x n x inner.
void centre_along(std::vector<double>& table, std::size_t outer, std::size_t n, std::size_t inner);
std::vector<double> sum_along(std::span<const double> table, std::size_t outer, std::size_t n,
                              std::size_t inner);
// A new axis, which divides what was there by its profile.
std::vector<double> spread_along(std::span<const double> table, std::size_t outer,
                                 std::span<const double> profile, std::size_t inner);

// Goes through all subsets of a clique, column after column: `step(i, inside, table, outer)` gives
// the table after column i is decided, whose axis has `outer` cells before it. Inside, the axis
// then has the column's values; outside, it is gone. An empty table ends this way. What is left in
// the end is handed to `take`.
using AxisStep = std::function<std::vector<double>(
    std::size_t i, bool inside, std::span<const double> table, std::size_t outer)>;
using TakePart = std::function<void(const Clique& part, std::vector<double> table)>;
void for_all_parts(std::span<const std::size_t> sizes, const Clique& clique,
                   std::span<const double> table, const AxisStep& step, const TakePart& take);

// The table over `clique` that has these residuals; those that are missing count as zero.
// profiles[i] is attribute i's.
std::vector<double> table_from_residuals(std::span<const std::vector<double>> profiles,
                                         const ResidualTables& residuals, const Clique& clique);

}  // namespace tandem
