// SPDX-License-Identifier: Apache-2.0
#pragma once
// Distances between counts and references on the grid of scores, many at a time: what a compiler
// makes vector code of. Inside the gate only.

#include <bit>
#include <cstdint>
#include <limits>

#include "tandem/privacy/score.h"

namespace tandem {

// Privacy: the same whole numbers as the general way: count - reference, or its size, in units of
// 2^-20. Nothing of use unless all counts and references are within 2^30, which is 2^50 units.
// Adding 1.5 * 2^52 to a double below 2^51 rounds it to the nearest whole number, halves to even,
// which is then the difference of the bits; and the difference of two such is exact.
class QuickUnits {
 public:
  static constexpr double kUnits = 0x1p20;

  QuickUnits(double unit, CellScore kind)
      : unit_(unit), keep_sign_(kind == CellScore::Absolute ? 0 : ~std::uint64_t{0}) {}

  std::int64_t of(double count, double in_units) {
    const double reference = in_units * unit_;
    beyond_ |= static_cast<std::int64_t>(magnitude(count) > kMost);
    beyond_ |= static_cast<std::int64_t>(magnitude(reference) > kMost);
    // Without signs, which may wrap where the result is of no use.
    const std::uint64_t difference = std::bit_cast<std::uint64_t>(count * kUnits + kMagic) -
                                     std::bit_cast<std::uint64_t>(reference * kUnits + kMagic);
    const std::uint64_t flip = (0 - (difference >> 63)) & ~keep_sign_;
    return static_cast<std::int64_t>((difference ^ flip) - flip);
  }
  bool all_within() const { return beyond_ == 0; }

 private:
  static constexpr double kMagic = 0x1.8p52;
  static constexpr auto kMost = std::bit_cast<std::int64_t>(0x1p30);
  // The bits of positive doubles, NaN included, are in the order of their values.
  static std::int64_t magnitude(double value) {
    return std::bit_cast<std::int64_t>(value) & std::numeric_limits<std::int64_t>::max();
  }
  double unit_;
  std::uint64_t keep_sign_;
  std::int64_t beyond_ = 0;
};

}  // namespace tandem
