// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/dense_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tandem/base/rng.h"

namespace tandem {
namespace {

DenseMatrix random_matrix(std::size_t rows, std::size_t columns, Rng& rng) {
  DenseMatrix out(rows, columns);
  for (double& value : out.values) value = 2.0 * rng.uniform() - 1.0;
  return out;
}

void expect_near(const DenseMatrix& a, const DenseMatrix& b, double tolerance) {
  ASSERT_EQ(a.values.size(), b.values.size());
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    ASSERT_NEAR(a.values[i], b.values[i], tolerance);
  }
}

TEST(DenseMatrix, EigenvaluesAndVectorsMakeTheMatrixAgain) {
  Rng rng(1);
  for (const std::size_t n : {1U, 2U, 3U, 7U, 20U, 40U}) {
    DenseMatrix a = gram(random_matrix(n + 2, n, rng));
    for (std::size_t i = 0; i < n && n == 20; ++i) {  // parts that are tiny, and parts of zeros
      for (std::size_t j = 0; j < n; ++j) {
        a(i, j) *= (i < 5) != (j < 5) ? 1e-170 : 1.0;
        if (std::min(i, j) > 15) a(i, j) = 0.0;
      }
    }
    const SymmetricEigen parts = eigen(a);
    DenseMatrix again(n, n);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          again(i, j) += parts.values[k] * parts.vectors(k, i) * parts.vectors(k, j);
        }
      }
    }
    expect_near(again, a, 1e-10);
    DenseMatrix unit(n, n);
    for (std::size_t i = 0; i < n; ++i) unit(i, i) = 1.0;
    expect_near(multiply_transposed(parts.vectors, parts.vectors), unit, 1e-10);
  }
}

TEST(DenseMatrix, EigenvaluesOfDiagonalAndConstantMatricesAreKnown) {
  DenseMatrix ones(5, 5);
  for (double& value : ones.values) value = 1.0;
  auto values = eigen(ones).values;
  std::ranges::sort(values);
  EXPECT_NEAR(values[4], 5.0, 1e-12);
  EXPECT_NEAR(values[3], 0.0, 1e-12);
  DenseMatrix diagonal(4, 4);
  for (std::size_t i = 0; i < 4; ++i) diagonal(i, i) = static_cast<double>(i);
  values = eigen(diagonal).values;
  std::ranges::sort(values);
  EXPECT_EQ(values, (std::vector<double>{0, 1, 2, 3}));
}

TEST(DenseMatrix, AnInverseTimesItsMatrixIsTheIdentity) {
  Rng rng(2);
  const DenseMatrix a = gram(random_matrix(12, 9, rng));
  DenseMatrix unit(9, 9);
  for (std::size_t i = 0; i < 9; ++i) unit(i, i) = 1.0;
  expect_near(multiply(a, inverse(a)), unit, 1e-9);
}

TEST(DenseMatrix, AlongAnAxisIsAKroneckerProductWithIdentities) {
  Rng rng(3);
  const DenseMatrix m = random_matrix(4, 3, rng);
  std::vector<double> table(30);  // 2 x 3 x 5
  for (double& value : table) value = rng.uniform();
  const auto out = apply_along(m, table, 2, 5);
  ASSERT_EQ(out.size(), 2U * 4 * 5);
  for (std::size_t o = 0; o < 2; ++o) {
    for (std::size_t r = 0; r < 4; ++r) {
      for (std::size_t t = 0; t < 5; ++t) {
        double sum = 0.0;
        for (std::size_t c = 0; c < 3; ++c) sum += m(r, c) * table[(o * 3 + c) * 5 + t];
        EXPECT_NEAR(out[(o * 4 + r) * 5 + t], sum, 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace tandem
