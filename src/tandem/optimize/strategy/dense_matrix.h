// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small dense matrices, for the queries and strategies of one column: some hundred rows.

#include <cstddef>
#include <span>
#include <vector>

namespace tandem {

struct DenseMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;  // row-major

  DenseMatrix() = default;
  DenseMatrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c, 0.0) {}
  double& operator()(std::size_t r, std::size_t c) { return values[r * columns + c]; }
  double operator()(std::size_t r, std::size_t c) const { return values[r * columns + c]; }
  std::span<double> row(std::size_t r) { return std::span(values).subspan(r * columns, columns); }
  std::span<const double> row(std::size_t r) const {
    return std::span(values).subspan(r * columns, columns);
  }
};

DenseMatrix multiply(const DenseMatrix& a, const DenseMatrix& b);
DenseMatrix multiply_transposed(const DenseMatrix& a, const DenseMatrix& b);  // A B'
DenseMatrix transpose(const DenseMatrix& a);
DenseMatrix gram(const DenseMatrix& a);                               // A'A
double trace_of_product(const DenseMatrix& a, const DenseMatrix& b);  // tr(A B'), entry by entry

// The inverse of a symmetric positive definite matrix. REQUIRES: it is one, numerically.
DenseMatrix inverse(const DenseMatrix& symmetric);
// (I - J/n) A (I - J/n): A on the vectors that sum to zero.
DenseMatrix centred(const DenseMatrix& symmetric);

// A = sum_k values[k] v_k v_k', where v_k is row k of `vectors`.
struct SymmetricEigen {
  std::vector<double> values;
  DenseMatrix vectors;
};
// Householder's reduction to tridiagonal form and implicit QL steps. Costs about 10 n^3.
SymmetricEigen eigen(const DenseMatrix& symmetric);

// table has the shape outer x matrix.columns x inner; its middle axis is multiplied by the matrix.
std::vector<double> apply_along(const DenseMatrix& matrix, std::span<const double> table,
                                std::size_t outer, std::size_t inner);

}  // namespace tandem
