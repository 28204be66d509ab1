// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/exp_bounds.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "tandem/base/check.h"

namespace tandem {

namespace {

constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((static_cast<UInt128>(a) * b) >> 64);
}

// value * exp(-p/q) for p <= q, p < 64 and value <= 2^120, by its alternating series. Each of the
// at most 40 terms is floored: with what earlier floors carry over, off by less than 2 each, so the
// sum is off by less than 80.
constexpr UInt128 decay(UInt128 value, unsigned p, unsigned q) {
  UInt128 sum = value;
  UInt128 term = value;
  for (unsigned k = 1; term != 0; ++k) {
    term = term * p / (static_cast<UInt128>(q) * k);
    sum = k % 2 == 1 ? sum - term : sum + term;
  }
  return sum;
}

// floor(2^64 e) up to one unit below, from e in units of 2^-120 known to within 2^12: 44 factors of
// exp(-1) are off by less than 44 * 80 < 2^12.
constexpr std::uint64_t entry(UInt128 e) { return static_cast<std::uint64_t>((e - 4096) >> 56); }

constexpr UInt128 kOne = static_cast<UInt128>(1) << 120;
constexpr std::size_t kWholes = 45;  // 2^64 exp(-45) < 1

constexpr auto kWhole = [] {  // exp(-i)
  std::array<std::uint64_t, kWholes> table{};
  UInt128 e = kOne;
  for (auto& out : table) {
    out = entry(e);
    e = decay(e, 1, 1);
  }
  return table;
}();

template <unsigned kSteps>
constexpr auto kParts = [] {  // exp(-j / kSteps) for j < 64
  std::array<std::uint64_t, 64> table{};
  for (unsigned j = 0; j < 64; ++j) table[j] = entry(decay(kOne, j, kSteps));
  return table;
}();

// 2^64 exp(-y) for y = g 2^-64 < 2^-12, from below by less than 6.
//
// 1 - y + y^2/2 - y^3/6 + y^4/24 errs by less than y^5/120 < 1 unit. Floors make y2/2 and y4/24
// too small by less than 1.5 and 1.1 units; y3/6 is too small by less than 1.1. Taking off 3 more
// covers the y^3 and y^5 terms, so the result is below the truth, by at most 1.5 + 1.1 + 3 + tiny.
constexpr std::uint64_t exp_small(std::uint64_t g) {
  const std::uint64_t y2 = high_product(g, g);
  const std::uint64_t y3 = high_product(y2, g);
  const std::uint64_t y4 = high_product(y3, g);
  return 0 - g + y2 / 2 - y3 / 6 + y4 / 24 - 3;  // 2^64 + ..., which is below 2^64
}

// A lower bound v on 2^64 exp(-x), for x in units of 2^-64; the truth is at most v + kSlack.
//
// exp(-x) = exp(-i) exp(-j/64) exp(-k/4096) exp(-y). Each factor is at most 1, known from below by
// less than 1.001, 1.001, 1.001 and 6 units, and each of three products floors away less than 1:
// the result is not above the truth, and less than 13 below it.
constexpr std::uint64_t kSlack = 13;

constexpr std::uint64_t exp_lower(UInt128 x) {
  if (x >> 64 >= kWholes) return 0;  // the truth is below 1 unit
  const auto whole = static_cast<std::size_t>(x >> 64);
  const auto fraction = static_cast<std::uint64_t>(x);
  std::uint64_t e = high_product(kWhole[whole], kParts<64>[fraction >> 58]);
  e = high_product(e, kParts<4096>[(fraction >> 52) & 63]);
  return high_product(e, exp_small(fraction & ((std::uint64_t{1} << 52) - 1)));
}

}  // namespace

// exp decreases, and exp(-(y + width)) >= exp(-y) - width.
ExpBounds exp_bounds(const Fixed& x) {
  const std::uint64_t v = exp_lower(x.lower);
  return {v > x.width ? v - x.width : 0, v + std::min(kSlack, ~v)};
}

