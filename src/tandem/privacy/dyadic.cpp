// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/dyadic.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tandem/base/error.h"

namespace tandem {

double Dyadic::value() const { return std::ldexp(static_cast<double>(num), -shift); }

Dyadic short_dyadic(double at_least) {
  if (!(at_least > 0.0 && at_least <= kMostNoise)) {
    throw UsageError(
        "The scale of noise must be above 0 and at most 2^40 counts; change the budget.");
  }
  // frexp, ldexp by a power of two and ceil are exact on doubles of this size.
  int exponent = 0;
  const double fraction = std::frexp(std::max(at_least, kLeastNoise), &exponent);
  auto num = static_cast<std::uint64_t>(std::ceil(std::ldexp(fraction, 24)));
  int shift = 24 - exponent;
  while (shift > 0 && num % 2 == 0) {
    num /= 2;
    --shift;
  }
  if (shift < 0) {
    num <<= -shift;
    shift = 0;
  }
  return {num, shift};
}

}  // namespace tandem
