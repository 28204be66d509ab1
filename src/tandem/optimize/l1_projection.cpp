// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/l1_projection.h"

#include <algorithm>
#include <array>
#include <cmath>
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

// The sum over cells of min(y, c b), or of max(y, c b), and its slope in c. Four partial sums, so
// that additions need not wait for each other.
struct Line {
  double sum = 0.0;
  double slope = 0.0;
};

template <bool kLower>
Line along(std::span<const double> b, std::span<const double> y, double c) {
  std::array<double, 4> sum{};
  std::array<double, 4> slope{};
  const auto add = [&](std::size_t j, std::size_t lane) {
    const double line = c * b[j];
    const bool on_line = kLower ? line < y[j] : line > y[j];
    sum[lane] += on_line ? line : y[j];
    slope[lane] += on_line ? b[j] : 0.0;
  };
  std::size_t j = 0;
  for (; j + 4 <= y.size(); j += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) add(j + lane, lane);
  }
  for (; j < y.size(); ++j) add(j, 0);
  return {(sum[0] + sum[1]) + (sum[2] + sum[3]), (slope[0] + slope[1]) + (slope[2] + slope[3])};
}

// The c for which the sum is 1, by Newton's steps from `first` or, where that is 0 or beyond all
// bends, from 1 / sum of b. The sum is made of lines and bends one way, so that after one step they
// come from one side and never overshoot.
template <bool kLower>
double solve(std::span<const double> b, std::span<const double> y, double first) {
  bool from_afar = !(first > 0.0);
  double c = from_afar ? 1.0 / sum_of(b) : first;
  for (int step = 0; step < kMostSteps; ++step) {
    const Line at = along<kLower>(b, y, c);
    if (std::abs(at.sum - 1.0) <= kExact) break;
    double next = at.slope > 0.0 ? c + (1.0 - at.sum) / at.slope : 0.0;
    if (!(next > 0.0)) {
      if (from_afar) break;  // the sum is 1 but for rounding
      from_afar = true;
      next = 1.0 / sum_of(b);
    }
    if (next == c) break;
    c = next;
  }
  return c;
}

// y = pos where the prior is above 0, and what is left of 1 from the other cells, which it doesn't
// know. False where the former are more than 1 by themselves.
bool fill_from_unknown(std::span<const double> b, std::span<double> y) {
  double known = 0.0;
  double unknown = 0.0;
  for (std::size_t j = 0; j < y.size(); ++j) (b[j] > 0.0 ? known : unknown) += y[j];
  if (known > 1.0) return false;
  const double share = unknown > 0.0 ? (1.0 - known) / unknown : 0.0;
  for (std::size_t j = 0; j < y.size(); ++j) {
    if (!(b[j] > 0.0)) y[j] *= share;
  }
  scale_to_one(y);
  return true;
}

// y = min(pos, c b) of sum 1, for pos of at least that sum; y holds pos.
void lower_to_prior(std::span<const double> b, std::span<double> y, double& c) {
  c = solve<true>(b, y, c);
  for (std::size_t j = 0; j < y.size(); ++j) y[j] = std::min(y[j], c * b[j]);
}

// y = max(pos, c b) of sum 1, for pos of less; y holds pos.
void raise_to_prior(std::span<const double> b, std::span<double> y, double& c) {
  if (!(sum_of(b) > 0.0)) {
    const double each = (1.0 - sum_of(y)) / static_cast<double>(y.size());
    for (double& value : y) value += each;
    return;
  }
  c = solve<false>(b, y, c);
  for (std::size_t j = 0; j < y.size(); ++j) y[j] = std::max(y[j], c * b[j]);
}

}  // namespace

void project_l1(std::span<const double> noisy, std::span<const double> b, bool exhaustive, Tie tie,
                std::span<double> y, double& c) {
  check(noisy.size() == b.size() && noisy.size() == y.size(), "answers are one for each cell");
  if (y.empty()) return;
  double sum = 0.0;
  bool all_known = true;
  for (std::size_t j = 0; j < y.size(); ++j) {
    y[j] = std::max(noisy[j], 0.0);
    sum += y[j];
    all_known = all_known && b[j] > 0.0;
  }
  if (!exhaustive && sum <= 1.0) return;
  if (tie == Tie::Scaled && sum > 0.0) {
    for (double& value : y) value /= sum;
  } else if (sum >= 1.0) {
    if (all_known || !fill_from_unknown(b, y)) lower_to_prior(b, y, c);
  } else {
    raise_to_prior(b, y, c);
  }
}

void project_l1(std::span<const double> noisy, std::span<const double> b, bool exhaustive, Tie tie,
                std::span<double> y) {
  double c = 0.0;
  project_l1(noisy, b, exhaustive, tie, y, c);
}

}  // namespace tandem
