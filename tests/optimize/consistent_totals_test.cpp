// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/consistent_totals.h"

#include <gtest/gtest.h>

#include "tandem/base/rng.h"

namespace tandem {
namespace {

TEST(ConsistentTotals, WhatIsMissingIsSharedByTheVariances) {
  const std::vector<NoisyTotal> fine = {{10.0, 1.0}, {20.0, 2.0}, {7.0, 4.0}};
  const std::vector<NoisyTotal> coarse = {{40.0, 2.0}, {7.0, 1.0}};
  const std::vector<std::size_t> of = {0, 0, 1};
  const auto out = consistent_totals(fine, coarse, of);
  EXPECT_DOUBLE_EQ(out.fine[0], 12.0);
  EXPECT_DOUBLE_EQ(out.fine[1], 24.0);
  EXPECT_DOUBLE_EQ(out.coarse[0], 36.0);
  EXPECT_DOUBLE_EQ(out.fine[2], 7.0);
}

TEST(ConsistentTotals, NothingNearbyFitsBetter) {
  Rng rng(1);
  const std::vector<std::size_t> of = {0, 1, 0, 0, 1};
  std::vector<NoisyTotal> fine;
  std::vector<NoisyTotal> coarse;
  for (int g = 0; g < 5; ++g) fine.push_back({100.0 * rng.uniform(), 0.1 + rng.uniform()});
  for (int s = 0; s < 2; ++s) coarse.push_back({200.0 * rng.uniform(), 0.1 + rng.uniform()});
  const auto loss = [&](const std::vector<double>& x) {
    std::vector<double> sums(2, 0.0);
    double out = 0.0;
    for (std::size_t g = 0; g < x.size(); ++g) {
      sums[of[g]] += x[g];
      out += (x[g] - fine[g].value) * (x[g] - fine[g].value) / fine[g].variance;
    }
    for (std::size_t s = 0; s < 2; ++s) {
      out += (sums[s] - coarse[s].value) * (sums[s] - coarse[s].value) / coarse[s].variance;
    }
    return out;
  };
  const auto best = consistent_totals(fine, coarse, of).fine;
  for (int other = 0; other < 200; ++other) {
    auto x = best;
    for (double& value : x) value += 0.1 * (rng.uniform() - 0.5);
    EXPECT_GE(loss(x), loss(best) - 1e-9);
  }
}

TEST(ConsistentTotals, ExactOnesStayAndAnEmptyCoarseGroupIsNothing) {
  const std::vector<NoisyTotal> fine = {{10.0, 0.0}, {5.0, 0.0}};
  const std::vector<NoisyTotal> coarse = {{20.0, 0.0}, {3.0, 1.0}};
  const std::vector<std::size_t> of = {0, 0};
  const auto out = consistent_totals(fine, coarse, of);
  EXPECT_EQ(out.fine, (std::vector<double>{10.0, 5.0}));
  EXPECT_EQ(out.coarse, (std::vector<double>{15.0, 0.0}));
}

}  // namespace
}  // namespace tandem
