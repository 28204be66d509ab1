// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/column_strategy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tandem/base/check.h"
#include "tandem/base/rng.h"
#include "tandem/optimize/strategy/smooth_search.h"

namespace tandem {
namespace {

constexpr int kMostFixedPointSteps = 200;
constexpr double kMostEvaluations = 600;  // of a p-identity's error, from each start
constexpr double kLeastEvaluations = 30;
constexpr double kWorkOfPIdentity = 2e10;  // multiplications of all starts: some ten seconds
constexpr double kSearchTolerance = 1e-6;  // of the gradient of the error's logarithm
constexpr double kColumnGap = 1e-3;        // how far above its optimum a Gaussian strategy may be
constexpr double kLeastPrice = 1e-12;      // of a value, of all prices: none becomes 0
// Of a strategy, for what nobody asks: differences of values that a workload leaves out are told
// all the same, so that maps of few bits can be inverted.
constexpr double kGramRidge = 1e-4;      // of the diagonal of X: the error grows by no more
constexpr double kMostColumnNorm = 1e4;  // of [I; Theta]: beyond it steps lead nowhere

// The logarithm of tr(G (A'A)^-1) for A = [I; Theta] D, where Theta = u * u entry by entry.
class PIdentityError {
 public:
  PIdentityError(const DenseMatrix& g, NoiseKind noise, std::size_t p)
      : g_(g), laplace_(noise == NoiseKind::Laplace), p_(p), n_(g.rows), theta_(p, g.rows) {}

  double operator()(std::span<const double> u, std::span<double> gradient) {
    for (std::size_t i = 0; i < u.size(); ++i) theta_.values[i] = u[i] * u[i];
    std::vector<double> s(n_, 1.0);  // norms of the columns of [I; Theta]: D = diag(1/s)
    for (std::size_t i = 0; i < p_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        s[j] += laplace_ ? theta_(i, j) : theta_(i, j) * theta_(i, j);
      }
    }
    for (double& norm : s) {
      if (!laplace_) norm = std::sqrt(norm);
      if (!(norm <= kMostColumnNorm)) return std::numeric_limits<double>::infinity();
    }
    // (I + Theta'Theta)^-1 = I - Theta' B Theta, B = (I + Theta Theta')^-1.
    DenseMatrix inner = multiply_transposed(theta_, theta_);
    for (std::size_t i = 0; i < p_; ++i) inner(i, i) += 1.0;
    const DenseMatrix b = inverse(inner);
    const DenseMatrix y = multiply(b, theta_);
    DenseMatrix scaled = theta_;
    for (std::size_t i = 0; i < p_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) scaled(i, j) *= s[j];
    }
    DenseMatrix h = multiply(scaled, g_);  // (Theta S) G
    double error = 0.0;
    for (std::size_t j = 0; j < n_; ++j) error += s[j] * s[j] * g_(j, j);
    std::vector<double> by_norm(n_);  // derivatives by s
    for (std::size_t j = 0; j < n_; ++j) by_norm[j] = g_(j, j) * s[j];
    for (std::size_t i = 0; i < p_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        error -= y(i, j) * h(i, j) * s[j];
        by_norm[j] -= y(i, j) * h(i, j);
        h(i, j) *= s[j];  // now Theta S G S
      }
    }
    if (!(error > 0.0)) return std::numeric_limits<double>::infinity();
    // By Theta at fixed norms: -2 Y (S G S) (I - Theta' B Theta).
    const DenseMatrix z = multiply(b, h);
    const DenseMatrix back = multiply(multiply_transposed(z, theta_), y);
    for (std::size_t i = 0; i < p_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        const double norm_by_entry = laplace_ ? 1.0 : theta_(i, j) / s[j];
        const double by_entry = -2.0 * (z(i, j) - back(i, j)) + 2.0 * by_norm[j] * norm_by_entry;
        gradient[i * n_ + j] = 2.0 * u[i * n_ + j] * by_entry / error;
      }
    }
    return std::log(error);
  }

  DenseMatrix strategy(std::span<const double> u) const {
    DenseMatrix out(n_ + p_, n_);
    for (std::size_t j = 0; j < n_; ++j) {
      double norm = 1.0;
      for (std::size_t i = 0; i < p_; ++i) {
        const double entry = u[i * n_ + j] * u[i * n_ + j];
        out(n_ + i, j) = entry;
        norm += laplace_ ? entry : entry * entry;
      }
      if (!laplace_) norm = std::sqrt(norm);
      out(j, j) = 1.0;
      for (std::size_t r = 0; r < n_ + p_; ++r) out(r, j) /= norm;
    }
    return out;
  }

 private:
  const DenseMatrix& g_;
  bool laplace_;
  std::size_t p_, n_;
  DenseMatrix theta_;
};

}  // namespace

