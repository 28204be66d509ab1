// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/factor.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

#include "support/random_tables.h"
#include "tandem/base/error.h"
#include "tandem/query/cell_map.h"

namespace tandem {
namespace {

TEST(Factor, SumsDownToAPart) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}});
  const Factor factor{{0, 1}, {1, 2, 3, 10, 20, 30}};
  EXPECT_EQ(marginalize(factor, domain, {0}).values, (std::vector<double>{6, 60}));
  EXPECT_EQ(marginalize(factor, domain, {1}).values, (std::vector<double>{11, 22, 33}));
  EXPECT_EQ(marginalize(factor, domain, {}).values, (std::vector<double>{66}));
  EXPECT_EQ(marginalize(factor, domain, {0, 1}), factor);
  EXPECT_EQ(total(factor), 66.0);
  EXPECT_EQ(marginalize({{}, {5}}, domain, {}).values, (std::vector<double>{5}));
}

TEST(Factor, RefusesToSumOntoWhatItDoesNotHold) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}});
  EXPECT_THROW(marginalize({{0}, {1, 2}}, domain, {1}), InternalError);
}

RC_GTEST_PROP(Factor, ThePartOfACountIsTheCountOfThePart, ()) {
  const auto domain = test::any_domain({1, 2, 3, 5, 300}, 5);
  const auto table = test::any_table(domain, *rc::gen::inRange<std::size_t>(0, 100));
  const auto whole = test::any_clique(domain, 100'000);
  const auto part = intersect(whole, test::any_clique(domain, 100'000));
  RC_ASSERT(marginalize(test::brute_force(table, whole), domain, part) ==
            test::brute_force(table, part));
}

TEST(ForEachCell, VisitsEveryCellInOrder) {
  const Domain domain({{"a", 2, {}}, {"b", 1, {}}, {"c", 3, {}}});
  std::vector<std::pair<std::size_t, std::size_t>> visits;
  for_each_cell(domain, {0, 1, 2}, {2},
                [&](std::size_t from, std::size_t to) { visits.emplace_back(from, to); });
  EXPECT_EQ(visits, (std::vector<std::pair<std::size_t, std::size_t>>{
                        {0, 0}, {1, 1}, {2, 2}, {3, 0}, {4, 1}, {5, 2}}));
}

}  // namespace
}  // namespace tandem
