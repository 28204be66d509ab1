// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/linear_map.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tandem/base/error.h"
#include "tandem/query/linear_query.h"

namespace tandem {
namespace {

using Entries = std::vector<std::vector<LinearMap::Entry>>;

TEST(LinearMap, TheIdentityGivesTheMarginalItself) {
  const auto map = LinearMap::identity();
  const std::vector<double> cells = {1, 2, 3};
  EXPECT_TRUE(map.is_identity());
  EXPECT_EQ(map.apply(cells), cells);
  EXPECT_EQ(map.outputs(3), 3U);
  EXPECT_EQ(map.unit(), 1.0);
  EXPECT_THROW(map.row(0), InternalError);
  EXPECT_EQ(LinearQuery{}.map, map);
}

TEST(LinearMap, AddsUpWeightedCells) {
  const auto map = LinearMap::rows(Entries{{{2, 1}, {0, -1}}, {}, {{1, 3}, {2, 0}}}, 3, -1);
  const std::vector<double> cells = {10, 20, 40};
  EXPECT_EQ(map.apply(cells), (std::vector<double>{15, 0, 30}));
  EXPECT_EQ(map.outputs(3), 3U);
  EXPECT_EQ(map.columns(), 3U);
  EXPECT_EQ(map.unit(), 0.5);
  EXPECT_EQ(map.row(0).size(), 2U);
  EXPECT_EQ(map.row(0)[0].column, 0U);  // sorted by column
  EXPECT_EQ(map.row(1).size(), 0U);
  EXPECT_EQ(map.row(2).size(), 1U);  // zeros are dropped
  EXPECT_THROW(map.row(3), InternalError);
}

TEST(LinearMap, MayHaveNoRows) {
  const auto map = LinearMap::rows({}, 4);
  EXPECT_FALSE(map.is_identity());
  EXPECT_EQ(map.outputs(4), 0U);
  EXPECT_TRUE(map.apply(std::vector<double>(4, 1.0)).empty());
}

TEST(LinearMap, RefusesWhatDoesNotFit) {
  EXPECT_THROW(LinearMap::rows(Entries{{{3, 1}}}, 3), InternalError);
  EXPECT_THROW(LinearMap::rows(Entries{{{1, 1}, {1, 2}}}, 3), InternalError);
  EXPECT_THROW(LinearMap::rows({}, 3, 63), InternalError);
  EXPECT_THROW(LinearMap::rows({}, 3, -63), InternalError);
  EXPECT_THROW(LinearMap::rows({}, 3).apply(std::vector<double>(2)), InternalError);
  EXPECT_THROW(LinearMap::rounded(std::vector<double>(5), 2, 3, 0), InternalError);
  const std::vector<double> nan = {std::nan("")};
  EXPECT_THROW(LinearMap::rounded(nan, 1, 1, 0), InternalError);
  const std::vector<double> large = {0x1p62};
  EXPECT_THROW(LinearMap::rounded(large, 1, 1, 0), InternalError);
  const std::vector<double> infinite = {std::numeric_limits<double>::infinity()};
  EXPECT_THROW(LinearMap::rounded(infinite, 1, 1, 10), InternalError);
}

TEST(LinearMap, RoundsADenseMatrixToItsUnit) {
  const std::vector<double> entries = {0.3, -0.3, 0.0, 1.0};
  const auto map = LinearMap::rounded(entries, 2, 2, -2);
  EXPECT_EQ(map, LinearMap::rows(Entries{{{0, 1}, {1, -1}}, {{1, 4}}}, 2, -2));
  EXPECT_EQ(map.apply(std::vector<double>{4, 8}), (std::vector<double>{-1, 8}));
}

TEST(LinearMap, IsEqualWhenItsRowsAndUnitAre) {
  const auto map = LinearMap::rows(Entries{{{0, 1}}}, 2);
  EXPECT_EQ(map, LinearMap::rows(Entries{{{1, 0}, {0, 1}}}, 2));
  EXPECT_FALSE(map == LinearMap::rows(Entries{{{0, 2}}}, 2));
  EXPECT_FALSE(map == LinearMap::rows(Entries{{{0, 1}}}, 3));
  EXPECT_FALSE(map == LinearMap::rows(Entries{{{0, 1}}}, 2, 1));
  EXPECT_FALSE(map == LinearMap::identity());
}

RC_GTEST_PROP(LinearMap, AppliesAsAMatrixDoes, ()) {
  const auto rows = *rc::gen::inRange<std::size_t>(0, 6);
  const auto columns = *rc::gen::inRange<std::size_t>(1, 6);
  const int exponent = *rc::gen::inRange(-20, 3);
  const auto whole =
      rc::gen::map(rc::gen::inRange(-1000, 1000), [](int i) { return static_cast<double>(i); });
  auto entries = *rc::gen::container<std::vector<double>>(rows * columns, whole);
  for (auto& entry : entries) entry = std::ldexp(entry, exponent);
  const auto cells = *rc::gen::container<std::vector<double>>(columns, whole);
  const auto answers = LinearMap::rounded(entries, rows, columns, exponent).apply(cells);
  RC_ASSERT(answers.size() == rows);
  for (std::size_t r = 0; r < rows; ++r) {
    double expected = 0.0;  // exact: small multiples of the unit
    for (std::size_t c = 0; c < columns; ++c) expected += entries[r * columns + c] * cells[c];
    RC_ASSERT(answers[r] == expected);
  }
}

}  // namespace
}  // namespace tandem
