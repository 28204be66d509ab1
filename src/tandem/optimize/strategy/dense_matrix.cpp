// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/dense_matrix.h"

#include <algorithm>
#include <cmath>

#include "tandem/base/check.h"
#include "tandem/base/multiversion.h"

namespace tandem {
namespace {

constexpr double kNothing = 1e-25;   // of a matrix: a column so short is none
constexpr double kRounding = 1e-16;  // of a matrix: what is below it is zero
constexpr int kMostQlSteps = 60;     // for each eigenvalue; two or three are usual

TANDEM_MULTIVERSION void add_scaled(double scale, const double* __restrict from,
                                    double* __restrict to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] += scale * from[i];
}

TANDEM_MULTIVERSION double dot(const double* a, const double* b, std::size_t n) {
  double part[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (std::size_t t = 0; t < 4; ++t) part[t] += a[i + t] * b[i + t];
  }
  double sum = (part[0] + part[2]) + (part[1] + part[3]);
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// Rows a and b become c a - s b and s a + c b.
TANDEM_MULTIVERSION void rotate(double c, double s, double* __restrict a, double* __restrict b,
                                std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double x = a[i];
    const double y = b[i];
    a[i] = c * x - s * y;
    b[i] = s * x + c * y;
  }
}

}  // namespace

DenseMatrix multiply(const DenseMatrix& a, const DenseMatrix& b) {
  check(a.columns == b.rows, "factors of a product fit");
  DenseMatrix out(a.rows, b.columns);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t k = 0; k < a.columns; ++k) {
      if (const double scale = a(i, k); scale != 0.0) {
        add_scaled(scale, b.row(k).data(), out.row(i).data(), b.columns);
      }
    }
  }
  return out;
}

DenseMatrix multiply_transposed(const DenseMatrix& a, const DenseMatrix& b) {
  check(a.columns == b.columns, "factors of a product fit");
  DenseMatrix out(a.rows, b.rows);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < b.rows; ++j) {
      out(i, j) = dot(a.row(i).data(), b.row(j).data(), a.columns);
    }
  }
  return out;
}

DenseMatrix transpose(const DenseMatrix& a) {
  DenseMatrix out(a.columns, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.columns; ++j) out(j, i) = a(i, j);
  }
  return out;
}

DenseMatrix gram(const DenseMatrix& a) {
  DenseMatrix out(a.columns, a.columns);
  for (std::size_t r = 0; r < a.rows; ++r) {
    for (std::size_t i = 0; i < a.columns; ++i) {
      if (const double scale = a(r, i); scale != 0.0) {
        add_scaled(scale, a.row(r).data(), out.row(i).data(), a.columns);
      }
    }
  }
  return out;
}

double trace_of_product(const DenseMatrix& a, const DenseMatrix& b) {
  check(a.values.size() == b.values.size(), "matrices of one shape");
  return dot(a.values.data(), b.values.data(), a.values.size());
}

DenseMatrix inverse(const DenseMatrix& symmetric) {
  const std::size_t n = symmetric.rows;
  DenseMatrix l = symmetric;  // its lower triangle becomes Cholesky's factor
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double sum = l(i, j) - dot(l.row(i).data(), l.row(j).data(), j);
      if (i == j) {
        check(sum > 0.0, "a matrix to be inverted is positive definite");
        l(i, i) = std::sqrt(sum);
      } else {
        l(i, j) = sum / l(j, j);
      }
    }
  }
  // Row k of `m` is column k of L^-1, so that the inverse's entries are products of its rows.
  DenseMatrix m(n, n);
  for (std::size_t k = 0; k < n; ++k) {
    m(k, k) = 1.0 / l(k, k);
    for (std::size_t i = k + 1; i < n; ++i) {
      m(k, i) = -dot(l.row(i).data() + k, m.row(k).data() + k, i - k) / l(i, i);
    }
  }
  DenseMatrix out(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) {
      out(i, j) = out(j, i) = dot(m.row(i).data() + j, m.row(j).data() + j, n - j);
    }
  }
  return out;
}

DenseMatrix centred(const DenseMatrix& symmetric) {
  const std::size_t n = symmetric.rows;
  std::vector<double> mean(n, 0.0);
  double all = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (const double value : symmetric.row(i)) mean[i] += value;
    mean[i] /= static_cast<double>(n);
    all += mean[i] / static_cast<double>(n);
  }
  DenseMatrix out = symmetric;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) out(i, j) += all - mean[i] - mean[j];
  }
  return out;
}

