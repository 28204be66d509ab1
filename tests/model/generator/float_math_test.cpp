// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/generator/float_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "tandem/model/generator/generator.h"

namespace tandem {
namespace {

Floats numbers(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  return normal_numbers(count, 1.0F, rng);
}

// What a product should be, with either side transposed.
double entry(ConstMatrix a, bool a_turned, ConstMatrix b, bool b_turned, std::size_t i,
             std::size_t j) {
  double sum = 0.0;
  for (std::size_t k = 0; k < (a_turned ? a.rows : a.columns); ++k) {
    const float left = a_turned ? a.data[k * a.stride + i] : a.data[i * a.stride + k];
    const float right = b_turned ? b.data[j * b.stride + k] : b.data[k * b.stride + j];
    sum += static_cast<double>(left) * static_cast<double>(right);
  }
  return sum;
}

TEST(FloatMath, MultipliesPartsOfLargerMatrices) {
  constexpr std::size_t kStride = 90;
  auto of_a = numbers(100 * kStride, 1);
  auto of_b = numbers(100 * kStride, 2);
  const auto check_product = [&](auto multiply, ConstMatrix a, bool a_turned, ConstMatrix b,
                                 bool b_turned, std::size_t rows, std::size_t columns) {
    Floats of_c(100 * kStride, 1.0F);
    const Matrix c = Matrix{of_c.data(), rows, 90, kStride}.some_columns(5, columns);
    for (const bool add : {false, true}) {
      std::ranges::fill(of_c, 1.0F);
      multiply(a, b, c, add);
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
          const double expected = entry(a, a_turned, b, b_turned, i, j) + (add ? 1.0 : 0.0);
          ASSERT_NEAR(c.data[i * kStride + j], expected, 1e-4);
        }
        ASSERT_EQ(of_c[i * kStride + 4], 1.0F);  // what is beside it stays
        ASSERT_EQ(of_c[i * kStride + 5 + columns], 1.0F);
      }
    }
  };
  const Matrix a{of_a.data(), 100, kStride, kStride};
  const Matrix b{of_b.data(), 100, kStride, kStride};
  const auto& math = float_math();
  check_product(math.product, a.some_rows(3, 40).some_columns(1, 37), false,
                b.some_rows(0, 37).some_columns(9, 21), false, 40, 21);
  check_product(math.product_at, a.some_rows(3, 60).some_columns(1, 33), true,
                b.some_rows(0, 60).some_columns(9, 21), false, 33, 21);
  check_product(math.product_bt, a.some_rows(3, 40).some_columns(1, 37), false,
                b.some_rows(7, 23).some_columns(2, 37), true, 40, 23);
  const auto both_turned = [&](ConstMatrix left, ConstMatrix right, Matrix c, bool add) {
    if (!add) return math.product_at_bt(left, right, c);
    math.product_at_bt(left, right, c);
    for (std::size_t i = 0; i < c.rows; ++i) {
      for (std::size_t j = 0; j < c.columns; ++j) c.data[i * c.stride + j] += 1.0F;
    }
  };
  check_product(both_turned, a.some_rows(3, 60).some_columns(1, 33), true,
                b.some_rows(7, 23).some_columns(2, 60), true, 33, 23);
}

TEST(FloatMath, ASoftmaxIsADistributionHoweverLargeItsLogits) {
  Floats x = {1000.0F, 0.0F, 1001.0F, 0.0F, -1e30F, 0.0F};  // two columns
  float_math().softmax({x.data(), 3, 2, 2});
  EXPECT_NEAR(x[0], 1.0 / (1.0 + std::exp(1.0)), 1e-6);
  EXPECT_NEAR(x[2], 1.0 / (1.0 + std::exp(-1.0)), 1e-6);
  EXPECT_LT(x[4], 1e-30F);
  for (const std::size_t i : {1, 3, 5}) EXPECT_NEAR(x[i], 1.0 / 3.0, 1e-6);
}

TEST(FloatMath, TheWayBackThroughASoftmaxIsItsDerivative) {
  const auto logits = numbers(7, 3);
  const auto above = numbers(7, 4);
  auto p = logits;
  float_math().softmax({p.data(), 7, 1, 1});
  auto gradient = above;
  float_math().softmax_back({p.data(), 7, 1, 1}, {gradient.data(), 7, 1, 1});
  constexpr float kStep = 1e-2F;
  for (std::size_t i = 0; i < 7; ++i) {
    const auto value_at = [&](float step) {
      auto moved = logits;
      moved[i] += step;
      float_math().softmax({moved.data(), 7, 1, 1});
      return std::inner_product(moved.begin(), moved.end(), above.begin(), 0.0);
    };
    EXPECT_NEAR(gradient[i], (value_at(kStep) - value_at(-kStep)) / (2.0 * kStep), 1e-4);
  }
}

TEST(FloatMath, NormalisedColumnsHaveNoMeanAndOneVariance) {
  constexpr std::size_t kRows = 200;
  auto x = numbers(kRows * 3, 5);
  for (std::size_t r = 0; r < kRows; ++r) x[r * 3 + 1] = 100.0F + 7.0F * x[r * 3 + 1];
  const Floats scale(3, 1.0F);
  const Floats shift(3, 100.0F);  // so that nothing is cut off
  Floats inverse(3);
  Floats out(kRows * 3);
  float_math().normalise({x.data(), kRows, 3, 3}, scale.data(), shift.data(), inverse.data(),
                         {out.data(), kRows, 3, 3});
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t r = 0; r < kRows; ++r) {
      sum += x[r * 3 + c];
      squares += x[r * 3 + c] * x[r * 3 + c];
      EXPECT_NEAR(out[r * 3 + c], 100.0F + x[r * 3 + c], 1e-4);
    }
    EXPECT_NEAR(sum / kRows, 0.0, 1e-4);
    EXPECT_NEAR(squares / kRows, 1.0, 1e-3);
  }
}

}  // namespace
}  // namespace tandem
