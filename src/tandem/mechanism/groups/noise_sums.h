// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far sums of independent noise get, by Chernoff's bound.

#include <span>

#include "tandem/query/measurement.h"

namespace tandem {

struct SumOfNoise {
  NoiseKind kind = NoiseKind::None;
  double sigma = 0.0;  // of each
  double count = 0.0;  // of variables; also between whole numbers
};

// What the sum of all is above with at most this probability: the least over s of
// (ln E exp(s noise) - ln probability) / s. Without noise 0.
double seldom_above(std::span<const SumOfNoise> noise, double probability);

// The same for a weighted sum of which the variance is known alone, and that none of its Laplace
// variables has a standard deviation above `largest`; 0: all of it is normal.
double seldom_above(double variance, double largest, double probability);

}  // namespace tandem
