// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/l1_projection.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "tandem/base/check.h"

namespace tandem {
namespace {

// Newton's steps on a function of pieces that are lines end after as many as it has pieces; a few
// are usual. The limit guards against rounding that goes back and forth.
constexpr int kMostSteps = 200;
constexpr double kExact = 1e-15;  // of a sum of 1

double sum_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

void scale_to_one(std::span<double> y) {
  const double sum = sum_of(y);
  for (double& value : y) value /= sum;
}

// y = min(pos, c b) of sum 1, for pos of at least that sum; y holds pos. The sum is concave in c,
// so Newton's steps come from the left and never overshoot.
void lower_to_prior(std::span<const double> b, std::span<double> y) {
  double prior = 0.0;
  double known = 0.0;
  for (std::size_t j = 0; j < y.size(); ++j) {
    if (b[j] > 0.0) {
      prior += b[j];
      known += y[j];
    }
  }
  if (known <= 1.0) {  // all of that, and the rest from cells that the prior doesn't know
    const double unknown = sum_of(y) - known;
    const double share = unknown > 0.0 ? (1.0 - known) / unknown : 0.0;
    for (std::size_t j = 0; j < y.size(); ++j) {
      if (!(b[j] > 0.0)) y[j] *= share;
    }
    scale_to_one(y);
    return;
  }
  double c = 1.0 / prior;
  for (int step = 0; step < kMostSteps; ++step) {
    double sum = 0.0;
    double slope = 0.0;
    for (std::size_t j = 0; j < y.size(); ++j) {
      const double line = c * b[j];
      sum += std::min(y[j], line);
      if (line < y[j]) slope += b[j];
    }
    if (1.0 - sum <= kExact || slope <= 0.0) break;
    c += (1.0 - sum) / slope;
  }
  for (std::size_t j = 0; j < y.size(); ++j) y[j] = std::min(y[j], c * b[j]);
  scale_to_one(y);
}

// y = max(pos, c b) of sum 1, for pos of less; y holds pos. The sum is convex in c: steps come from
// the right.
void raise_to_prior(std::span<const double> b, std::span<double> y) {
  const double prior = sum_of(b);
  if (!(prior > 0.0)) {
    const double each = (1.0 - sum_of(y)) / static_cast<double>(y.size());
    for (double& value : y) value += each;
    return;
  }
  double c = 1.0 / prior;
  for (int step = 0; step < kMostSteps; ++step) {
    double sum = 0.0;
    double slope = 0.0;
    for (std::size_t j = 0; j < y.size(); ++j) {
      const double line = c * b[j];
      sum += std::max(y[j], line);
      if (line > y[j]) slope += b[j];
    }
    if (sum - 1.0 <= kExact || slope <= 0.0) break;
    c -= (sum - 1.0) / slope;
  }
  for (std::size_t j = 0; j < y.size(); ++j) y[j] = std::max(y[j], c * b[j]);
  scale_to_one(y);
}

}  // namespace

void project_l1(std::span<const double> noisy, std::span<const double> b, bool exhaustive, Tie tie,
                std::span<double> y) {
  check(noisy.size() == b.size() && noisy.size() == y.size(), "answers are one for each cell");
  if (y.empty()) return;
  double sum = 0.0;
  for (std::size_t j = 0; j < y.size(); ++j) {
    y[j] = std::max(noisy[j], 0.0);
    sum += y[j];
  }
  if (!exhaustive && sum <= 1.0) return;
  if (tie == Tie::Scaled && sum > 0.0) {
    for (double& value : y) value /= sum;
  } else if (sum >= 1.0) {
    lower_to_prior(b, y);
  } else {
    raise_to_prior(b, y);
  }
}

}  // namespace tandem
