// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/score_grid.h"

#include <algorithm>
#include <cmath>

#include "tandem/base/mutant.h"
#include "tandem/privacy/score_units.h"

namespace tandem {

using score_units::kFractionBits;

double ScoreGrid::rate_for(double epsilon) const {
  const double rate =
      epsilon / (2.0 * static_cast<double>(std::max<std::uint64_t>(sensitivity, 1)));
  if (mutant(Mutant::RateRoundedUp)) return std::nextafter(rate, HUGE_VAL);
  return std::max(0.0, std::nextafter(rate, 0.0));
}

double ScoreGrid::epsilon_for(double rate) const {
  return std::nextafter(rate * step() * 2.0 * static_cast<double>(sensitivity), HUGE_VAL);
}

double ScoreGrid::step() const { return std::ldexp(1.0, exponent + shift - 2 * kFractionBits); }

}  // namespace tandem
