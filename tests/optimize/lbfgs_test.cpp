// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/lbfgs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tandem {
namespace {

TEST(Lbfgs, FindsTheBottomOfACrookedValley) {
  const auto function = [](std::span<const double> x, std::span<double> g) {  // Rosenbrock's
    const double a = 1.0 - x[0];
    const double b = x[1] - x[0] * x[0];
    g[0] = -2.0 * a - 400.0 * x[0] * b;
    g[1] = 200.0 * b;
    return a * a + 100.0 * b * b;
  };
  std::vector<double> x{-1.2, 1.0};
  int evaluations = 500;
  const auto end = Lbfgs(2).minimize(
      function, [](auto, auto inverse) { std::ranges::fill(inverse, 1e-2); }, x,
      [](auto, auto g) { return std::hypot(g[0], g[1]) < 1e-9; }, evaluations);
  EXPECT_EQ(end, Lbfgs::End::Stopped);
  EXPECT_NEAR(x[0], 1.0, 1e-8);
  EXPECT_NEAR(x[1], 1.0, 1e-8);
}

TEST(Lbfgs, KeepsOutOfWhereTheFunctionIsNotDefined) {
  const auto function = [](std::span<const double> x, std::span<double> g) {  // x - log x
    g[0] = 1.0 - 1.0 / x[0];
    return x[0] > 0.0 ? x[0] - std::log(x[0]) : -std::numeric_limits<double>::infinity();
  };
  std::vector<double> x{5.0};
  int evaluations = 200;
  const auto end = Lbfgs(1).minimize(
      function, [](auto, auto inverse) { inverse[0] = 100.0; }, x,
      [](auto, auto g) { return std::abs(g[0]) < 1e-9; }, evaluations);
  EXPECT_EQ(end, Lbfgs::End::Stopped);
  EXPECT_NEAR(x[0], 1.0, 1e-8);
}

TEST(Lbfgs, SaysWhenItRunsOutOfEvaluations) {
  const auto function = [](std::span<const double> x, std::span<double> g) {
    g[0] = 2.0 * x[0];
    return x[0] * x[0];
  };
  std::vector<double> x{5.0};
  int evaluations = 2;
  const auto end = Lbfgs(1).minimize(
      function, [](auto, auto inverse) { inverse[0] = 1e-3; }, x, [](auto, auto) { return false; },
      evaluations);
  EXPECT_EQ(end, Lbfgs::End::OutOfEvaluations);
  EXPECT_LT(x[0], 5.0);
}

// What a step of a convex function can't show, rounding can: a gradient that grows the wrong way.
TEST(Lbfgs, APairThatIsRejectedLeavesNothingBehind) {
  std::vector<double> tried;
  const auto function = [&](std::span<const double> x, std::span<double> g) {
    constexpr double kSlopes[] = {-1.0, -0.5, -0.8};
    g[0] = tried.size() < 3 ? kSlopes[tried.size()] : 0.0;
    tried.push_back(x[0]);
    return -10.0 * static_cast<double>(tried.size());
  };
  std::vector<double> x{0.0};
  int evaluations = 4;
  Lbfgs(1, 1).minimize(
      function, [](auto, auto inverse) { std::ranges::fill(inverse, 1.0); }, x,
      [](auto, auto) { return false; }, evaluations);
  // Without a pair a step is the gradient's: the second pair was no use, and took the first's
  // place.
  ASSERT_EQ(tried.size(), 4U);
  EXPECT_DOUBLE_EQ(tried[3] - tried[2], 0.8);
}

}  // namespace
}  // namespace tandem
