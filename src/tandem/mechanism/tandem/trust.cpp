// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/tandem/trust.h"
#include "tandem/mechanism/tandem/tuning.h"

#include <algorithm>
#include <cmath>

#include "tandem/base/check.h"

namespace tandem {
using namespace tuning;

namespace {

double log_normal_kernel(double x, double spread) { return -0.5 * (x / spread) * (x / spread); }

double log_sum(std::span<const double> logs) {
  const double most = *std::ranges::max_element(logs);
  double sum = 0.0;
  for (const double value : logs) sum += std::exp(value - most);
  return most + std::log(sum);
}

// log nu from next to nothing to `most`.
std::vector<double> grid(double most) {
  const double low = std::log(std::min(kLeastWorth, most));
  const double high = std::log(most);
  std::vector<double> out;
  for (std::size_t i = 0; i < kTrustPoints; ++i) {
    out.push_back(low + static_cast<double>(i) / (kTrustPoints - 1) * (high - low));
  }
  return out;
}

// ll(v) on the grid.
std::vector<double> log_likelihoods(std::span<const double> log_nu,
                                    std::span<const double> predicted, std::span<const double> y,
                                    double sigma) {
  check(predicted.size() == y.size(), "a prediction has a value for each of a measurement");
  std::vector<double> out;
  for (const double log_v : log_nu) {
    const double inverse = std::exp(-log_v);
    double sum = 0.0;
    for (std::size_t t = 0; t < y.size(); ++t) {
      const double z = std::clamp(predicted[t], 0.0, 1.0);
      const double variance = sigma * sigma + z * (1.0 - z) * inverse;
      const double off = y[t] - predicted[t];
      sum -= 0.5 * (std::log(variance) + off * off / variance);
    }
    out.push_back(sum);
  }
  return out;
}

}  // namespace

Trust::Trust(const TrustOptions& options) : options_(options) {
  check(options.most > 0.0, "public data can be worth something");
  log_nu_ = grid(options.most);
  const double expected = options.expected > 0.0 ? std::log(options.expected) : log_nu_.back();
  for (const double log_nu : log_nu_) {
    log_belief_.push_back(log_normal_kernel(log_nu - expected, options.prior_spread));
  }
}

void Trust::observe(std::span<const double> predicted, std::span<const double> y, double sigma) {
  const auto likelihood = log_likelihoods(log_nu_, predicted, y, sigma);
  std::vector<double> kernel(kTrustPoints);
  std::vector<double> weighted(kTrustPoints);
  for (std::size_t i = 0; i < kTrustPoints; ++i) {
    for (std::size_t j = 0; j < kTrustPoints; ++j) {
      kernel[j] = log_normal_kernel(log_nu_[j] - log_nu_[i], options_.spread);
      weighted[j] = kernel[j] + likelihood[j];
    }
    log_belief_[i] += log_sum(weighted) - log_sum(kernel);
  }
}

double Trust::nu() const {
  const auto best = std::ranges::max_element(log_belief_) - log_belief_.begin();
  return std::exp(log_nu_[static_cast<std::size_t>(best)]);
}

OwnTrust own_trust(std::span<const double> predicted, std::span<const double> y, double sigma,
                   double most) {
  const auto log_nu = grid(most);
  const auto likelihood = log_likelihoods(log_nu, predicted, y, sigma);
  const auto best = std::ranges::max_element(likelihood) - likelihood.begin();
  return {std::exp(log_nu[static_cast<std::size_t>(best)]),
          likelihood[static_cast<std::size_t>(best)] - likelihood.back()};
}

double surprise(std::span<const double> predicted, std::span<const double> y, double sigma,
                double nu) {
  double sum = 0.0;
  for (std::size_t t = 0; t < y.size(); ++t) {
    const double z = std::clamp(predicted[t], 0.0, 1.0);
    const double off = y[t] - predicted[t];
    sum += off * off / (sigma * sigma + z * (1.0 - z) / nu);
  }
  return sum / static_cast<double>(y.size());
}

}  // namespace tandem
