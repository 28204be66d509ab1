// SPDX-License-Identifier: Apache-2.0
#include "support/statistics.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>

namespace tandem::test {

namespace {

constexpr double kLeastExpected = 25.0;

double chi_square_tail(double statistic, std::size_t degrees) {
  if (degrees == 0) return 1.0;
  return boost::math::gamma_q(static_cast<double>(degrees) / 2.0, statistic / 2.0);
}

// Distribution function of a symmetric integer law given by weights of 0, 1, 2, ...
IntegerLaw from_weights(const std::vector<double>& weights) {
  double total = 0.0;
  double second = 0.0;
  double fourth = 0.0;
  for (std::size_t k = weights.size(); k-- > 0;) {
    const double both = weights[k] * (k == 0 ? 1.0 : 2.0);
    const double square = static_cast<double>(k) * static_cast<double>(k);
    total += both;
    second += both * square;
    fourth += both * square * square;
  }
  // upper[k] = Pr[X >= k]
  auto upper = std::make_shared<std::vector<double>>(weights.size() + 1, 0.0);
  for (std::size_t k = weights.size(); k-- > 0;) {
    (*upper)[k] = (*upper)[k + 1] + weights[k] / total;
  }
  IntegerLaw law;
  law.below = [upper](double x) {
    const double k = std::floor(x);
    const auto at = [&](double index) {
      return index < static_cast<double>(upper->size()) ? (*upper)[static_cast<std::size_t>(index)]
                                                        : 0.0;
    };
    return k >= 0.0 ? 1.0 - at(k + 1.0) : at(-k);
  };
  law.deviation = std::sqrt(second / total);
  law.kurtosis = fourth / total / std::pow(second / total, 2);
  return law;
}

constexpr double kWide = 20'000.0;

}  // namespace

double chi_square_p(std::span<const double> weights, std::span<const std::uint64_t> observed) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const double n = static_cast<double>(std::accumulate(observed.begin(), observed.end(), 0ULL));
  double statistic = 0.0;
  std::size_t cells = 0;
  double expected = 0.0;
  double seen = 0.0;
  double rest = n;  // expected in the cells to come
  for (std::size_t i = 0; i < weights.size(); ++i) {
    expected += n * weights[i] / total;
    rest -= n * weights[i] / total;
    seen += static_cast<double>(observed[i]);
    const bool last = i + 1 == weights.size();
    if (last || (expected >= kLeastExpected && rest >= kLeastExpected)) {
      if (expected > 0.0) statistic += (seen - expected) * (seen - expected) / expected;
      if (expected <= 0.0 && seen > 0.0) return 0.0;
      ++cells;
      expected = seen = 0.0;
    }
  }
  return chi_square_tail(statistic, cells - 1);
}

double two_sample_p(std::span<const std::uint64_t> first, std::span<const std::uint64_t> second) {
  const auto sum = [](std::span<const std::uint64_t> counts) {
    return static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0ULL));
  };
  const double n = sum(first);
  const double m = sum(second);
  double statistic = 0.0;
  std::size_t cells = 0;
  double a = 0.0;
  double b = 0.0;
  double rest = n + m;
  for (std::size_t i = 0; i < first.size(); ++i) {
    a += static_cast<double>(first[i]);
    b += static_cast<double>(second[i]);
    rest -= static_cast<double>(first[i] + second[i]);
    const double enough = kLeastExpected * (n + m) / std::min(n, m);
    if (i + 1 == first.size() || (a + b >= enough && rest >= enough)) {
      if (a + b > 0.0) {
        const double difference = a * std::sqrt(m / n) - b * std::sqrt(n / m);
        statistic += difference * difference / (a + b);
        ++cells;
      }
      a = b = 0.0;
    }
  }
  return chi_square_tail(statistic, cells - 1);
}

double normal_p(double z) { return std::erfc(std::abs(z) / std::numbers::sqrt2); }

double fit_p(const IntegerLaw& law, std::span<const std::int64_t> samples) {
  // Bins of whole numbers, about a fifth of a standard deviation wide, out to eight of them; what
  // lies beyond falls into the two outer bins.
  constexpr int kBins = 81;
  const double width = std::max(1.0, std::floor(law.deviation / 5.0));
  const double start = std::floor(-width * kBins / 2.0);  // bin j: start + j width + 1 .. + width
  std::vector<double> weights(kBins);
  std::vector<std::uint64_t> observed(kBins);
  for (int j = 0; j < kBins; ++j) {
    const double low = j == 0 ? 0.0 : law.below(start + j * width);
    const double high = j == kBins - 1 ? 1.0 : law.below(start + (j + 1) * width);
    weights[static_cast<std::size_t>(j)] = std::max(0.0, high - low);
  }
  const double n = static_cast<double>(samples.size());
  double first = 0.0;
  double second = 0.0;
  double beyond = 0.0;
  const double edge = std::floor(3.0 * law.deviation);
  for (const std::int64_t sample : samples) {
    const auto x = static_cast<double>(sample);
    const double j = std::clamp(std::ceil((x - start) / width) - 1.0, 0.0, kBins - 1.0);
    ++observed[static_cast<std::size_t>(j)];
    first += x / law.deviation;
    second += (x / law.deviation) * (x / law.deviation);
    beyond += std::abs(x) > edge ? 1.0 : 0.0;
  }
  const double tail = 2.0 * law.below(-edge - 1.0);
  double p = chi_square_p(weights, observed);
  if (n * tail >= kLeastExpected) {
    p = std::min(p, normal_p((beyond - n * tail) / std::sqrt(n * tail * (1.0 - tail))));
  }
  if (n * (1.0 - law.below(0.0)) >=
      20.0 * kLeastExpected) {  // moments of a near-constant say little
    p = std::min(p, normal_p(first / std::sqrt(n)));
    p = std::min(p, normal_p((second - n) / std::sqrt(n * (law.kurtosis - 1.0))));
  }
  return std::min(1.0, 4.0 * p);
}

IntegerLaw gaussian_law(double sigma) {
  if (sigma < kWide) {
    std::vector<double> weights;
    for (double k = 0.0; k <= 12.0 * sigma + 2.0; k += 1.0) {
      weights.push_back(std::exp(-k * k / (2.0 * sigma * sigma)));
    }
    return from_weights(weights);
  }
  IntegerLaw law;
  law.below = [sigma](double x) {
    return 0.5 * std::erfc(-(std::floor(x) + 0.5) / sigma / std::numbers::sqrt2);
  };
  law.deviation = sigma;
  return law;
}

IntegerLaw laplace_law(double scale) {
  if (scale < kWide) {
    std::vector<double> weights;
    for (double k = 0.0; k <= 45.0 * scale + 2.0; k += 1.0) weights.push_back(std::exp(-k / scale));
    return from_weights(weights);
  }
  IntegerLaw law;
  law.below = [scale](double x) {
    const double y = (std::floor(x) + 0.5) / scale;
    return y < 0.0 ? 0.5 * std::exp(y) : 1.0 - 0.5 * std::exp(-y);
  };
  law.deviation = std::numbers::sqrt2 * scale;
  law.kurtosis = 6.0;
  return law;
}

}  // namespace tandem::test
