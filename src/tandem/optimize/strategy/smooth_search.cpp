// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/smooth_search.h"

#include <algorithm>
#include <cmath>

namespace tandem {
namespace {

constexpr double kFirstStep = 0.1;  // length of the first step, in every coordinate at most

}  // namespace

double search_minimum(const Lbfgs::Function& function, std::vector<double>& x, int evaluations,
                      double tolerance, const Threads& threads, const Lbfgs::Curvature& curvature) {
  // One number for all coordinates: the mean curvature along the last step (Barzilai and Borwein).
  std::vector<double> last_x;
  std::vector<double> last_gradient;
  double inverse = 0.0;
  const auto along_the_step = [&](std::span<const double>, std::span<double> diagonal) {
    std::ranges::fill(diagonal, inverse);
  };
  const auto stop = [&](std::span<const double> at, std::span<const double> gradient) {
    threads.check();
    double largest = 0.0;
    for (const double slope : gradient) largest = std::max(largest, std::abs(slope));
    if (largest <= tolerance) return true;
    if (curvature) return false;
    double product = 0.0;
    double square = 0.0;
    for (std::size_t i = 0; i < last_x.size(); ++i) {
      const double change = gradient[i] - last_gradient[i];
      product += change * (at[i] - last_x[i]);
      square += change * change;
    }
    inverse = product > 0.0 ? product / square : kFirstStep / largest;
    last_x.assign(at.begin(), at.end());
    last_gradient.assign(gradient.begin(), gradient.end());
    return false;
  };
  Lbfgs search(x.size());
  search.minimize(function, curvature ? curvature : along_the_step, x, stop, evaluations);
  std::vector<double> gradient(x.size());
  return function(x, gradient);
}

}  // namespace tandem
