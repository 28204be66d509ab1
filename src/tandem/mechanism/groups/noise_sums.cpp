// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/groups/noise_sums.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tandem {

double seldom_above(std::span<const SumOfNoise> noise, double probability) {
  double variance = 0.0;
  double most = HUGE_VAL;  // ln E exp(s noise) of a Laplace variable of scale b needs s < 1/b
  for (const auto& part : noise) {
    variance += part.count * part.sigma * part.sigma;
    if (part.kind == NoiseKind::Laplace) most = std::min(most, std::numbers::sqrt2 / part.sigma);
  }
  if (variance == 0.0) return 0.0;
  const double far = -std::log(probability);
  // The best s is that of normal noise where all of it is, and below it otherwise.
  most = std::min(most, std::sqrt(2.0 * far / variance));
  double out = HUGE_VAL;
  constexpr int kSteps = 200;
  for (int step = 1; step <= kSteps; ++step) {
    const double s = most * (static_cast<double>(step) - (step == kSteps ? 1e-3 : 0.0)) / kSteps;
    double bound = far;
    for (const auto& part : noise) {
      const double spread = s * s * part.sigma * part.sigma / 2.0;
      bound += part.count * (part.kind == NoiseKind::Laplace ? -std::log1p(-spread) : spread);
    }
    out = std::min(out, bound / s);
  }
  return out;
}

// ln E exp(s X) of a Laplace variable of variance v is f(s^2 v / 2) with f(u) = -ln(1 - u), which
// is convex and 0 at 0: parts of variances v_i <= V have at most the sum of v_i / V times
// f(s^2 V / 2), as if all had the largest variance. For a normal variable f(u) = u, which is less.
double seldom_above(double variance, double largest, double probability) {
  if (variance <= 0.0) return 0.0;
  const double sigma = std::min(largest, std::sqrt(variance));
  const SumOfNoise noise = sigma > 0.0
                               ? SumOfNoise{NoiseKind::Laplace, sigma, variance / (sigma * sigma)}
                               : SumOfNoise{NoiseKind::Gaussian, std::sqrt(variance), 1.0};
  return seldom_above(std::span(&noise, 1), probability);
}

}  // namespace tandem