SymmetricEigen eigen(const DenseMatrix& symmetric) {
  const std::size_t n = symmetric.rows;
  check(n == symmetric.columns, "a symmetric matrix is square");
  DenseMatrix a = symmetric;
  std::vector<double> diagonal(n, 0.0);
  std::vector<double> beside(n, 0.0);  // beside[k] between k and k + 1
  DenseMatrix mirrors(n, n);           // row k: the unit vector of reflection k, zero up to k
  std::vector<double> product(n);
  double scale = 0.0;
  for (const double value : a.values) scale = std::max(scale, std::abs(value));
  for (std::size_t k = 0; k + 2 < n; ++k) {
    const std::size_t left = n - k - 1;
    double* u = mirrors.row(k).data() + k + 1;
    std::copy_n(a.row(k).data() + k + 1, left, u);
    const double length = std::sqrt(dot(u, u, left));
    if (length <= kNothing * scale) {
      std::fill_n(u, left, 0.0);
      continue;
    }
    const double sign = u[0] > 0.0 ? 1.0 : -1.0;
    beside[k] = -sign * length;
    u[0] += sign * length;
    const double norm = std::sqrt(dot(u, u, left));
    for (std::size_t i = 0; i < left; ++i) u[i] /= norm;
    // A <- (I - 2uu') A (I - 2uu') on what is left of it: A - 2 u w' - 2 w u'.
    for (std::size_t i = 0; i < left; ++i) {
      product[i] = dot(a.row(k + 1 + i).data() + k + 1, u, left);
    }
    const double share = dot(product.data(), u, left);
    for (std::size_t i = 0; i < left; ++i) product[i] -= share * u[i];
    for (std::size_t i = 0; i < left; ++i) {
      double* row = a.row(k + 1 + i).data() + k + 1;
      add_scaled(-2.0 * u[i], product.data(), row, left);
      add_scaled(-2.0 * product[i], u, row, left);
    }
  }
  if (n >= 2) beside[n - 2] = a(n - 2, n - 1);
  for (std::size_t i = 0; i < n; ++i) diagonal[i] = a(i, i);

  // Rows of `vectors`: Q', where A = Q T Q' and Q is the product of the reflections.
  DenseMatrix vectors(n, n);
  for (std::size_t i = 0; i < n; ++i) vectors(i, i) = 1.0;
  for (std::size_t k = n >= 2 ? n - 2 : 0; k-- > 0;) {
    const double* u = mirrors.row(k).data();
    for (std::size_t i = k + 1; i < n; ++i) {
      double* row = vectors.row(i).data() + k + 1;
      add_scaled(-2.0 * dot(row, u + k + 1, n - k - 1), u + k + 1, row, n - k - 1);
    }
  }

  double size = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    size = std::max(size, std::abs(diagonal[i]) + std::abs(beside[i]));
  }
  for (std::size_t l = 0; l < n; ++l) {
    for (int steps = 0;; ++steps) {
      std::size_t m = l;
      while (m + 1 < n && std::abs(beside[m]) > kRounding * size) ++m;
      if (m == l) break;
      check(steps < kMostQlSteps, "QL steps converge");
      double g = (diagonal[l + 1] - diagonal[l]) / (2.0 * beside[l]);
      double r = std::hypot(g, 1.0);
      g = diagonal[m] - diagonal[l] + beside[l] / (g + std::copysign(r, g));
      double s = 1.0;
      double c = 1.0;
      double p = 0.0;
      bool split = false;
      for (std::size_t i = m; i-- > l;) {
        const double f = s * beside[i];
        const double b = c * beside[i];
        r = std::hypot(f, g);
        if (i + 1 < n) beside[i + 1] = r;
        if (r == 0.0) {
          diagonal[i + 1] -= p;
          beside[m] = 0.0;
          split = true;
          break;
        }
        s = f / r;
        c = g / r;
        g = diagonal[i + 1] - p;
        r = (diagonal[i] - g) * s + 2.0 * c * b;
        p = s * r;
        diagonal[i + 1] = g + p;
        g = c * r - b;
        rotate(c, s, vectors.row(i).data(), vectors.row(i + 1).data(), n);
      }
      if (split) continue;
      diagonal[l] -= p;
      beside[l] = g;
      beside[m] = 0.0;
    }
  }
  return {std::move(diagonal), std::move(vectors)};
}

std::vector<double> apply_along(const DenseMatrix& matrix, std::span<const double> table,
                                std::size_t outer, std::size_t inner) {
  check(table.size() == outer * matrix.columns * inner, "a table has the shape that it is said to");
  std::vector<double> out(outer * matrix.rows * inner, 0.0);
  for (std::size_t o = 0; o < outer; ++o) {
    const double* from = table.data() + o * matrix.columns * inner;
    double* to = out.data() + o * matrix.rows * inner;
    for (std::size_t r = 0; r < matrix.rows; ++r) {
      if (inner == 1) {
        to[r] = dot(matrix.row(r).data(), from, matrix.columns);
        continue;
      }
      for (std::size_t c = 0; c < matrix.columns; ++c) {
        if (const double scale = matrix(r, c); scale != 0.0) {
          add_scaled(scale, from + c * inner, to + r * inner, inner);
        }
      }
    }
  }
  return out;
}

}  // namespace tandem
