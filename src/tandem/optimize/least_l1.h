// SPDX-License-Identifier: Apache-2.0
#pragma once
// The least misfit of weights on rows to noisy answers, by linear programming:
//
//   L* = min sum_s |W_s x - y~_s|_1   over x >= 0 with sum 1
//
// where each row is in one cell of each workload s at most. Solved by CLP where tandem was built
// with it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"

namespace tandem {

struct LeastL1Problem {
  std::size_t rows = 0;
  struct Block {
    std::span<const std::uint32_t> cell;  // of each row
    std::span<const double> answers;      // y~; a row whose cell is beyond is in none
  };
  std::vector<Block> blocks;
};

bool has_linear_solver();  // whether this build has CLP

// Nothing without CLP, or when it did not come to an end within its limit of pivots.
std::optional<double> least_l1(const LeastL1Problem& problem, const Threads& threads);

}  // namespace tandem
