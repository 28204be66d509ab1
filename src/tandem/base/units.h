// SPDX-License-Identifier: Apache-2.0
#pragma once
// The quantities of differential privacy, each its own type: no bare double crosses an interface,
// and one can't be taken for another. They meet only in privacy/accountant.

#include <compare>

namespace tandem {

template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}
  constexpr double value() const { return value_; }
  constexpr auto operator<=>(const Quantity&) const = default;

 private:
  double value_ = 0.0;
};

using Epsilon = Quantity<struct EpsilonTag>;  // pure, or of an (epsilon, delta) guarantee
using Delta = Quantity<struct DeltaTag>;      // the failure probability of (epsilon, delta)
using Rho = Quantity<struct RhoTag>;          // zero-concentrated differential privacy
using Mu = Quantity<struct MuTag>;            // Gaussian differential privacy
using Sigma = Quantity<struct SigmaTag>;      // standard deviation of noise, in counts
using Scale = Quantity<struct ScaleTag>;      // scale of Laplace noise, in counts

// How far one person can move a statistic. The L2 distance is kept squared: it is then often a
// whole number (2 for a marginal under replace-one) and loses nothing to rounding.
using L1Sensitivity = Quantity<struct L1SensitivityTag>;
using SquaredL2Sensitivity = Quantity<struct SquaredL2SensitivityTag>;

}  // namespace tandem
