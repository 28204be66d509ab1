// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/cost.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "support/cost_for_tests.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using boost::multiprecision::cpp_int;

static_assert(!std::is_constructible_v<Cost, double>);
static_assert(!std::is_convertible_v<double, Cost>);

cpp_int grains(const Cost& cost) { return cpp_int(cost.grains()); }

Cost cost_of(const cpp_int& grains) { return CostForTests::from_grains(grains.str()); }

const cpp_int kMost = (cpp_int(1) << 128) - 1;

// floor(value * 2^80) of a non-negative double, exactly.
cpp_int floor_grains(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const cpp_int mantissa(static_cast<std::uint64_t>(std::ldexp(fraction, 53)));
  const int shift = exponent - 53 + 80;
  return shift >= 0 ? cpp_int(mantissa << shift) : cpp_int(mantissa >> -shift);
}

// A double as an exact fraction.
std::pair<cpp_int, cpp_int> fraction_of(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  cpp_int num(static_cast<std::uint64_t>(std::ldexp(fraction, 53)));
  cpp_int den = 1;
  (exponent >= 53 ? num : den) <<= std::abs(exponent - 53);
  return {num, den};
}

// Any double from 2^-low to 2^high, all mantissas.
rc::Gen<double> doubles(int low, int high) {
  return rc::gen::apply(
      [](std::int64_t mantissa, int exponent) {
        return std::ldexp(1.0 + static_cast<double>(mantissa) * 0x1p-52, exponent);
      },
      rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 52), rc::gen::inRange(low, high));
}

rc::Gen<cpp_int> amounts() {
  return rc::gen::apply([](std::uint64_t high, std::uint64_t low,
                           int drop) { return cpp_int(((cpp_int(high) << 64) + low) >> drop); },
                        rc::gen::arbitrary<std::uint64_t>(), rc::gen::arbitrary<std::uint64_t>(),
                        rc::gen::inRange(0, 128));
}

TEST(Cost, LessThanAGrainIsNothingOrAGrain) {
  for (int exponent = -81; exponent > -1070; --exponent) {
    const double amount = std::ldexp(1.5, exponent);
    EXPECT_EQ(CostForTests::at_most(amount).grains(), "0") << exponent;
    EXPECT_EQ(CostForTests::at_least(amount).grains(), "1") << exponent;
  }
  EXPECT_EQ(CostForTests::at_most(0.0).grains(), "0");
  EXPECT_EQ(CostForTests::at_least(0.0).grains(), "0");
  EXPECT_EQ(CostForTests::at_most(std::ldexp(1.5, -80)).grains(), "1");
  EXPECT_EQ(CostForTests::at_least(std::ldexp(1.5, -80)).grains(), "2");
}

TEST(Cost, StartsAtNothing) {
  EXPECT_TRUE(Cost().is_zero());
  EXPECT_EQ(Cost().grains(), "0");
  EXPECT_EQ(Cost().upper_bound(), 0.0);
}

TEST(Cost, OneIsTwoToTheEighty) {
  EXPECT_EQ(grains(CostForTests::at_most(1.0)), cpp_int(1) << 80);
  EXPECT_EQ(CostForTests::at_most(1.0), CostForTests::at_least(1.0));
  EXPECT_EQ(grains(CostForTests::at_most(0x1p40)), cpp_int(1) << 120);
}

RC_GTEST_PROP(Cost, NumbersRoundOutward, ()) {
  const double x = *doubles(-120, 40);
  RC_ASSERT(grains(CostForTests::at_most(x)) == floor_grains(x));
  const auto [num, den] = fraction_of(x);
  const cpp_int least = ((num << 80) + den - 1) / den;
  RC_ASSERT(grains(CostForTests::at_least(x)) == least);
}

