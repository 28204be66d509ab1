// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tests of samples against exact probabilities, with a known rate of false alarms.
//
// Seeds are fixed, so a test that passes keeps passing. What the rate says is how likely a correct
// sampler would have failed when the seed was chosen: kAlarm for each p-value asked for. The suite
// asks for fewer than 1000, so all of it together stays below one in a million.

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace tandem::test {

inline constexpr double kAlarm = 1e-9;

// The p-value of `observed` counts against probabilities (any positive weights). Cells are merged,
// in order, until each is expected 25 times or more. 1 when only one cell is left.
double chi_square_p(std::span<const double> weights, std::span<const std::uint64_t> observed);

// The p-value that two samples come from one distribution; cells merged likewise.
double two_sample_p(std::span<const std::uint64_t> first, std::span<const std::uint64_t> second);

// Two-sided p-value of a standard normal deviate.
double normal_p(double z);

// Samples of an integer distribution, symmetric about 0, against its weights: chi-square over up to
// `bins` bins of equal width that cover the bulk, tails, mean and second moment. The least p-value
// of the four, times four.
struct IntegerLaw {
  std::function<double(double)> below;  // Pr[X <= floor(x)]
  double deviation = 1.0;               // standard deviation
  double kurtosis = 3.0;                // fourth moment / variance^2
};
double fit_p(const IntegerLaw& law, std::span<const std::int64_t> samples);

// The laws of discrete Gaussian and Laplace noise: summed when narrow, and by the continuous
// distribution function at half-integers when so wide that no test could tell the difference.
IntegerLaw gaussian_law(double sigma);
IntegerLaw laplace_law(double scale);

}  // namespace tandem::test
