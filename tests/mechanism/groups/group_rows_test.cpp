// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/groups/group_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tandem/base/rng.h"
#include "tandem/mechanism/groups/noise_sums.h"

namespace tandem {
namespace {

constexpr double kSigma = 12.0;

double laplace(Rng& rng, double sigma) {
  const double u = rng.uniform() - 0.5;
  return -std::copysign(sigma / std::sqrt(2.0) * std::log(1.0 - 2.0 * std::abs(u)), u);
}

GroupTotals noisy(const std::vector<double>& rows, Rng& rng) {
  GroupTotals out{.of = {}, .least = 1.0, .largest = kSigma};
  for (const double n : rows) {
    out.of.push_back({n + laplace(rng, kSigma), kSigma * kSigma});
  }
  const SumOfNoise one{NoiseKind::Laplace, kSigma, 1.0};
  out.least = seldom_above(std::span(&one, 1), 0.05 / static_cast<double>(rows.size()));
  return out;
}

double sum(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

std::vector<double> settle(const std::vector<double>& truth, std::size_t families,
                           std::optional<double> n, Rng& rng) {
  const auto fine = noisy(truth, rng);
  std::vector<std::size_t> of;
  std::vector<double> sums(families, 0.0);
  for (std::size_t g = 0; g < truth.size(); ++g) {
    of.push_back(g % families);
    sums[g % families] += truth[g];
  }
  auto coarse = noisy(sums, rng);
  if (n && families == 1) coarse = {.of = {{*n, 0.0}}, .least = 1.0, .largest = 0.0};
  return rows_of_groups(fine, coarse, of, agreeing_totals(fine, coarse, of, n), n);
}

TEST(GroupRows, ManySmallGroupsKeepTheirRowsAndNobodyElseGetsThem) {
  Rng rng(1);
  std::vector<double> truth(400, 30.0);
  truth[7] = 5000.0;
  for (const std::size_t families : {std::size_t{1}, std::size_t{8}, std::size_t{100}}) {
    for (const auto n : {std::optional<double>(sum(truth)), std::optional<double>()}) {
      const auto rows = settle(truth, families, n, rng);
      double off = 0.0;
      for (std::size_t g = 0; g < truth.size(); ++g) off += std::abs(rows[g] - truth[g]);
      // As they were measured they are 3,400 off; 15 of them alone would be 24,000 off.
      EXPECT_LT(off, 2500.0);
      EXPECT_NEAR(rows[7], 5000.0, 5.0 * kSigma);
      EXPECT_NEAR(sum(rows), sum(truth), n ? 1e-6 : 8.0 * kSigma * std::sqrt(400.0));
    }
  }
}

TEST(GroupRows, GroupsThatAreNoneAreSeldomMadeUp) {
  Rng rng(1);
  std::vector<double> truth(64, 0.0);
  for (std::size_t g = 0; g < 10; ++g) truth[6 * g] = 500.0 + 100.0 * static_cast<double>(g);
  for (const std::size_t families : {std::size_t{1}, std::size_t{4}}) {
    for (const auto n : {std::optional<double>(sum(truth)), std::optional<double>()}) {
      int made_up = 0;
      for (int run = 0; run < 200; ++run) {
        const auto rows = settle(truth, families, n, rng);
        bool one = false;
        double off = 0.0;
        for (std::size_t g = 0; g < truth.size(); ++g) {
          one = one || (truth[g] == 0.0 && rows[g] > 0.0);
          if (truth[g] > 0.0) off = std::max(off, std::abs(rows[g] - truth[g]));
        }
        EXPECT_LT(off, 10.0 * kSigma);
        made_up += one ? 1 : 0;
      }
      EXPECT_LE(made_up, 20);
    }
  }
}

TEST(GroupRows, WithoutNoiseTheyAreWhatWasCounted) {
  const GroupTotals fine{.of = {{3.0, 0.0}, {0.0, 0.0}, {9.0, 0.0}}, .least = 1.0, .largest = 0.0};
  const GroupTotals coarse{.of = {{12.0, 0.0}}, .least = 1.0, .largest = 0.0};
  const std::vector<std::size_t> of(3, 0);
  const auto x = agreeing_totals(fine, coarse, of, 12.0);
  EXPECT_EQ(rows_of_groups(fine, coarse, of, x, 12.0), (std::vector<double>{3.0, 0.0, 9.0}));
}

TEST(NoiseSums, OfAWeightedSumTheVarianceAndTheLargestPartAreABound) {
  const std::vector<SumOfNoise> parts = {{NoiseKind::Laplace, 1.0, 30.0},
                                         {NoiseKind::Laplace, 0.2, 400.0},
                                         {NoiseKind::Gaussian, 2.0, 1.0}};
  const double exact = seldom_above(parts, 0.01);
  const double bound = seldom_above(50.0, 1.0, 0.01);
  EXPECT_GE(bound, exact);
  EXPECT_LT(bound, 1.1 * exact);
  EXPECT_EQ(seldom_above(0.0, 1.0, 0.01), 0.0);
}

}  // namespace
}  // namespace tandem
