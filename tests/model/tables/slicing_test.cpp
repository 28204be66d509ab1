// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/tables/slicing.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace tandem {
namespace {

// Attributes of 2, 3, 5 and 7 codes.
Domain some_domain() {
  return Domain({{.name = "a", .size = 2, .labels = {}},
                 {.name = "b", .size = 3, .labels = {}},
                 {.name = "c", .size = 5, .labels = {}},
                 {.name = "d", .size = 7, .labels = {}}});
}

TEST(TreeSlices, AreAsFewAsMakeTheLargestTableSmallEnough) {
  const Domain domain = some_domain();
  const auto largest = [&](const Clique& sliced) {
    return cells_without(domain, domain.all(), sliced);  // 210 cells
  };
  EXPECT_EQ(choose_slices(domain.all(), 210, largest), Clique{});
  EXPECT_EQ(choose_slices(domain.all(), 200, largest), Clique{0});
  EXPECT_EQ(choose_slices(domain.all(), 50, largest), Clique{2});
  EXPECT_EQ(choose_slices(domain.all(), 15, largest), (Clique{0, 3}));
  EXPECT_EQ(choose_slices(Clique{0, 1}, 1, largest), (Clique{0, 1}));  // as small as can be
  EXPECT_EQ(choose_slices(domain.all(), 1, [](const Clique&) { return 10.0; }), Clique{});
}

TEST(TreeSlices, TakeEveryCombinationOfCodesOnce) {
  const Domain domain = some_domain();
  std::multiset<std::pair<Code, Code>> seen;
  for_each_slice(domain, Clique{0, 2}, [&](Slice slice) {
    ASSERT_EQ(fixed_in(slice), (Clique{0, 2}));
    seen.emplace(slice[0].code, slice[1].code);
  });
  EXPECT_EQ(seen.size(), 10U);
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 10U);
  int calls = 0;
  for_each_slice(domain, Clique{}, [&](Slice slice) {
    EXPECT_TRUE(slice.empty());
    ++calls;
  });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace tandem
