// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/dyadic.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tandem/base/error.h"

namespace tandem {
namespace {

TEST(Dyadic, KeepsShortFractions) {
  for (const double x : {0x1p-10, 0.5, 0.75, 1.0, 3.25, 1024.0, 16777215.0, 0x1p40}) {
    EXPECT_EQ(short_dyadic(x).value(), x);
  }
  EXPECT_EQ(short_dyadic(1.0).num, 1u);
  EXPECT_EQ(short_dyadic(1.0).shift, 0);
}

RC_GTEST_PROP(Dyadic, IsTheNextOneUp, ()) {
  const auto bits = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 52);
  const double mantissa = 1.0 + static_cast<double>(bits) * 0x1p-52;
  const double x = std::ldexp(mantissa, *rc::gen::inRange(-14, 40));
  const Dyadic up = short_dyadic(x);
  RC_ASSERT(up.value() >= x);
  RC_ASSERT(up.value() <= std::max(x, kLeastNoise) * (1.0 + 0x1p-23));
  RC_ASSERT(up.num < (std::uint64_t{1} << 41));
  RC_ASSERT(up.shift >= 0 && up.shift <= 34);
  RC_ASSERT(up.shift == 0 || up.num <= (std::uint64_t{1} << 24));
}

}  // namespace
}  // namespace tandem