GaussianOptimum best_gaussian_strategy(const DenseMatrix& workload_gram, double tolerance,
                                       const Threads& threads) {
  // The Lagrangian of min tr(G X^-1) + sum mu_j (X_jj - 1) is least at X = D^(-1/2) (D^(1/2) G
  // D^(1/2))^(1/2) D^(-1/2), D = diag(mu). Its value, at the best scale of mu, is T^2 / sum mu,
  // where T = tr (D^(1/2) G D^(1/2))^(1/2) = tr(G X^-1) = sum mu_j X_jj: a lower bound. X over its
  // largest diagonal entry is feasible with the error T max X_jj. mu_j <- mu_j X_jj brings the two
  // together.
  const std::size_t n = workload_gram.rows;
  std::vector<double> mu(n);
  for (std::size_t j = 0; j < n; ++j) mu[j] = std::sqrt(std::max(workload_gram(j, j), 1e-300));
  GaussianOptimum out;
  out.error = std::numeric_limits<double>::infinity();
  double bound = 0.0;
  SymmetricEigen best;
  std::vector<double> best_mu;
  double best_scale = 1.0;
  for (int step = 0; step < kMostFixedPointSteps; ++step) {
    threads.check();
    DenseMatrix middle(n, n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        middle(i, j) = std::sqrt(mu[i] * mu[j]) * workload_gram(i, j);
      }
    }
    SymmetricEigen parts = eigen(middle);
    double trace = 0.0;
    double largest = 0.0;
    const double rounding = 1e-13 * *std::ranges::max_element(parts.values);
    std::vector<double> diagonal(n, 0.0);
    for (std::size_t k = 0; k < n; ++k) {
      parts.values[k] = parts.values[k] > rounding ? std::sqrt(parts.values[k]) : 0.0;
      trace += parts.values[k];
      for (std::size_t j = 0; j < n; ++j) {
        diagonal[j] += parts.values[k] * parts.vectors(k, j) * parts.vectors(k, j);
      }
    }
    for (std::size_t j = 0; j < n; ++j) {
      diagonal[j] /= mu[j];
      largest = std::max(largest, diagonal[j]);
    }
    const double sum = std::accumulate(mu.begin(), mu.end(), 0.0);
    bound = std::max(bound, trace * trace / sum);
    if (trace * largest < out.error) {
      out.error = trace * largest;
      best = parts;
      best_mu = mu;
      best_scale = largest;
    }
    out.gap = out.error / bound - 1.0;
    if (out.gap <= tolerance) break;
    for (std::size_t j = 0; j < n; ++j) mu[j] = std::max(mu[j] * diagonal[j], kLeastPrice * sum);
  }
  out.gram = DenseMatrix(n, n);
  DenseMatrix scaled = best.vectors;
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < n; ++j) {
      scaled(k, j) *= std::sqrt(best.values[k] / (best_mu[j] * best_scale));
    }
  }
  out.gram = gram(scaled);
  return out;
}

DenseMatrix best_gaussian_map(const DenseMatrix& workload_gram, const Threads& threads) {
  DenseMatrix x = best_gaussian_strategy(workload_gram, kColumnGap, threads).gram;
  for (std::size_t j = 0; j < x.rows; ++j) x(j, j) += kGramRidge;
  for (double& value : x.values) value /= 1.0 + kGramRidge;
  return square_root(x);
}

DenseMatrix best_p_identity(const DenseMatrix& workload_gram, NoiseKind noise, std::size_t p,
                            int starts, std::uint64_t seed, const Threads& threads) {
  check(p >= 1 && starts >= 1, "a p-identity has rows and a search starts somewhere");
  const std::size_t n = workload_gram.rows;
  std::vector<std::vector<double>> found(static_cast<std::size_t>(starts));
  std::vector<double> values(found.size());
  const double work = 2.0 * static_cast<double>(p * n * n) * static_cast<double>(starts);
  const auto evaluations =
      static_cast<int>(std::clamp(kWorkOfPIdentity / work, kLeastEvaluations, kMostEvaluations));
  parallel_for(found.size(), threads, [&](std::size_t start) {
    PIdentityError error(workload_gram, noise, p);
    Rng rng(seed + start);
    found[start].resize(p * n);
    // The first start has rows for stretches of the column; the others begin anywhere.
    for (std::size_t i = 0; i < p; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const bool inside = j * p / n == i;
        const double entry = start == 0 && !inside ? 0.1 * rng.uniform() : rng.uniform();
        found[start][i * n + j] = std::sqrt(entry + 1e-3);
      }
    }
    values[start] = search_minimum([&](auto u, auto g) { return error(u, g); }, found[start],
                                   evaluations, kSearchTolerance, threads);
  });
  const auto best = static_cast<std::size_t>(std::ranges::min_element(values) - values.begin());
  return PIdentityError(workload_gram, noise, p).strategy(found[best]);
}

