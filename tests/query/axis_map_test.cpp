// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/axis_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tandem/base/error.h"
#include "tandem/base/rng.h"
#include "tandem/query/linear_map.h"

namespace tandem {
namespace {

std::vector<AxisMap> maps() {
  return {AxisMap::identity(1),
          AxisMap::identity(4),
          AxisMap::centred(1),
          AxisMap::centred(3),
          AxisMap::centred(5),
          AxisMap::given({1, 0, -2, 3, 5, 0}, 3),
          AxisMap::given({1, 1, 1, 1}, 4),
          AxisMap::given({7}, 1, -3)};
}

template <class Number>
void expect_applied(const AxisMap& map, std::size_t outer, std::size_t inner, Rng& rng) {
  std::vector<Number> table;
  for (std::size_t i = 0; i < outer * map.codes() * inner; ++i) {
    table.push_back(static_cast<Number>(static_cast<std::int64_t>(rng.below(200)) - 100));
  }
  const auto found = map.apply<Number>(table, outer, inner);
  ASSERT_EQ(found.size(), outer * map.outputs() * inner);
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t r = 0; r < map.outputs(); ++r) {
      for (std::size_t i = 0; i < inner; ++i) {
        Number sum = 0;
        for (std::size_t c = 0; c < map.codes(); ++c) {
          sum += static_cast<Number>(map.entry(r, c)) * table[(o * map.codes() + c) * inner + i];
        }
        ASSERT_EQ(static_cast<double>(found[(o * map.outputs() + r) * inner + i]),
                  static_cast<double>(sum))
            << map.describe();
      }
    }
  }
}

TEST(AxisMap, IsAppliedAsItsEntriesSay) {
  Rng rng(1);
  for (const auto& map : maps()) {
    for (const std::size_t outer : {1, 2, 3}) {
      for (const std::size_t inner : {1, 4}) {
        expect_applied<double>(map, outer, inner, rng);
        expect_applied<std::int64_t>(map, outer, inner, rng);
        expect_applied<Int128>(map, outer, inner, rng);
      }
    }
  }
}

TEST(AxisMap, HasTheEntriesOfItsKind) {
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 4; ++c) {
      EXPECT_EQ(AxisMap::identity(4).entry(r, c), r == c ? 1 : 0);
      EXPECT_EQ(AxisMap::centred(4).entry(r, c), r == c ? 3 : -1);  // n I - J
    }
  }
  EXPECT_EQ(AxisMap::given({1, 0, -2, 3, 5, 0}, 3).entry(1, 0), 3);
  for (const auto& map : maps()) {
    std::int64_t largest = 0;
    bool negative = false;
    for (std::size_t r = 0; r < map.outputs(); ++r) {
      for (std::size_t c = 0; c < map.codes(); ++c) {
        largest = std::max(largest, std::abs(map.entry(r, c)));
        negative = negative || map.entry(r, c) < 0;
      }
    }
    EXPECT_GE(static_cast<std::int64_t>(map.largest_entry()), largest) << map.describe();
    EXPECT_TRUE(map.has_negative() || !negative) << map.describe();
  }
  EXPECT_EQ(static_cast<int>(AxisMap::centred(5).largest_entry()), 4);
  EXPECT_FALSE(AxisMap::identity(4).has_negative());
  EXPECT_FALSE(AxisMap::given({1, 0}, 2).has_negative());
}

TEST(AxisMap, IsDescribedByWhatItIs) {
  std::set<std::string> descriptions;
  for (const auto& map : maps()) descriptions.insert(map.describe());
  descriptions.insert(AxisMap::given({1, 1, 1, 1}, 2).describe());
  descriptions.insert(AxisMap::given({1, 1, 1, 1}, 4, 2).describe());
  descriptions.insert(AxisMap::given({1, 1, 1, 2}, 4).describe());
  EXPECT_EQ(descriptions.size(), maps().size() + 3);
  EXPECT_TRUE(AxisMap::centred(3) == AxisMap::centred(3));
  EXPECT_FALSE(AxisMap::centred(3) == AxisMap::identity(3));
}

TEST(AxisMap, RefusesWhatIsNoMatrix) {
  EXPECT_THROW(AxisMap::given({1, 2, 3}, 2), InternalError);
  EXPECT_THROW(AxisMap::given({}, 2), InternalError);
  EXPECT_THROW(AxisMap::given({1}, 0), InternalError);
  const std::vector<double> cells(7);
  EXPECT_THROW(AxisMap::identity(4).apply<double>(cells, 2, 1), InternalError);
}

TEST(AxisMap, AProductAppliesOneAfterTheOther) {
  Rng rng(2);
  const std::vector<std::shared_ptr<const AxisMap>> axes = {
      std::make_shared<AxisMap>(AxisMap::centred(3)),
      std::make_shared<AxisMap>(AxisMap::given({1, 0, -2, 3}, 2, -1)),
      std::make_shared<AxisMap>(AxisMap::identity(2))};
  const auto map = LinearMap::kronecker(axes);
  EXPECT_EQ(map.columns(), 12U);
  EXPECT_EQ(map.outputs(12), 12U);
  EXPECT_EQ(map.unit(), 0.5);
  std::vector<double> cells;
  for (int i = 0; i < 12; ++i) cells.push_back(static_cast<double>(rng.below(50)));
  const auto found = map.apply(cells);
  for (std::size_t out = 0; out < 12; ++out) {
    double sum = 0.0;
    for (std::size_t in = 0; in < 12; ++in) {
      sum += static_cast<double>(axes[0]->entry(out / 4, in / 4) *
                                 axes[1]->entry(out / 2 % 2, in / 2 % 2) *
                                 axes[2]->entry(out % 2, in % 2)) *
             cells[in];
    }
    EXPECT_EQ(found[out], sum * 0.5);
  }
}

TEST(AxisMap, AProductsUnitIsBounded) {
  const auto of = [](int exponent) {
    return std::make_shared<AxisMap>(AxisMap::given({1}, 1, exponent));
  };
  for (const int sign : {-1, 1}) {
    EXPECT_NO_THROW(LinearMap::kronecker({of(sign * 31), of(sign * 31)}));
    EXPECT_THROW(LinearMap::kronecker({of(sign * 32), of(sign * 31)}), InternalError);
  }
  EXPECT_THROW(LinearMap::kronecker({of(0), nullptr}), InternalError);
}

}  // namespace
}  // namespace tandem
