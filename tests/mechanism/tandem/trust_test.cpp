// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/tandem/trust.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tandem/base/rng.h"

namespace tandem {
namespace {

double gaussian(Rng& rng) {
  return std::sqrt(-2.0 * std::log(1.0 - rng.uniform())) *
         std::cos(2.0 * std::numbers::pi * rng.uniform());
}

std::vector<double> even(std::size_t cells) {
  return std::vector<double>(cells, 1.0 / static_cast<double>(cells));
}

// Shares that are off by as much as `rows` rows would be, and by noise.
std::vector<double> observed(const std::vector<double>& z, double rows, double sigma, Rng& rng) {
  std::vector<double> y;
  for (const double share : z) {
    y.push_back(share + std::sqrt(share * (1.0 - share) / rows) * gaussian(rng) +
                sigma * gaussian(rng));
  }
  return y;
}

TEST(Trust, RecoversAPlantedNumberOfRows) {
  for (const double rows : {3.0, 100.0, 2000.0}) {
    Rng rng(7);
    Trust trust({.most = 3000.0});
    for (int i = 0; i < 20; ++i) {
      trust.observe(even(30), observed(even(30), rows, 1e-4, rng), 1e-4);
    }
    EXPECT_NEAR(std::log(trust.nu()), std::log(rows), 0.7) << rows;
  }
}

TEST(Trust, IsFullUntilSomethingSpeaksAgainstIt) {
  Trust trust({.most = 500.0});
  EXPECT_NEAR(trust.nu(), 500.0, 1e-9);
  Rng rng(1);
  // Noise so large that it hides everything.
  trust.observe(even(10), observed(even(10), 5.0, 10.0, rng), 10.0);
  EXPECT_NEAR(trust.nu(), 500.0, 1e-9);
}

TEST(Trust, OneOddMarginalAmongManyCostsLittle) {
  Rng rng(2);
  Trust trust({.most = 1000.0});
  for (int i = 0; i < 20; ++i) {
    trust.observe(even(20), observed(even(20), 1000.0, 1e-4, rng), 1e-4);
  }
  trust.observe(even(20), observed(even(20), 1.0, 1e-4, rng), 1e-4);
  EXPECT_GT(trust.nu(), 300.0);
}

TEST(Trust, ImpossiblePredictionsEndIt) {
  Trust trust({.most = 3000.0});
  const std::vector<double> sure{1.0 - 1e-9, 1e-9};
  for (int i = 0; i < 5; ++i) trust.observe(sure, std::vector<double>{0.1, 0.9}, 1e-3);
  EXPECT_LT(trust.nu(), 1.0);
}

TEST(Trust, SurpriseIsOneWhereNothingIsOdd) {
  Rng rng(4);
  const auto z = even(2000);
  EXPECT_NEAR(surprise(z, observed(z, 50.0, 1e-3, rng), 1e-3, 50.0), 1.0, 0.1);
}

TEST(OwnTrust, IsFullWhereAMarginalIsAsPredictedAndNothingWhereItIsElsewhere) {
  const std::vector<double> predicted{0.5, 0.5, 1e-4, 1e-4};
  const auto alike = own_trust(predicted, predicted, 0.01, 1000.0);
  EXPECT_NEAR(alike.nu, 1000.0, 1e-6);
  EXPECT_EQ(alike.surer, 0.0);
  const auto elsewhere = own_trust(predicted, std::vector{0.0, 0.0, 0.5, 0.5}, 0.01, 1000.0);
  EXPECT_LT(elsewhere.nu, 1.0);
  EXPECT_GT(elsewhere.surer, 100.0);
}

}  // namespace
}  // namespace tandem