RC_GTEST_PROP(Cost, BoundsEncloseAndAreTight, ()) {
  const cpp_int g = *amounts();
  const Cost cost = cost_of(g);
  RC_ASSERT(grains(cost) == g);
  const auto exact = [](double value) {  // scaled by 2^80; whole because g has 128 bits at most
    return floor_grains(value);
  };
  RC_ASSERT(exact(cost.lower_bound()) <= g);
  RC_ASSERT(exact(cost.upper_bound()) >= g);
  if (g > 0) {
    const double infinity = std::numeric_limits<double>::infinity();
    RC_ASSERT(exact(std::nextafter(cost.lower_bound(), infinity)) > g ||
              cost.lower_bound() == cost.upper_bound());
    RC_ASSERT(exact(std::nextafter(cost.upper_bound(), 0.0)) < g);
  }
}

RC_GTEST_PROP(Cost, ScalesLikeBigIntegers, ()) {
  const cpp_int g = *amounts();
  const double factor = *doubles(-100, 40);
  const auto [num, den] = fraction_of(factor);
  const cpp_int exact = g * num / den;
  // `*` may refuse up to one bit early, never late.
  if (exact > kMost) {
    RC_ASSERT_THROWS_AS(cost_of(g) * factor, InternalError);
  } else if (exact <= kMost / 2) {
    RC_ASSERT(grains(cost_of(g) * factor) == exact);
  }
}

RC_GTEST_PROP(Cost, DividesLikeBigIntegers, ()) {
  const cpp_int g = *amounts();
  const double divisor = *doubles(-40, 40);
  const auto [num, den] = fraction_of(divisor);
  const cpp_int exact = g * den / num;
  if (exact > kMost) {
    RC_ASSERT_THROWS_AS(cost_of(g) / divisor, InternalError);
  } else {
    RC_ASSERT(grains(cost_of(g) / divisor) == exact);
  }
}

RC_GTEST_PROP(Cost, SplitsAddUp, ()) {
  const Cost whole = cost_of(*amounts());
  const double share = *rc::gen::inRange(0, 1'000'001) / 1e6;
  const auto [first, rest] = whole.split(share);
  RC_ASSERT(first + rest == whole);
  RC_ASSERT(first <= whole);
}

RC_GTEST_PROP(Cost, EvenSharesNeverOverspend, ()) {
  const Cost whole = CostForTests::at_most(*doubles(-40, 10));
  const int rounds = *rc::gen::inRange(1, 600);
  Cost left = whole;
  for (int t = 0; t < rounds; ++t) left = left - left / (rounds - t);
  RC_ASSERT(left.is_zero());
  const Cost share = whole / rounds;
  Cost spent;
  for (int t = 0; t < rounds; ++t) spent = spent + share;
  RC_ASSERT(spent <= whole);
  RC_ASSERT(grains(whole) - grains(spent) < rounds);
}

TEST(Cost, SumsAndDifferencesAreGuarded) {
  const Cost most = cost_of(kMost);
  const Cost grain = cost_of(1);
  EXPECT_THROW(most + grain, InternalError);
  EXPECT_THROW(grain - most, InternalError);
  EXPECT_EQ(grains(most - grain), kMost - 1);
  EXPECT_THROW(most * 2.0, InternalError);
  EXPECT_THROW(most / 0.5, InternalError);
}

TEST(Cost, RefusesOddFactors) {
  const Cost one = CostForTests::at_most(1.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE((one * 0.0).is_zero());
  for (const double bad : {-1.0, nan, 0x1p41}) EXPECT_THROW(one * bad, InternalError);
  for (const double bad : {-1.0, nan, 0.0, 0x1p-41, 0x1p41}) EXPECT_THROW(one / bad, InternalError);
  for (const double bad : {-0.1, nan, 1.1}) EXPECT_THROW(one.split(bad), InternalError);
}

TEST(Cost, RefusesOddAmounts) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {-1.0, nan, 0x1p41, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(CostForTests::at_most(bad), UsageError);
    EXPECT_THROW(CostForTests::at_least(bad), UsageError);
  }
  for (const std::string& bad :
       std::vector<std::string>{"", "-1", "1.5", "1e9", " 1", "0x10", kMost.str() + "0"}) {
    EXPECT_THROW(CostForTests::from_grains(bad), UsageError) << bad;
  }
  EXPECT_THROW(CostForTests::from_grains(cpp_int(kMost + 1).str()), UsageError);
  EXPECT_NO_THROW(CostForTests::from_grains(kMost.str()));
}

}  // namespace
}  // namespace tandem
