// SPDX-License-Identifier: Apache-2.0
#pragma once
// Certified bounds on exp(-x), by integer arithmetic alone: 64-bit fixed point, 128-bit products.
//
// The samplers compare a uniform number with exp(-x), which is irrational. These bounds settle all
// but about 2^-55 of the comparisons; the rest go to exact arithmetic (privacy/bernoulli_exp). No
// floating point and no mathematical library is involved. Cost: some ten multiplications.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "tandem/base/int128.h"

namespace tandem {

// A public rational number, for example the sharpness of a selection; den > 0.
struct Rate {
  std::uint64_t num = 0;
  std::uint64_t den = 1;
};

// A non-negative real number x in fixed point: lower <= 2^64 x <= lower + width.
struct Fixed {
  UInt128 lower = 0;
  std::uint64_t width = 0;
};

// Beyond this x only a lower bound is kept: exp(-128) is far below every 64-bit number.
constexpr UInt128 kFar = static_cast<UInt128>(128) << 64;

// The multiples k * num/den of a rate, in fixed point and without a division for each.
class Multiples {
 public:
  explicit Multiples(Rate rate);

  // Privacy: no claim of its own. Proved: the result encloses 2^64 k num/den for every 64-bit k,
  // with width 2 + 2x at most below kFar; at kFar or more it is {kFar, 2^64 - 1}, where
  // only `lower` is a bound (see the .cpp).
  Fixed of(std::uint64_t k) const;

 private:
  friend class Stretches;
  std::uint64_t mantissa_ = 0;  // 2^63 <= mantissa_, and num/den = (mantissa_ + [0, 1)) 2^-shift_
  int shift_ = 0;
};

// Coarse and quick upper bounds on 2^32 exp(-x) for multiples x of a rate: one multiplication and a
// look-up in a table of 23 KB.
class Stretches {
 public:
  explicit Stretches(const Multiples& multiples);

  // Privacy: no claim of its own. Proved: 2^32 exp(-k num/den) <= result <= 2^32, and the result is
  // below 2 + 1.01 * 2^32 exp(-k num/den) (see the .cpp).
  std::uint64_t of(std::uint64_t k) const {
    const std::uint64_t coarse = std::min<std::uint64_t>(k >> before_, ~std::uint32_t{0});
    return kTable[std::min<std::uint64_t>(coarse * mantissa_ >> after_, kLast)];
  }

 private:
  static constexpr int kStepBits = 7;                                   // steps of 2^-7 in x
  static constexpr std::size_t kLast = (std::size_t{23} << kStepBits);  // 2^32 exp(-23) < 1
  static const std::array<std::uint64_t, kLast + 1> kTable;
  std::uint64_t mantissa_ = 0;  // below 2^32
  int before_ = 0;
  int after_ = 0;
};

// lower <= 2^64 exp(-x) <= upper, where `upper` is capped at 2^64 - 1: a uniform word u < lower is
// certainly below exp(-x), and a word u > upper certainly not.
struct ExpBounds {
  std::uint64_t lower = 0;
  std::uint64_t upper = ~std::uint64_t{0};
};

// Privacy: no claim of its own; these bounds are what exactness of the samplers rests on. Proved in
// the .cpp and checked against 100 digits in the tests. About 20 units apart for ordinary x.
ExpBounds exp_bounds(const Fixed& x);

}  // namespace tandem
