// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/cost.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tandem/base/check.h"

namespace tandem {

namespace {

constexpr int kGrainBits = 80;
constexpr double kLargest = 0x1p40;

// A non-negative double as mantissa * 2^exponent with a 53-bit whole mantissa.
std::pair<std::uint64_t, int> parts(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return {static_cast<std::uint64_t>(std::ldexp(fraction, 53)), exponent - 53};
}

// floor(value * 2^shift), for any sign of shift; the caller bounds the result.
UInt128 shifted(UInt128 value, int shift) {
  if (shift >= 0) return shift < 128 ? value << shift : 0;
  return shift > -128 ? value >> -shift : 0;
}

int bit_length(UInt128 value) {
  int bits = 0;
  for (; value != 0; value >>= 1) ++bits;
  return bits;
}

}  // namespace

Cost Cost::operator+(Cost other) const {
  const UInt128 sum = grains_ + other.grains_;
  check(sum >= grains_, "a sum of costs overflows");
  return Cost(sum);
}

Cost Cost::operator-(Cost other) const {
  check(grains_ >= other.grains_, "a cost can't be negative");
  return Cost(grains_ - other.grains_);
}

Cost Cost::operator*(double factor) const {
  check(factor >= 0.0 && factor <= kLargest, "a cost is scaled by a factor from 0 to 2^40");
  const auto [mantissa, exponent] = parts(factor);
  // grains * mantissa as high * 2^64 + low; then the shift, rounding down.
  const auto low_word = static_cast<std::uint64_t>(grains_);
  const auto high_word = static_cast<std::uint64_t>(grains_ >> 64);
  const UInt128 low = static_cast<UInt128>(low_word) * mantissa;
  const UInt128 high = static_cast<UInt128>(high_word) * mantissa + (low >> 64);
  const UInt128 low64 = static_cast<std::uint64_t>(low);
  check(bit_length(high) + 64 + exponent <= 128, "a scaled cost overflows");
  // high * 2^(64 + exponent) + low64 * 2^exponent, floored once over the joined bits.
  if (exponent >= 0) return Cost(shifted(high, 64 + exponent) + shifted(low64, exponent));
  const int drop = -exponent;
  if (drop >= 64) return Cost(shifted(high, 64 - drop));
  return Cost((high << (64 - drop)) + (low64 >> drop));
}

Cost Cost::operator/(double divisor) const {
  check(divisor >= 1.0 / kLargest && divisor <= kLargest,
        "a cost is divided by a number from 2^-40 to 2^40");
  // floor(grains * 2^-exponent / mantissa) by long division, bit by bit; the remainder of each
  // step is below the mantissa (2^53), so nothing overflows.
  const auto divisor_parts = parts(divisor);
  const std::uint64_t mantissa = divisor_parts.first;
  const int exponent = divisor_parts.second;
  UInt128 quotient = 0;
  std::uint64_t remainder = 0;
  const auto push = [&](unsigned bit) {
    check(quotient >> 127 == 0, "a divided cost overflows");
    remainder = remainder * 2 + bit;
    quotient <<= 1;
    if (remainder >= mantissa) {
      remainder -= mantissa;
      quotient |= 1;
    }
  };
  const int take = exponent > 0 ? 128 - exponent : 128;  // bits of grains above the point
  for (int bit = 127; bit >= 128 - take; --bit) push(static_cast<unsigned>(grains_ >> bit) & 1U);
  for (int extra = exponent; extra < 0; ++extra) push(0);
  return Cost(quotient);
}

std::pair<Cost, Cost> Cost::split(double share) const {
  check(share >= 0.0 && share <= 1.0, "a share is between 0 and 1");
  const Cost first = *this * share;
  return {first, *this - first};
}

double Cost::lower_bound() const {
  const int excess = std::max(0, bit_length(grains_) - 53);
  const auto top = static_cast<std::uint64_t>(grains_ >> excess);
  return std::ldexp(static_cast<double>(top), excess - kGrainBits);
}

double Cost::upper_bound() const {
  const int excess = std::max(0, bit_length(grains_) - 53);
  auto top = static_cast<std::uint64_t>(grains_ >> excess);
  if ((static_cast<UInt128>(top) << excess) != grains_) ++top;
  return std::ldexp(static_cast<double>(top), excess - kGrainBits);
}

std::string Cost::grains() const {
  if (grains_ == 0) return "0";
  std::string digits;
  for (UInt128 rest = grains_; rest != 0; rest /= 10) {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  }
  std::ranges::reverse(digits);
  return digits;
}

Cost Cost::at_most(double amount) {
  if (!(amount >= 0.0 && amount <= kLargest)) {
    throw UsageError("A privacy budget is a number from 0 to 2^40; choose a smaller one.");
  }
  const auto [mantissa, exponent] = parts(amount);
  return Cost(shifted(mantissa, exponent + kGrainBits));
}

Cost Cost::at_least(double amount) {
  Cost cost = at_most(amount);
  if (cost.lower_bound() < amount) ++cost.grains_;
  return cost;
}

Cost Cost::from_grains(const std::string& decimal) {
  if (decimal.empty() || decimal.size() > 39) throw UsageError("An amount of budget is malformed.");
  UInt128 grains = 0;
  for (const char c : decimal) {
    const UInt128 next = grains * 10 + static_cast<unsigned>(c - '0');
    if (c < '0' || c > '9' || next / 10 != grains) {
      throw UsageError("An amount of budget is malformed.");
    }
    grains = next;
  }
  return Cost(grains);
}

}  // namespace tandem
