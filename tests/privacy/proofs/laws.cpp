// SPDX-License-Identifier: Apache-2.0
#include "privacy/proofs/laws.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tandem/base/check.h"

namespace tandem::proofs {

namespace {

std::vector<long double> exponents(std::span<const std::int64_t> scores, Rate rate) {
  const std::int64_t best = *std::ranges::max_element(scores);
  const long double sharpness =
      static_cast<long double>(rate.num) / static_cast<long double>(rate.den);
  std::vector<long double> out;
  for (const auto score : scores) {
    out.push_back(-sharpness * (static_cast<long double>(best) - static_cast<long double>(score)));
  }
  return out;
}

// ln of the sum of exponentials.
long double log_sum(std::span<const long double> logs) {
  const long double most = *std::ranges::max_element(logs);
  long double sum = 0.0L;
  for (const auto value : logs) sum += std::exp(value - most);
  return most + std::log(sum);
}

// ln of the unnormalised weight.
long double log_weight(NoiseKind kind, long double scale, long double x) {
  if (kind == NoiseKind::Gaussian) return -x * x / (2.0L * scale * scale);
  return -std::abs(x) / scale;
}

// ln of the sum over all integers of exp(f(x)): f is largest near `centre`, and beyond `reach` on
// either side each term is at most `ratio` of the one before.
template <class F>
long double log_sum_around(const F& f, std::int64_t centre, std::int64_t reach, long double ratio) {
  std::vector<long double> logs;
  for (std::int64_t x = centre - reach; x <= centre + reach; ++x) {
    logs.push_back(f(static_cast<long double>(x)));
  }
  const long double rest = std::log(ratio / (1.0L - ratio));
  logs.push_back(logs.front() + rest);
  logs.push_back(logs[logs.size() - 2] + rest);
  return log_sum(logs);
}

}  // namespace

FiniteLaw exponential_law(std::span<const std::int64_t> scores, Rate rate) {
  FiniteLaw law = exponents(scores, rate);
  const long double total = log_sum(law);
  for (auto& value : law) value -= total;
  return law;
}

// Candidate i is drawn when its coin falls heads and it comes first among the heads: for each
// number of heads among the others, with its probability, one in that number plus one.
FiniteLaw permute_and_flip_law(std::span<const std::int64_t> scores, Rate rate) {
  const auto coins = exponents(scores, rate);
  FiniteLaw law;
  for (std::size_t i = 0; i < coins.size(); ++i) {
    std::vector<long double> heads = {1.0L};
    for (std::size_t j = 0; j < coins.size(); ++j) {
      if (j == i) continue;
      const long double p = std::exp(coins[j]);
      heads.push_back(0.0L);
      for (std::size_t k = heads.size() - 1; k > 0; --k) {
        heads[k] = heads[k] * (1.0L - p) + heads[k - 1] * p;
      }
      heads[0] *= 1.0L - p;
    }
    long double first = 0.0L;
    for (std::size_t k = 0; k < heads.size(); ++k) {
      first += heads[k] / static_cast<long double>(k + 1);
    }
    law.push_back(coins[i] + std::log(first));
  }
  check(std::abs(log_sum(law)) < 1e-15L, "the probabilities of a law add up to one");
  return law;
}

std::vector<double> probabilities(const FiniteLaw& law) {
  std::vector<double> out;
  for (const auto value : law) out.push_back(static_cast<double>(std::exp(value)));
  return out;
}

long double log_ratio(const FiniteLaw& a, const FiniteLaw& b) {
  long double most = 0.0L;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, a[i] - b[i]);
  return most;
}

long double renyi(const FiniteLaw& a, const FiniteLaw& b, long double alpha) {
  std::vector<long double> logs;
  for (std::size_t i = 0; i < a.size(); ++i) logs.push_back(alpha * a[i] + (1.0L - alpha) * b[i]);
  return log_sum(logs) / (alpha - 1.0L);
}

long double log_ratio(NoiseKind kind, double scale, std::int64_t shift) {
  if (shift == 0) return 0.0L;
  if (kind != NoiseKind::Laplace) return std::numeric_limits<long double>::infinity();
  long double most = 0.0L;  // constant beyond 0 and `shift`
  for (std::int64_t x = -std::abs(shift) - 1; x <= std::abs(shift) + 1; ++x) {
    const auto at = static_cast<long double>(x);
    most = std::max(most, log_weight(kind, scale, at) -
                              log_weight(kind, scale, at - static_cast<long double>(shift)));
  }
  return most;
}

long double renyi(NoiseKind kind, double scale, std::int64_t shift, long double alpha) {
  if (shift == 0) return 0.0L;
  if (kind == NoiseKind::None) return std::numeric_limits<long double>::infinity();
  const auto moved = static_cast<long double>(shift);
  // Beyond the shift a Laplace's terms are a geometric series, which is summed exactly.
  const double deviations = kind == NoiseKind::Gaussian ? 13.0 : 0.0;
  const auto reach = static_cast<std::int64_t>(deviations * scale) + 2 * std::abs(shift) + 8;
  // A Gaussian's terms at distance `reach` fall by exp(-reach / sigma^2) each, a Laplace's by
  // exp(-1 / scale).
  const long double ratio = kind == NoiseKind::Laplace
                                ? std::exp(-1.0L / scale)
                                : std::exp(-static_cast<long double>(reach - 1) /
                                           (static_cast<long double>(scale) * scale));
  const long double total =
      log_sum_around([&](long double x) { return log_weight(kind, scale, x); }, 0, reach, ratio);
  const long double centre = kind == NoiseKind::Gaussian ? (1.0L - alpha) * moved : 0.0L;
  const long double sum = log_sum_around(
      [&](long double x) {
        return alpha * log_weight(kind, scale, x) +
               (1.0L - alpha) * log_weight(kind, scale, x - moved);
      },
      std::llroundl(centre), reach, ratio);
  return (sum - total) / (alpha - 1.0L);
}

std::span<const long double> orders() {
  static constexpr std::array<long double, 14> kOrders = {
      1.1L, 1.25L, 1.5L, 2.0L, 2.5L, 3.0L, 4.0L, 6.0L, 8.0L, 12.0L, 16.0L, 24.0L, 32.0L, 64.0L};
  return kOrders;
}

}  // namespace tandem::proofs
