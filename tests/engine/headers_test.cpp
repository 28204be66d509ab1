// SPDX-License-Identifier: Apache-2.0
// All of src/tandem in one file, as a program that uses the library may have it.

#include <gtest/gtest.h>

#include "all_headers.inc"  // IWYU pragma: keep

namespace tandem {
namespace {

// That this compiles is most of the claim: a name with two meanings would not.
TEST(Headers, CanAllBeIncludedTogether) {
  const Scale of_noise(2.0);
  const auto of_values = number_line(0);
  EXPECT_EQ(of_noise.value(), of_values->point(2));
}

}  // namespace
}  // namespace tandem
