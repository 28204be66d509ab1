// SPDX-License-Identifier: Apache-2.0
// How rounding is kept outward. A sum of terms, each the product of a few correctly rounded
// operations and library logarithms (within 4 units of the last place), is off by less than 16
// half-units of 2^-52 of the terms' absolute values. kMargin = 2^-47 of that sum is taken
// off or put on: several times the need. Products and roots of one or two operations move by two
// neighbours. Functions that answer "the largest x whose price is within b" search with the price
// function itself and return an x that passed, so they need no argument of their own.
#include "tandem/privacy/accountant.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tandem/base/error.h"

namespace tandem {

namespace {

constexpr double kMargin = 0x1p-47;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double up(double x) { return std::nextafter(std::nextafter(x, kInfinity), kInfinity); }

void need_positive(double x, const char* message) {
  if (!(x > 0.0) || !std::isfinite(x)) throw UsageError(message);
}
void need(Epsilon e) { need_positive(e.value(), "Epsilon must be a positive number."); }
void need(Rho r) { need_positive(r.value(), "Rho must be a positive number."); }
void need(Sigma s) {
  need_positive(s.value(), "The standard deviation of noise must be positive.");
}
void need(Scale s) { need_positive(s.value(), "The scale of noise must be positive."); }
void need(L1Sensitivity s) { need_positive(s.value(), "A sensitivity must be positive."); }
void need(SquaredL2Sensitivity s) { need_positive(s.value(), "A sensitivity must be positive."); }
void need(Delta d) {
  if (!(d.value() > 0.0 && d.value() < 1.0)) {
    throw UsageError("Delta must lie strictly between 0 and 1.");
  }
}

// Some terms, summed; the sum, and the sum of their sizes.
struct Sum {
  double value = 0.0;
  double size = 0.0;
  void add(double term) {
    value += term;
    size += std::abs(term);
  }
  double rounded_up() const { return up(value + kMargin * size); }
};

// The place in (0, high] where an increasing function passes zero, nearly.
template <class F>
double root(double high, const F& increasing) {
  double low = 0.0;
  for (int i = 0; i < 100 && low < high; ++i) {
    const double middle = low + (high - low) / 2.0;
    (increasing(middle) < 0.0 ? low : high) = middle;
  }
  return high;
}

// The largest x with fits(x), to the last place, for a property of all small x > 0.
template <class F>
double largest(double guess, const F& fits) {
  double low = guess;
  while (!fits(low)) low /= 2.0;
  double high = 2.0 * low;
  while (fits(high)) {
    low = high;
    high *= 2.0;
  }
  for (;;) {
    const double middle = low + (high - low) / 2.0;
    if (middle <= low || middle >= high) return low;
    (fits(middle) ? low : high) = middle;
  }
}

}  // namespace

// Below, b = alpha - 1, and ln(1 - 1/alpha) = -ln(1 + 1/b). The logarithm of Corollary 13 is
//   ln delta = b (1 + b) rho - b epsilon - b ln(1 + 1/b) - ln(1 + b).
// Any b > 0 gives a valid bound, so how well b is chosen affects tightness and nothing else.

// Solved for epsilon: rho (1 + b) - ln(1 + 1/b) + (ln(1/delta) - ln(1 + b)) / b. Its derivative
// has the sign of rho b^2 + ln(1 + b) - ln(1/delta), which increases with b: one minimum.
Epsilon epsilon_of(Rho rho, Delta delta) {
  need(rho);
  need(delta);
  const double r = rho.value();
  const double l = -std::log(delta.value());
  const double b = root(std::min(std::sqrt(l / r), std::expm1(l)),
                        [&](double x) { return r * x * x + std::log1p(x) - l; });
  Sum epsilon;
  epsilon.add(r);
  epsilon.add(r * b);
  epsilon.add(-std::log1p(1.0 / b));
  epsilon.add(l / b);
  epsilon.add(-std::log1p(b) / b);
  return Epsilon(std::max(0.0, epsilon.rounded_up()));
}

// The derivative of ln delta by b is (2b + 1) rho - epsilon - ln(1 + 1/b), which increases with b
// and is positive at epsilon/rho + 1/sqrt(rho), since ln(1 + 1/b) < 1/b.
Delta delta_of(Rho rho, Epsilon epsilon) {
  need(rho);
  need(epsilon);
  const double r = rho.value();
  const double e = epsilon.value();
  const double b = root(e / r + 1.0 / std::sqrt(r),
                        [&](double x) { return (2.0 * x + 1.0) * r - e - std::log1p(1.0 / x); });
  Sum log_delta;
  log_delta.add(b * r);
  log_delta.add(b * b * r);
  log_delta.add(-b * e);
  log_delta.add(-b * std::log1p(1.0 / b));
  log_delta.add(-std::log1p(b));
  return Delta(std::min(1.0, up(std::exp(log_delta.rounded_up()) * (1.0 + kMargin))));
}

Rho rho_of(Epsilon epsilon, Delta delta) {
  need(epsilon);
  need(delta);
  return Rho(
      largest(epsilon.value(), [&](double rho) { return epsilon_of(Rho(rho), delta) <= epsilon; }));
}

Rho pure_rho(Epsilon epsilon) {
  need(epsilon);
  return Rho(up(epsilon.value() * epsilon.value() / 2.0));
}

Epsilon pure_epsilon(Rho rho) {
  need(rho);
  return Epsilon(
      largest(std::sqrt(2.0 * rho.value()), [&](double e) { return pure_rho(Epsilon(e)) <= rho; }));
}

Rho exponential_rho(Epsilon epsilon) {
  need(epsilon);
  return Rho(up(epsilon.value() * epsilon.value() / 8.0));
}

Epsilon exponential_epsilon(Rho rho) {
  need(rho);
  return Epsilon(largest(std::sqrt(8.0 * rho.value()),
                         [&](double e) { return exponential_rho(Epsilon(e)) <= rho; }));
}

Rho permute_and_flip_rho(Epsilon epsilon) { return pure_rho(epsilon); }

Epsilon permute_and_flip_epsilon(Rho rho) { return pure_epsilon(rho); }

Epsilon laplace_epsilon(L1Sensitivity sensitivity, Scale scale) {
  need(sensitivity);
  need(scale);
  return Epsilon(up(sensitivity.value() / scale.value()));
}

Scale laplace_scale(L1Sensitivity sensitivity, Epsilon epsilon) {
  need(sensitivity);
  need(epsilon);
  double scale = sensitivity.value() / epsilon.value();
  while (laplace_epsilon(sensitivity, Scale(scale)) > epsilon) scale = up(scale);
  return Scale(scale);
}

Rho gaussian_rho(SquaredL2Sensitivity sensitivity, Sigma sigma) {
  need(sensitivity);
  need(sigma);
  return Rho(up(sensitivity.value() / (2.0 * sigma.value() * sigma.value())));
}

Sigma gaussian_sigma(SquaredL2Sensitivity sensitivity, Rho rho) {
  need(sensitivity);
  need(rho);
  double sigma = std::sqrt(sensitivity.value() / (2.0 * rho.value()));
  while (gaussian_rho(sensitivity, Sigma(sigma)) > rho) sigma = up(sigma);
  return Sigma(sigma);
}

// Phi(a - c) - e^epsilon Phi(-a - c) for a = D2 / (2 sigma) and c = epsilon sigma / D2. The two
// nearly cancel when a is small; extended precision leaves enough digits.
Delta gaussian_delta(Sigma sigma, SquaredL2Sensitivity sensitivity, Epsilon epsilon) {
  need(sigma);
  need(sensitivity);
  if (!(epsilon.value() >= 0.0)) throw UsageError("Epsilon must not be negative.");
  const long double e = epsilon.value();
  const long double s = sigma.value();
  const long double d = std::sqrt(static_cast<long double>(sensitivity.value()));
  const long double a = d / (2.0L * s);
  const long double c = e * s / d;
  const long double root_half = 1.0L / std::numbers::sqrt2_v<long double>;
  const long double minus = std::exp(e) * std::erfc((c + a) * root_half);
  const long double delta = 0.5L * (std::erfc((c - a) * root_half) - minus);
  return Delta(static_cast<double>(std::max(0.0L, delta)));
}

Epsilon advanced_composition(Epsilon step, int steps, Delta delta) {
  need(step);
  need(delta);
  if (steps < 1) throw UsageError("A composition needs at least one step.");
  const double e = step.value();
  Sum total;
  total.add(std::sqrt(2.0 * steps * -std::log(delta.value())) * e);
  total.add(steps * e * std::expm1(e));
  return Epsilon(total.rounded_up());
}

Epsilon advanced_composition_step(Epsilon total, int steps, Delta delta) {
  need(total);
  return Epsilon(largest(total.value(), [&](double e) {
    return advanced_composition(Epsilon(e), steps, delta) <= total;
  }));
}

}  // namespace tandem
