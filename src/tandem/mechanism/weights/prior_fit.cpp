// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/weights/prior_fit.h"

#include <algorithm>
#include <cmath>

namespace tandem {

namespace {

constexpr int kMostSweeps = 100;
constexpr double kSettled = 0.02;       // of a standard deviation of the noise: no sweep is due
constexpr double kLeastVariance = 1.0;  // an exact answer is still that of a finite table
constexpr double kFarthest = 30.0;      // of a lambda in one step

}  // namespace

// With p the share of q_i now, a change d makes it p(d) = p e^d / (1 - p + p e^d), and the minimum
// is where lambda_i + d = c (a_i/n - p(d)) with c = n^2 / (K sigma_i^2): one root, by Newton's
// method within a bracket.
double PriorFit::solve(std::size_t i) const {
  const MeasuredCell& y = A_.measured()[i];
  const double n = A_.n();
  const double p = A_.count(i) / n;
  if (!(p > 0.0 && p < 1.0)) return 0.0;  // no exponent can move it
  const double c = n * n / (prior_rows_ * std::max(y.variance, kLeastVariance));
  double low = -kFarthest;
  double high = kFarthest;
  double d = 0.0;
  for (int k = 0; k < 60; ++k) {
    const double mass = p * std::exp(d);
    const double share = mass / (1.0 - p + mass);
    const double excess = lambda_[i] + d - c * (y.answer / n - share);
    (excess > 0.0 ? high : low) = d;
    double next = d - excess / (1.0 + c * share * (1.0 - share));
    if (!(next > low && next < high)) next = (low + high) / 2.0;
    if (std::abs(next - d) < 1e-10) return next;
    d = next;
  }
  return d;
}

void PriorFit::update() {
  lambda_.resize(A_.measured().size(), 0.0);
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double moved = 0.0;
    for (std::size_t i = 0; i < lambda_.size(); ++i) {
      const double before = A_.count(i);
      const double change = solve(i);
      if (change == 0.0) continue;
      A_.reweight(i, change);
      lambda_[i] += change;
      const double deviation = std::sqrt(std::max(A_.measured()[i].variance, kLeastVariance));
      moved = std::max(moved, std::abs(A_.count(i) - before) / deviation);
    }
    if (moved < kSettled) return;
  }
}

}  // namespace tandem