DenseMatrix best_identity_and_total(double a, double b, std::size_t n, NoiseKind noise) {
  const bool laplace = noise == NoiseKind::Laplace;
  const auto size = static_cast<double>(n);
  const auto error = [&](double log_total) {
    const double t = std::exp(log_total);
    const double norm = laplace ? (1.0 + t) * (1.0 + t) : 1.0 + t * t;
    return norm * (a * (size - 1.0) + (a + b * size) / (1.0 + size * t * t));
  };
  double best = -20.0;
  constexpr double kStep = 0.05;
  for (double x = -20.0; x <= 20.0; x += kStep) {
    if (error(x) < error(best)) best = x;
  }
  double low = best - kStep;
  double high = best + kStep;
  while (high - low > 1e-9) {
    const double third = (high - low) / 3.0;
    if (error(low + third) < error(high - third)) {
      high -= third;
    } else {
      low += third;
    }
  }
  const double t = std::exp(0.5 * (low + high));
  const double norm = laplace ? 1.0 + t : std::sqrt(1.0 + t * t);
  DenseMatrix out(n + 1, n);
  for (std::size_t j = 0; j < n; ++j) {
    out(j, j) = 1.0 / norm;
    out(n, j) = t / norm;
  }
  return out;
}

namespace {

// In units of 2^-bits of the power of two above `size`.
ColumnMap rounded_to(const DenseMatrix& matrix, double size, int bits) {
  check(size > 0.0, "a strategy measures something");
  ColumnMap out;
  out.kind = ColumnMap::Kind::Given;
  out.values = matrix.columns;
  out.exponent = std::ilogb(size) + 1 - bits;
  out.entries.reserve(matrix.values.size());
  for (const double value : matrix.values) {
    out.entries.push_back(std::llround(std::ldexp(value, -out.exponent)));
  }
  // A little of the identity beside a large total is what tells values apart, and stays.
  const auto diagonal = [&](std::size_t j) -> std::int64_t& {
    return out.entries[j * matrix.columns + j];
  };
  const std::size_t n = std::min(matrix.rows, matrix.columns);
  for (std::size_t j = 0; j < n; ++j) {
    if (diagonal(j) != 0) return out;
  }
  for (std::size_t j = 0; j < n; ++j) diagonal(j) = 1;
  return out;
}

}  // namespace

ColumnMap rounded_map(const DenseMatrix& matrix, int bits) {
  double largest = 0.0;
  for (const double value : matrix.values) largest = std::max(largest, std::abs(value));
  return rounded_to(matrix, largest, bits);
}

ColumnMap rounded_by_norm(const DenseMatrix& matrix, NoiseKind noise, int bits) {
  std::vector<double> norm(matrix.columns, 0.0);
  for (std::size_t r = 0; r < matrix.rows; ++r) {
    for (std::size_t c = 0; c < matrix.columns; ++c) {
      const double entry = std::abs(matrix(r, c));
      norm[c] += noise == NoiseKind::Laplace ? entry : entry * entry;
    }
  }
  const double largest = *std::ranges::max_element(norm);
  // A norm of 1, but for what rounding adds to it, is no more than 1.
  constexpr double kRounding = 1.0 - 1e-9;
  return rounded_to(matrix,
                    kRounding * (noise == NoiseKind::Laplace ? largest : std::sqrt(largest)), bits);
}

DenseMatrix square_root(const DenseMatrix& symmetric) {
  const SymmetricEigen parts = eigen(symmetric);
  DenseMatrix scaled = parts.vectors;
  for (std::size_t k = 0; k < scaled.rows; ++k) {
    for (double& value : scaled.row(k)) value *= std::pow(std::max(parts.values[k], 0.0), 0.25);
  }
  return gram(scaled);
}

}  // namespace tandem
