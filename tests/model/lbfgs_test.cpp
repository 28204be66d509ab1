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

}  // namespace
}  // namespace tandem
