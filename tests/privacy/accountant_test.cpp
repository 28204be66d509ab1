// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/accountant.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "tandem/base/error.h"

namespace tandem {
namespace {

using Real = boost::multiprecision::cpp_bin_float_50;

const std::vector<double> kEpsilons = {1e-4, 1e-3, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 30.0, 100.0};
const std::vector<double> kDeltas = {1e-30, 1e-20, 1e-12, 1e-9, 1e-6, 1e-4, 1e-2};

// The least of f over alpha > 1, by narrowing on ln(alpha - 1): nothing shared with the accountant.
template <class F>
Real least_over_alpha(const F& f) {
  Real low = -60;
  Real high = 60;
  const Real golden = (sqrt(Real(5)) - 1) / 2;
  const auto at = [&](const Real& y) { return Real(f(Real(1 + exp(y)))); };
  Real a = high - golden * (high - low);
  Real b = low + golden * (high - low);
  Real fa = at(a);
  Real fb = at(b);
  for (int i = 0; i < 120; ++i) {
    if (fa < fb) {
      high = b;
      b = a;
      fb = fa;
      a = high - golden * (high - low);
      fa = at(a);
    } else {
      low = a;
      a = b;
      fa = fb;
      b = low + golden * (high - low);
      fb = at(b);
    }
  }
  return fa < fb ? fa : fb;
}

// ln of exp((alpha-1)(alpha rho - epsilon)) / (alpha-1) * (1 - 1/alpha)^alpha, as printed.
Real log_delta(double rho, double epsilon) {
  return least_over_alpha([&](const Real& alpha) {
    return (alpha - 1) * (alpha * rho - epsilon) - log(alpha - 1) + alpha * log(1 - 1 / alpha);
  });
}

Real exact_epsilon(double rho, double delta) {
  const Real least = least_over_alpha([&](const Real& alpha) {
    return alpha * rho +
           (-log(Real(delta)) - log(alpha - 1) + alpha * log(1 - 1 / alpha)) / (alpha - 1);
  });
  return least < 0 ? Real(0) : least;
}

TEST(Accountant, KnownValue) {
  EXPECT_NEAR(rho_of(Epsilon(1.0), Delta(1e-9)).value(), 0.014973, 5e-7);
}

TEST(Accountant, RhoOfIsTheLargestWithinAndNotAbove) {
  for (const double epsilon : kEpsilons) {
    for (const double delta : kDeltas) {
      const double rho = rho_of(Epsilon(epsilon), Delta(delta)).value();
      EXPECT_LE(exact_epsilon(rho, delta), epsilon) << epsilon << " " << delta;
      EXPECT_LE(log_delta(rho, epsilon), log(Real(delta))) << epsilon << " " << delta;
      EXPECT_GT(log_delta(rho * (1 + 1e-9), epsilon), log(Real(delta))) << epsilon << " " << delta;
    }
  }
}

TEST(Accountant, EpsilonAndDeltaAreRoundedUpALittle) {
  for (const double epsilon : kEpsilons) {
    for (const double delta : kDeltas) {
      const double rho = rho_of(Epsilon(epsilon), Delta(delta)).value();
      const double up = epsilon_of(Rho(rho), Delta(delta)).value();
      EXPECT_GE(Real(up), exact_epsilon(rho, delta));
      EXPECT_LE(up, epsilon);
      EXPECT_GE(up, epsilon * (1 - 1e-9)) << epsilon << " " << delta;
      const double delta_up = delta_of(Rho(rho), Epsilon(epsilon)).value();
      EXPECT_GE(log(Real(delta_up)), log_delta(rho, epsilon));
      EXPECT_NEAR(delta_up / delta, 1.0, 1e-8) << epsilon << " " << delta;
    }
  }
}

RC_GTEST_PROP(Accountant, GoesThereAndBack, ()) {
  const double epsilon = std::pow(10.0, *rc::gen::inRange(-4000, 2000) / 1000.0);
  const double delta = std::pow(10.0, *rc::gen::inRange(-30'000, -2000) / 1000.0);
  const Rho rho = rho_of(Epsilon(epsilon), Delta(delta));
  const Epsilon back = epsilon_of(rho, Delta(delta));
  RC_ASSERT(back.value() <= epsilon);
  RC_ASSERT(back.value() >= epsilon * (1 - 1e-9));
  // Monotone: more rho or less delta means more epsilon.
  RC_ASSERT(epsilon_of(Rho(rho.value() * 1.001), Delta(delta)) > back);
  RC_ASSERT(epsilon_of(rho, Delta(delta / 1.01)) > back);
  RC_ASSERT(rho_of(Epsilon(epsilon * 1.001), Delta(delta)) > rho);
  RC_ASSERT(delta_of(rho, Epsilon(epsilon * 1.001)) < delta_of(rho, Epsilon(epsilon)));
}

TEST(Accountant, ExtremesStayWithinReason) {
  EXPECT_EQ(delta_of(Rho(1000.0), Epsilon(0.001)), Delta(1.0));
  EXPECT_GT(delta_of(Rho(1e-6), Epsilon(100.0)).value(), 0.0);  // 0 would promise too much
  EXPECT_LT(delta_of(Rho(1e-6), Epsilon(100.0)).value(), 1e-300);
  EXPECT_EQ(epsilon_of(Rho(1e-12), Delta(0.01)), Epsilon(0.0));
  EXPECT_GT(epsilon_of(Rho(1e6), Delta(1e-9)).value(), 1e6);
}

TEST(Accountant, StepsAndTheirWaysBack) {
  EXPECT_NEAR(pure_rho(Epsilon(0.5)).value(), 0.125, 1e-15);
  EXPECT_NEAR(exponential_rho(Epsilon(0.5)).value(), 0.03125, 1e-15);
  EXPECT_NEAR(permute_and_flip_rho(Epsilon(0.5)).value(), 0.125, 1e-15);
  EXPECT_NEAR(exponential_epsilon(Rho(0.5)).value(), 2.0, 1e-14);
  EXPECT_NEAR(permute_and_flip_epsilon(Rho(0.5)).value(), 1.0, 1e-14);
  EXPECT_NEAR(laplace_scale(L1Sensitivity(2.0), Epsilon(0.5)).value(), 4.0, 1e-14);
  EXPECT_NEAR(gaussian_sigma(SquaredL2Sensitivity(2.0), Rho(0.25)).value(), 2.0, 1e-14);
}

RC_GTEST_PROP(Accountant, APriceIsNeverAboveTheBudget, ()) {
  const double x = std::pow(10.0, *rc::gen::inRange(-120'000, 30'000) / 10'000.0);
  const double s = *rc::gen::inRange(1, 50);
  const Rho rho(x);
  const Epsilon epsilon(x);
  const double more = 1.0 + 1e-14;
  RC_ASSERT(pure_rho(pure_epsilon(rho)) <= rho);
  RC_ASSERT(pure_rho(Epsilon(pure_epsilon(rho).value() * more)) > rho);
  RC_ASSERT(exponential_rho(exponential_epsilon(rho)) <= rho);
  RC_ASSERT(exponential_rho(Epsilon(exponential_epsilon(rho).value() * more)) > rho);
  RC_ASSERT(permute_and_flip_rho(permute_and_flip_epsilon(rho)) <= rho);
  const Sigma sigma = gaussian_sigma(SquaredL2Sensitivity(s), rho);
  RC_ASSERT(gaussian_rho(SquaredL2Sensitivity(s), sigma) <= rho);
  RC_ASSERT(gaussian_rho(SquaredL2Sensitivity(s), Sigma(sigma.value() / more)) > rho);
  const Scale scale = laplace_scale(L1Sensitivity(s), epsilon);
  RC_ASSERT(laplace_epsilon(L1Sensitivity(s), scale) <= epsilon);
  // And in exact arithmetic, on the same doubles.
  const Real e = pure_epsilon(rho).value();
  RC_ASSERT(e * e / 2 <= x);
  const Real f = exponential_epsilon(rho).value();
  RC_ASSERT(f * f / 8 <= x);
  RC_ASSERT(Real(s) / (2 * Real(sigma.value()) * sigma.value()) <= x);
  RC_ASSERT(Real(s) / scale.value() <= x);
  RC_ASSERT(Real(pure_rho(epsilon).value()) >= Real(x) * x / 2);
  RC_ASSERT(Real(gaussian_rho(SquaredL2Sensitivity(s), Sigma(x)).value()) >=
            Real(s) / (2 * Real(x) * x));
}

TEST(Accountant, GaussianDeltaIsBalleAndWangs) {
  for (const double sigma : {0.5, 1.0, 3.0, 20.0, 100.0}) {
    for (const double epsilon : {0.0, 0.01, 0.1, 1.0, 3.0}) {
      for (const double squared : {1.0, 2.0}) {
        const Real d = sqrt(Real(squared));
        const auto phi = [](const Real& z) -> Real {
          return boost::math::erfc(Real(-z / sqrt(Real(2)))) / 2;
        };
        const Real exact = phi(d / (2 * sigma) - epsilon * sigma / d) -
                           exp(Real(epsilon)) * phi(-d / (2 * sigma) - epsilon * sigma / d);
        const double ours =
            gaussian_delta(Sigma(sigma), SquaredL2Sensitivity(squared), Epsilon(epsilon)).value();
        if (exact < 1e-300) continue;
        EXPECT_NEAR(static_cast<double>(Real(ours) / exact), 1.0, 1e-10)
            << sigma << " " << epsilon << " " << exact;
      }
    }
  }
  // The exact curve lies below the zCDP bound on it.
  for (const double epsilon : {0.1, 0.5, 1.0, 2.0}) {
    const SquaredL2Sensitivity one(1.0);
    EXPECT_LT(gaussian_delta(Sigma(3.0), one, Epsilon(epsilon)),
              delta_of(gaussian_rho(one, Sigma(3.0)), Epsilon(epsilon)));
  }
}

TEST(Accountant, AdvancedCompositionThereAndBack) {
  for (const int steps : {1, 10, 100, 1000}) {
    for (const double epsilon : {0.01, 0.1, 1.0, 5.0}) {
      for (const double delta : {1e-12, 1e-6, 1e-3}) {
        const Epsilon step = advanced_composition_step(Epsilon(epsilon), steps, Delta(delta));
        const Real e = step.value();
        const Real exact = sqrt(2 * steps * -log(Real(delta))) * e + steps * e * (exp(e) - 1);
        EXPECT_LE(exact, epsilon);
        EXPECT_GE(exact, epsilon * (1 - 1e-12));
        EXPECT_GE(Real(advanced_composition(step, steps, Delta(delta)).value()), exact);
      }
    }
  }
}

TEST(Accountant, RefusesWhatIsNoAmount) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, nan, infinity}) {
    EXPECT_THROW(epsilon_of(Rho(bad), Delta(1e-6)), UsageError);
    EXPECT_THROW(rho_of(Epsilon(bad), Delta(1e-6)), UsageError);
    EXPECT_THROW(delta_of(Rho(bad), Epsilon(1.0)), UsageError);
    EXPECT_THROW(gaussian_sigma(SquaredL2Sensitivity(1.0), Rho(bad)), UsageError);
    EXPECT_THROW(laplace_scale(L1Sensitivity(bad), Epsilon(1.0)), UsageError);
    EXPECT_THROW(exponential_epsilon(Rho(bad)), UsageError);
    EXPECT_THROW(gaussian_delta(Sigma(bad), SquaredL2Sensitivity(1.0), Epsilon(1.0)), UsageError);
  }
  for (const double bad : {0.0, 1.0, -1e-9, nan}) {
    EXPECT_THROW(epsilon_of(Rho(1.0), Delta(bad)), UsageError);
    EXPECT_THROW(rho_of(Epsilon(1.0), Delta(bad)), UsageError);
    EXPECT_THROW(advanced_composition(Epsilon(1.0), 3, Delta(bad)), UsageError);
  }
  EXPECT_THROW(advanced_composition(Epsilon(1.0), 0, Delta(1e-6)), UsageError);
  EXPECT_THROW(advanced_composition_step(Epsilon(1.0), -1, Delta(1e-6)), UsageError);
}

}  // namespace
}  // namespace tandem
