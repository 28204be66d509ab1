// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/accountant.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tandem/base/check.h"

namespace tandem {

Epsilon epsilon_of(Rho rho, Delta delta) {
  check(rho.value() >= 0.0 && delta.value() >= 0.0, "rho and delta are not negative");
  if (rho.value() == 0.0 || delta.value() >= 1.0) return Epsilon(0.0);
  if (delta.value() == 0.0) return Epsilon(std::numeric_limits<double>::infinity());

  // epsilon(alpha) = alpha rho + log(1 - 1/alpha) - log(alpha delta) / (alpha - 1), alpha = 1 +
  // e^t.
  const auto bound = [&](double t) {
    const double above = std::exp(t);
    const double alpha = 1.0 + above;
    return alpha * rho.value() - std::log1p(1.0 / above) -
           (std::log1p(above) + std::log(delta.value())) / above;
  };
  double low = -40.0;
  double high = 60.0;
  for (int i = 0; i < 200; ++i) {
    const double left = low + (high - low) * 0.381966011250105;
    const double right = low + (high - low) * 0.618033988749895;
    (bound(left) <= bound(right) ? high : low) = bound(left) <= bound(right) ? right : left;
  }
  const double best = bound(0.5 * (low + high));
  return Epsilon(std::max(0.0, best + 1e-12 * (1.0 + std::abs(best))));
}

}  // namespace tandem
