// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/box_lbfgs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {
namespace {

constexpr double kSufficientDecrease = 1e-4;
constexpr double kShortestStep = 1e-14;
// Near the minimum a decrease drowns in rounding while the gradient still tells the way: a step
// that makes the slope along it flatter may raise the value by this share of it, or of the box (at
// least 1), from which its terms are made.
constexpr double kRounding = 2e-15;
constexpr double kFlatter = 0.9;
// Coordinates this near to a bound that they are pushed to, as a share of it, go there by
// themselves: projected, a step that pairs have turned may lead uphill.
constexpr double kMargin = 1e-3;
constexpr double kCurved = 1e-14;  // a pair whose product is a smaller share of its norms is noise

// How far a step along the scaled gradient would go inside the box: 0 at the optimum.
double distance_to_optimum(std::span<const double> x, std::span<const double> gradient,
                           std::span<const double> inverse, double bound) {
  double most = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double next = std::clamp(x[i] - inverse[i] * gradient[i], -bound, bound);
    most = std::max(most, std::abs(next - x[i]));
  }
  return most;
}

// Over the coordinates that are not held.
double dot(std::span<const double> a, std::span<const double> b, std::span<const char> held) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (held[i] == 0) sum += a[i] * b[i];
  }
  return sum;
}

}  // namespace

BoxLbfgs::BoxLbfgs(std::size_t dimension, std::size_t memory)
    : pairs_(memory),
      gradient_(dimension),
      next_gradient_(dimension),
      next_x_(dimension),
      direction_(dimension),
      inverse_(dimension),
      next_inverse_(dimension),
      held_(dimension) {
  for (auto& pair : pairs_) {
    pair.step.resize(dimension);
    pair.change.resize(dimension);
  }
}

// direction_ = -H gradient_ on the free coordinates. Pairs are taken as they are there: one whose
// free part has no curvature says nothing and is passed over.
void BoxLbfgs::direction() {
  const std::size_t n = gradient_.size();
  const std::size_t memory = pairs_.size();
  std::vector<double> alpha(used_, 0.0);
  std::vector<double> product(used_, 0.0);
  const auto pair = [&](std::size_t age) -> const Pair& {
    return pairs_[(newest_ + memory - age) % memory];
  };
  for (std::size_t i = 0; i < n; ++i) direction_[i] = held_[i] != 0 ? 0.0 : -gradient_[i];
  for (std::size_t age = 0; age < used_; ++age) {
    const Pair& p = pair(age);
    const double curved = dot(p.step, p.change, held_);
    const double size = std::sqrt(dot(p.step, p.step, held_) * dot(p.change, p.change, held_));
    if (!(curved > kCurved * size)) continue;
    product[age] = 1.0 / curved;
    alpha[age] = product[age] * dot(p.step, direction_, held_);
    for (std::size_t i = 0; i < n; ++i) direction_[i] -= alpha[age] * p.change[i];
  }
  for (std::size_t i = 0; i < n; ++i) direction_[i] *= inverse_[i];
  for (std::size_t age = used_; age-- > 0;) {
    if (product[age] == 0.0) continue;
    const Pair& p = pair(age);
    const double beta = product[age] * dot(p.change, direction_, held_);
    for (std::size_t i = 0; i < n; ++i) direction_[i] += (alpha[age] - beta) * p.step[i];
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (held_[i] != 0) direction_[i] = -inverse_[i] * gradient_[i];
  }
}

BoxLbfgs::End BoxLbfgs::minimize(const Function& function, double bound, std::span<double> x,
                                 const Stop& stop, int& evaluations) {
  const std::size_t n = x.size();
  check(n == gradient_.size() && bound > 0.0, "a search keeps its dimension, and has a box");
  used_ = 0;
  if (evaluations-- <= 0) return End::OutOfEvaluations;
  double value = function(x, gradient_, inverse_);
  if (stop(x, gradient_)) return End::Stopped;
  for (;;) {
    const double margin =
        std::min(kMargin * bound, distance_to_optimum(x, gradient_, inverse_, bound));
    for (std::size_t i = 0; i < n; ++i) {
      held_[i] = (x[i] <= margin - bound && gradient_[i] > 0.0) ||
                 (x[i] >= bound - margin && gradient_[i] < 0.0);
    }
    direction();
    if (!(dot(gradient_, direction_, held_) <= 0.0)) {  // rounding got the better of the pairs
      if (used_ == 0) return End::Stalled;
      used_ = 0;
      continue;
    }
    double length = 1.0;
    double next_value = 0.0;
    bool accepted = false;
    for (; length >= kShortestStep; length *= 0.5) {
      if (evaluations-- <= 0) return End::OutOfEvaluations;
      double slope = 0.0;  // along what is left of the step inside the box
      for (std::size_t i = 0; i < n; ++i) {
        next_x_[i] = std::clamp(x[i] + length * direction_[i], -bound, bound);
        slope += gradient_[i] * (next_x_[i] - x[i]);
      }
      next_value = function(next_x_, next_gradient_, next_inverse_);
      const double rounding = kRounding * std::max({1.0, std::abs(value), bound});
      double next_slope = 0.0;
      for (std::size_t i = 0; i < n; ++i) next_slope += next_gradient_[i] * (next_x_[i] - x[i]);
      accepted =
          slope < 0.0 &&
          (next_value <= value + kSufficientDecrease * slope ||
           (next_value <= value + rounding && std::abs(next_slope) <= kFlatter * std::abs(slope)));
      if (accepted) break;
    }
    if (!accepted) {
      if (used_ == 0) return End::Stalled;
      used_ = 0;
      continue;
    }
    newest_ = used_ == 0 ? newest_ : (newest_ + 1) % pairs_.size();
    Pair& pair = pairs_[newest_];
    for (std::size_t i = 0; i < n; ++i) {
      pair.step[i] = next_x_[i] - x[i];
      pair.change[i] = next_gradient_[i] - gradient_[i];
    }
    used_ = std::min(used_ + 1, pairs_.size());
    std::ranges::copy(next_x_, x.begin());
    std::swap(gradient_, next_gradient_);
    std::swap(inverse_, next_inverse_);
    value = next_value;
    if (stop(x, gradient_)) return End::Stopped;
  }
}

}  // namespace tandem
