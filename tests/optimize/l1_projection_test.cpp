// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/l1_projection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tandem/base/rng.h"

namespace tandem {
namespace {

using Values = std::vector<double>;

Values projected(const Values& noisy, const Values& b, Tie tie = Tie::Prior,
                 bool exhaustive = true) {
  Values y(noisy.size());
  project_l1(noisy, b, exhaustive, tie, y);
  return y;
}

double distance(const Values& a, const Values& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum;
}

double sum_of(const Values& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double entropy_to(const Values& y, const Values& b) {
  double out = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (y[i] > 0.0) out += y[i] * std::log(y[i] / b[i]);
  }
  return out;
}

void expect_near(const Values& found, const Values& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << i;
}

TEST(L1Projection, TooMuchIsLoweredToWhereThePriorIs) {
  // c = 5/3: the first keeps its answer, the others are c b.
  expect_near(projected({0.5, 0.9, 0.4}, {0.7, 0.2, 0.1}), {0.5, 1.0 / 3.0, 1.0 / 6.0});
  expect_near(projected({0.5, 0.9, 0.6}, {0.7, 0.2, 0.1}, Tie::Scaled), {0.25, 0.45, 0.3});
}

TEST(L1Projection, TooLittleIsRaisedToWhereThePriorIs) {
  // pos = (.2, 0, .4): c = .6/.9.
  expect_near(projected({0.2, -0.3, 0.4}, {0.45, 0.45, 0.1}), {0.3, 0.3, 0.4});
  expect_near(projected({0.2, -0.3, 0.2}, {0.6, 0.3, 0.1}, Tie::Scaled), {0.5, 0.0, 0.5});
}

TEST(L1Projection, OneThatIsPossibleStays) {
  expect_near(projected({0.25, 0.75}, {0.9, 0.1}), {0.25, 0.75});
  expect_near(projected({0.25, 0.75}, {0.9, 0.1}, Tie::Scaled), {0.25, 0.75});
}

TEST(L1Projection, SomeCellsOfADomainMaySumToLess) {
  expect_near(projected({0.2, -0.3, 0.4}, {0.1, 0.1, 0.1}, Tie::Prior, false), {0.2, 0.0, 0.4});
  expect_near(projected({0.8, 0.8}, {0.3, 0.1}, Tie::Prior, false), {0.75, 0.25});
}

TEST(L1Projection, NegativeAnswersThroughoutLeaveThePrior) {
  for (const Tie tie : {Tie::Prior, Tie::Scaled}) {
    expect_near(projected({-1.0, -2.0}, {0.3, 0.7}, tie), {0.3, 0.7});
  }
}

TEST(L1Projection, APriorOfNothingIsNoReasonForNothing) {
  expect_near(projected({-1.0, -2.0}, {0.0, 0.0}), {0.5, 0.5});
  expect_near(projected({0.5, 0.1}, {0.0, 0.0}), {0.7, 0.3});
  expect_near(projected({3.0, 1.0}, {0.0, 0.0}), {0.75, 0.25});
  // The prior's cell keeps its answer; the rest comes from the cell it doesn't know.
  expect_near(projected({0.4, 0.9}, {1.0, 0.0}), {0.4, 0.6});
  EXPECT_TRUE(projected({}, {}).empty());
}

TEST(L1Projection, StartsAnywhere) {
  Rng rng(2);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t cells = 1 + rng.below(9);
    Values noisy(cells);
    Values b(cells);
    for (std::size_t j = 0; j < cells; ++j) {
      noisy[j] = rng.below(3) == 0 ? 1.0 / static_cast<double>(cells) : rng.uniform() - 0.3;
      b[j] = 1e-9 + rng.uniform();
    }
    const Values expected = projected(noisy, b);
    for (const double first : {1e-30, 1e-3, 1.0, 1e3, 1e30}) {
      double c = first;
      Values y(cells);
      project_l1(noisy, b, true, Tie::Prior, y, c);
      EXPECT_NEAR(sum_of(y), 1.0, 1e-12) << first;
      for (std::size_t j = 0; j < cells; ++j) EXPECT_NEAR(y[j], expected[j], 1e-9) << first;
    }
  }
}

// Against other members of the polytope, drawn at random: none is nearer, and of those as near none
// has less relative entropy to b.
TEST(L1Projection, IsOptimalAndByThePriorOfLeastEntropyAmongTheOptimal) {
  Rng rng(1);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t cells = 2 + rng.below(6);
    Values noisy(cells);
    Values b(cells);
    for (std::size_t j = 0; j < cells; ++j) {
      noisy[j] = 1.2 * rng.uniform() - 0.4;
      b[j] = 0.01 + rng.uniform();
    }
    const double all = sum_of(b);
    for (double& value : b) value /= all;
    const Values y = projected(noisy, b);
    const Values scaled = projected(noisy, b, Tie::Scaled);
    ASSERT_NEAR(sum_of(y), 1.0, 1e-12);
    ASSERT_NEAR(sum_of(scaled), 1.0, 1e-12);
    ASSERT_GE(*std::ranges::min_element(y), 0.0);
    ASSERT_NEAR(distance(y, noisy), distance(scaled, noisy), 1e-9);
    ASSERT_LE(entropy_to(y, b), entropy_to(scaled, b) + 1e-12);
    for (int other = 0; other < 50; ++other) {
      Values z(cells);
      for (double& value : z) value = -std::log(1.0 - rng.uniform());
      const double sum = sum_of(z);
      const double near = rng.uniform();  // between y and anywhere
      for (std::size_t j = 0; j < cells; ++j) z[j] = near * y[j] + (1.0 - near) * z[j] / sum;
      ASSERT_GE(distance(z, noisy), distance(y, noisy) - 1e-12);
      if (distance(z, noisy) < distance(y, noisy) + 1e-12) {
        ASSERT_GE(entropy_to(z, b), entropy_to(y, b) - 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace tandem