// shift_ is chosen so that num 2^shift_ / den has 64 bits. With n and d the bit lengths, num/den is
// in (2^(n-d-1), 2^(n-d+1)): at shift 63 + d - n the quotient is in (2^62, 2^64), so at most one
// more doubling is needed, and num 2^shift_ < 2^(n + 64 + d - n) <= 2^128 fits.
Multiples::Multiples(Rate rate) {
  check(rate.den > 0, "a rate needs a positive denominator");
  if (rate.num == 0) return;
  const auto n = static_cast<int>(std::bit_width(rate.num));
  const auto d = static_cast<int>(std::bit_width(rate.den));
  shift_ = 63 + d - n;
  UInt128 quotient = (static_cast<UInt128>(rate.num) << shift_) / rate.den;
  if (quotient >> 63 == 0) {
    ++shift_;
    quotient = (static_cast<UInt128>(rate.num) << shift_) / rate.den;
  }
  mantissa_ = static_cast<std::uint64_t>(quotient);
}

// 2^64 k num/den = k (mantissa_ + theta) 2^(64 - shift_), 0 <= theta < 1. The first part is exact
// before the shift and loses less than 1 to it; the second is less than (lower + 1) / mantissa_
// <= (lower + 1) 2^-63. Together less than 2 + floor(lower 2^-63).
Fixed Multiples::of(std::uint64_t k) const {
  const UInt128 product = static_cast<UInt128>(mantissa_) * k;
  const Fixed far{kFar, ~std::uint64_t{0}};
  UInt128 lower = 0;
  if (shift_ >= 64) {
    lower = product >> (shift_ - 64);
  } else {
    if (product >> (shift_ + 7) != 0) return far;  // x >= 2^7, and the shift below might overflow
    lower = product << (64 - shift_);
  }
  if (lower >= kFar) return far;
  return {lower, product == 0 ? 0 : 2 + static_cast<std::uint64_t>(lower >> 63)};
}

// Entry j bounds exp on x in [j, j + 1) 2^-7: upper >= 2^64 exp(-j 2^-7) gives floor(upper 2^-32) +
// 1 > 2^32 exp(-x), and 2^32 itself is a bound for every x >= 0. The last entry stands for all x
// from 23 on, where 2^32 exp(-x) < 1.
//
// Which entry: num/den >= m 2^(32 - shift) for m = floor(mantissa 2^-32), so 2^7 x >= k m
// 2^(39 - shift). With c = floor(k 2^-before) this is at least c m 2^-after for before + after =
// shift - 39, and every step of `of` (also the cap on c) only makes that product smaller: the entry
// is never one for a larger x. It is hardly ever one for a smaller x by more than a step: m has 32
// bits, so loses 2^-31 of x; c is either exact or loses less than m 2^-51 < 2^-19 of a step; and
// where c is capped, c m 2^-51 >= (2^32 - 1) 2^31 2^-51 > 23 * 2^7. A bound is thus at most
// exp(2^-7 + tiny) < 1.01 times the truth, and 2 for what is rounded up.
constexpr std::array<std::uint64_t, Stretches::kLast + 1> Stretches::kTable = [] {
  std::array<std::uint64_t, kLast + 1> table{};
  for (std::size_t j = 0; j < kLast; ++j) {
    const std::uint64_t lower = exp_lower(static_cast<UInt128>(j) << (64 - kStepBits));
    const std::uint64_t upper = lower + std::min(kSlack, ~lower);
    table[j] = std::min(std::uint64_t{1} << 32, (upper >> 32) + 1);
  }
  table[kLast] = 1;
  return table;
}();

Stretches::Stretches(const Multiples& multiples) : mantissa_(multiples.mantissa_ >> 32) {
  constexpr int kMostAfter = 51;
  const int both = multiples.shift_ - 32 - kStepBits;
  after_ = std::clamp(both, 0, kMostAfter);
  before_ = std::clamp(both - kMostAfter, 0, 63);
}

}  // namespace tandem
