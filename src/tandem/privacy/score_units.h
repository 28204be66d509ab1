// SPDX-License-Identifier: Apache-2.0
#pragma once
// The arithmetic that all kinds of scores share: public numbers and counts on the grid, and how far
// one row moves them. Inside the gate only; privacy/score_grid.h has the idea.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "tandem/base/error.h"
#include "tandem/base/int128.h"
#include "tandem/base/mutant.h"
#include "tandem/privacy/quick_units.h"
#include "tandem/privacy/score_grid.h"

namespace tandem::score_units {

inline constexpr int kFractionBits = 20;
inline constexpr std::int64_t kOne = std::int64_t{1} << kFractionBits;
static_assert(static_cast<double>(kOne) == QuickUnits::kUnits);
inline constexpr std::int64_t kLargestScore = std::int64_t{1} << 61;
inline constexpr std::size_t kWorthThreads = std::size_t{1} << 18;  // cells

// A public number on the grid of 2^-20.
inline std::int64_t on_grid(double value, double most, const char* what) {
  if (!(std::abs(value) <= most)) {
    throw InternalError(std::string("A ") + what + " of a score is too large or not a number.");
  }
  return static_cast<std::int64_t>(std::nearbyint(value * static_cast<double>(kOne)));
}

inline std::int64_t reference_on_grid(double value) { return on_grid(value, 0x1p40, "reference"); }

// A true count on the same grid. Saturating at 2^40 rows is a contraction: it keeps sensitivities.
inline std::int64_t count_on_grid(double count) {
  return static_cast<std::int64_t>(std::min(count, 0x1p40)) * kOne;
}

// The unit of weights and constants, by its exponent: the largest weight is from 2^29 to 2^30 of
// it. A weight of 2^-30 of the largest then still has 20 bits. Beyond 2^500 and 2^-500 is no use.
class WeightUnit {
 public:
  void include(double weight) {
    if (!(std::abs(weight) <= 0x1p500)) {
      throw InternalError("A weight of a score is too large or not a number.");
    }
    largest_ = std::max(largest_, std::abs(weight));
  }
  int exponent() const {
    if (largest_ < 0x1p-500) return 0;
    int bits = 0;
    std::frexp(largest_, &bits);  // largest_ is from 2^(bits - 1) to 2^bits
    return bits - 30;
  }

 private:
  double largest_ = 0.0;
};

inline std::int64_t weight_on_grid(double weight, int exponent) {
  return on_grid(std::ldexp(weight, -exponent), 0x1p30, "weight");
}

// A constant in units of 2^-40. Saturating at 2^124 of them is the saturation of a score: that is
// 2^53 times the largest weight or more, far beyond 2^61 steps.
inline Int128 constant_on_grid(double constant, int exponent) {
  if (std::isnan(constant)) throw InternalError("A constant of a score is not a number.");
  const double units = std::nearbyint(std::ldexp(constant, 2 * kFractionBits - exponent));
  return static_cast<Int128>(std::clamp(units, -0x1p124, 0x1p124));
}

// What is kept of a sum in units of 2^-20, and of a weighted sum in units of 2^-40. Weights are at
// most 2^50 units, so a weighted term is below 2^124 and nothing overflows. Saturating a term, and
// a running sum after each term, moves no two tables further apart than they were.
inline constexpr Int128 kMostUnits = static_cast<Int128>(1) << 74;
inline constexpr Int128 kMostWeighted = static_cast<Int128>(1) << 125;

inline Int128 saturated(Int128 value, Int128 most) { return std::clamp(value, -most, most); }

inline std::uint64_t distance(double count, double reference) {
  const std::int64_t difference = count_on_grid(count) - reference_on_grid(reference);
  return static_cast<std::uint64_t>(difference < 0 ? -difference : difference);
}

// How far one row of a person moves what `moved` says all their rows move together. Privacy: whole
// rows scale, so a person with k of their rows in a group moves it by k of these at most.
inline UInt128 for_one_row(double moved, const PrivacyUnit& unit) {
  const auto rows = static_cast<UInt128>(unit.rows_per_person);
  return (static_cast<UInt128>(std::ceil(moved)) + rows - 1) / rows;
}

inline UInt128 weight_in_sensitivity(double weight, int exponent) {
  if (mutant(Mutant::IgnoreWeights)) {
    return static_cast<UInt128>(std::ldexp(1.0, kFractionBits - exponent));
  }
  const std::int64_t units = weight_on_grid(weight, exponent);
  return static_cast<UInt128>(units < 0 ? -units : units);
}

// From what one row moves, in units of 2^-40, to a grid of steps. One row moves a floored score by
// at most the next whole number of steps, m rows by at most m times that.
inline ScoreGrid grid_from(UInt128 units, int exponent, const PrivacyUnit& unit) {
  ScoreGrid grid;
  grid.exponent = exponent;
  int bits = 0;
  for (UInt128 rest = units; rest != 0; rest >>= 1) ++bits;
  grid.shift = std::max(0, bits - (kFractionBits + 1));
  const UInt128 slack = mutant(Mutant::NoSlack) ? 0 : (static_cast<UInt128>(1) << grid.shift) - 1;
  grid.sensitivity = static_cast<std::uint64_t>((units + slack) >> grid.shift) *
                     static_cast<std::uint64_t>(unit.rows_per_person);
  return grid;
}

inline std::int64_t to_steps(Int128 units, int shift) {
  const Int128 steps = units >> shift;  // floors, also below zero
  return static_cast<std::int64_t>(
      std::clamp<Int128>(steps, -static_cast<Int128>(kLargestScore), kLargestScore));
}

}  // namespace tandem::score_units
