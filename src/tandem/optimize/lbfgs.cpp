// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/lbfgs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/multiversion.h"

namespace tandem {
namespace {

constexpr double kSufficientDecrease = 1e-4;
constexpr double kShortestStep = 1e-10;

TANDEM_MULTIVERSION double dot(const double* a, const double* b, std::size_t n) {
  double part[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t t = 0; t < 8; ++t) part[t] += a[i + t] * b[i + t];
  }
  double sum =
      ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

TANDEM_MULTIVERSION void add_scaled(double scale, const double* __restrict from,
                                    double* __restrict to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] += scale * from[i];
}

}  // namespace

Lbfgs::Lbfgs(std::size_t dimension, std::size_t memory)
    : memory_(memory),
      pairs_(memory),
      gradient_(dimension),
      next_gradient_(dimension),
      next_x_(dimension),
      direction_(dimension),
      inverse_(dimension) {
  for (auto& pair : pairs_) {
    pair.step.resize(dimension);
    pair.change.resize(dimension);
  }
}

// direction_ = -H gradient_, where H is the inverse Hessian that the pairs suggest.
void Lbfgs::direction() {
  const std::size_t n = gradient_.size();
  std::array<double, 64> alpha{};
  for (std::size_t i = 0; i < n; ++i) direction_[i] = -gradient_[i];
  const auto pair = [&](std::size_t age) -> const Pair& {
    return pairs_[(newest_ + memory_ - age) % memory_];
  };
  for (std::size_t age = 0; age < used_; ++age) {
    const Pair& p = pair(age);
    alpha[age] = p.inverse_product * dot(p.step.data(), direction_.data(), n);
    add_scaled(-alpha[age], p.change.data(), direction_.data(), n);
  }
  for (std::size_t i = 0; i < n; ++i) direction_[i] *= inverse_[i];
  for (std::size_t age = used_; age-- > 0;) {
    const Pair& p = pair(age);
    const double beta = p.inverse_product * dot(p.change.data(), direction_.data(), n);
    add_scaled(alpha[age] - beta, p.step.data(), direction_.data(), n);
  }
}

Lbfgs::End Lbfgs::minimize(const Function& function, const Curvature& curvature,
                           std::span<double> x, const Stop& stop, int& evaluations) {
  const std::size_t n = x.size();
  check(n == gradient_.size() && memory_ <= 64, "the dimension of a search doesn't change");
  used_ = 0;
  if (evaluations-- <= 0) return End::OutOfEvaluations;
  double value = function(x, gradient_);
  if (!std::isfinite(value)) {
    std::ranges::fill(x, 0.0);
    --evaluations;
    value = function(x, gradient_);
    check(std::isfinite(value), "a search can start from zero");
  }
  if (stop(x, gradient_)) return End::Stopped;
  curvature(gradient_, inverse_);
  for (;;) {
    direction();
    double slope = dot(gradient_.data(), direction_.data(), n);
    if (!(slope < 0.0)) {  // rounding got the better of the pairs
      if (used_ == 0) return End::Stalled;
      used_ = 0;
      continue;
    }
    double length = 1.0;
    double next_value = 0.0;
    while (length >= kShortestStep) {
      if (evaluations-- <= 0) return End::OutOfEvaluations;
      for (std::size_t i = 0; i < n; ++i) next_x_[i] = x[i] + length * direction_[i];
      next_value = function(next_x_, next_gradient_);
      if (std::isfinite(next_value) && next_value <= value + kSufficientDecrease * length * slope) {
        break;
      }
      // Where the parabola through what is known has its bottom, within reason.
      const double bottom = std::isfinite(next_value) ? -0.5 * slope * length * length /
                                                            (next_value - value - slope * length)
                                                      : 0.0;
      length = std::clamp(bottom, 0.1 * length, 0.5 * length);
    }
    if (length < kShortestStep) {  // without the pairs there may be a way
      if (used_ == 0) return End::Stalled;
      used_ = 0;
      continue;
    }
    const std::size_t slot = used_ == 0 ? newest_ : (newest_ + 1) % memory_;
    Pair& pair = pairs_[slot];
    for (std::size_t i = 0; i < n; ++i) {
      pair.step[i] = next_x_[i] - x[i];
      pair.change[i] = next_gradient_[i] - gradient_[i];
    }
    const double product = dot(pair.step.data(), pair.change.data(), n);
    if (product > 0.0) {  // always, for a convex function, but for rounding
      pair.inverse_product = 1.0 / product;
      newest_ = slot;
      used_ = std::min(used_ + 1, memory_);
    } else {
      used_ = std::min(used_, memory_ - 1);  // it was written over the oldest, if all were in use
    }
    std::ranges::copy(next_x_, x.begin());
    std::swap(gradient_, next_gradient_);
    value = next_value;
    if (stop(x, gradient_)) return End::Stopped;
    curvature(gradient_, inverse_);
  }
}

}  // namespace tandem
