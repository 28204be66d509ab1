// SPDX-License-Identifier: Apache-2.0
#pragma once
// An amount of privacy budget, in whole grains of 2^-80.
//
// The unit (rho or epsilon) is the currency of the filter that made it. Sums are exact; scaling
// and dividing round down, so that shares of a budget never add up to more than it. Only the
// filter and the ledger can make one from a number: a mechanism divides what it was given.

#include <compare>
#include <string>
#include <utility>

#include "tandem/base/int128.h"

namespace tandem {

class Cost {
 public:
  constexpr Cost() = default;  // nothing

  auto operator<=>(const Cost&) const = default;
  bool is_zero() const { return grains_ == 0; }

  Cost operator+(Cost other) const;      // InternalError when it would overflow
  Cost operator-(Cost other) const;      // InternalError when it would be negative
  Cost operator*(double factor) const;   // rounded down; factor in [0, 2^40]
  Cost operator/(double divisor) const;  // rounded down; divisor in [2^-40, 2^40]

  // {this * share, the rest}: the two add up exactly. share in [0, 1].
  std::pair<Cost, Cost> split(double share) const;

  double lower_bound() const;  // the largest double that is not above the amount
  double upper_bound() const;  // the smallest double that is not below it
  std::string grains() const;  // the exact number of grains, in decimal

 private:
  friend class Filter;
  friend class Ledger;
  friend struct CostForTests;
  constexpr explicit Cost(UInt128 grains) : grains_(grains) {}

  // From a number of rho or epsilon in [0, 2^40]; UsageError outside.
  static Cost at_most(double amount);   // rounded down: for budgets
  static Cost at_least(double amount);  // rounded up: for charges
  static Cost from_grains(const std::string& decimal);

  UInt128 grains_ = 0;
};

}  // namespace tandem
