// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/box_lbfgs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tandem/base/rng.h"

namespace tandem {
namespace {

// sum_i w_i (x_i - a_i)^2 / 2 with a coupling of neighbours.
struct Bowl {
  std::vector<double> a;
  double coupling = 0.0;
  double operator()(std::span<const double> x, std::span<double> g,
                    std::span<double> inverse) const {
    double value = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double weight = 1.0 + static_cast<double>(i);
      g[i] = weight * (x[i] - a[i]);
      inverse[i] = 1.0 / weight;
      value += 0.5 * weight * (x[i] - a[i]) * (x[i] - a[i]);
    }
    for (std::size_t i = 1; i < x.size(); ++i) {
      const double difference = x[i] - x[i - 1];
      value += 0.5 * coupling * difference * difference;
      g[i] += coupling * difference;
      g[i - 1] -= coupling * difference;
    }
    return value;
  }
};

// How far a step along the gradient, brought back into the box, would go: 0 at the optimum.
double optimality(std::span<const double> x, std::span<const double> g, double bound) {
  double most = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, std::abs(std::clamp(x[i] - g[i], -bound, bound) - x[i]));
  }
  return most;
}

TEST(BoxLbfgs, StopsAtTheWallsThatAreInTheWay) {
  const Bowl bowl{{0.5, -3.0, 7.0}};
  std::vector<double> x(3, 0.0);
  int evaluations = 200;
  const auto end = BoxLbfgs(3).minimize(
      bowl, 1.0, x, [](auto at, auto g) { return optimality(at, g, 1.0) < 1e-10; }, evaluations);
  EXPECT_EQ(end, BoxLbfgs::End::Stopped);
  EXPECT_NEAR(x[0], 0.5, 1e-9);
  EXPECT_EQ(x[1], -1.0);
  EXPECT_EQ(x[2], 1.0);
}

// As near as values of a few hundred can tell: their last digits are 1e-13.
TEST(BoxLbfgs, FindsTheOptimumOfCoupledProblemsFromAnywhere) {
  Rng rng(1);
  for (int trial = 0; trial < 40; ++trial) {
    const std::size_t n = 2 + rng.below(30);
    Bowl bowl{std::vector<double>(n), 50.0 * rng.uniform()};
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) {
      bowl.a[i] = 6.0 * rng.uniform() - 3.0;
      x[i] = 2.0 * rng.uniform() - 1.0;
    }
    int evaluations = 3000;
    const auto end = BoxLbfgs(n).minimize(
        bowl, 1.0, x, [](auto at, auto g) { return optimality(at, g, 1.0) < 1e-6; }, evaluations);
    EXPECT_EQ(end, BoxLbfgs::End::Stopped) << trial;
  }
}

TEST(BoxLbfgs, SaysWhenItRunsOutOfEvaluations) {
  const Bowl bowl{{0.5, -0.3, 0.7}, 10.0};
  std::vector<double> x(3, 0.0);
  int evaluations = 2;
  const auto end = BoxLbfgs(3).minimize(
      bowl, 1.0, x, [](auto, auto) { return false; }, evaluations);
  EXPECT_EQ(end, BoxLbfgs::End::OutOfEvaluations);
}

}  // namespace
}  // namespace tandem
