// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/clique.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_set>
#include <vector>

namespace tandem {
namespace {

using Ids = std::vector<AttributeId>;
using Set = std::set<AttributeId>;

Ids small_ids() {
  return *rc::gen::container<Ids>(
      rc::gen::map(rc::gen::inRange(0, 12), [](int id) { return static_cast<AttributeId>(id); }));
}

Set set_of(const Clique& clique) { return {clique.begin(), clique.end()}; }

TEST(Clique, IsSortedAndHoldsEachIdOnce) {
  const Clique clique = {5, 1, 3, 1, 5};
  EXPECT_EQ(Ids(clique.begin(), clique.end()), (Ids{1, 3, 5}));
  EXPECT_EQ(clique, Clique(Ids{3, 5, 1}));
  EXPECT_EQ(clique.size(), 3U);
  EXPECT_EQ(clique[1], 3U);
}

TEST(Clique, OfNothingIsTheTotal) {
  EXPECT_TRUE(Clique().empty());
  EXPECT_EQ(Clique(), Clique(Ids{}));
  EXPECT_TRUE(Clique({1, 2}).contains(Clique()));
  EXPECT_FALSE(Clique().contains(AttributeId{0}));
}

RC_GTEST_PROP(Clique, IsASet, ()) {
  const Ids ids = small_ids();
  const Clique clique(ids);
  const Set set(ids.begin(), ids.end());
  RC_ASSERT(std::ranges::equal(clique, set));
  for (AttributeId id = 0; id < 13; ++id) RC_ASSERT(clique.contains(id) == set.contains(id));
}

RC_GTEST_PROP(Clique, AlgebraIsThatOfSets, ()) {
  const Clique a(small_ids());
  const Clique b(small_ids());
  const Set x = set_of(a);
  const Set y = set_of(b);
  Set both;
  Set either;
  Set only;
  std::ranges::set_intersection(x, y, std::inserter(both, both.end()));
  std::ranges::set_union(x, y, std::inserter(either, either.end()));
  std::ranges::set_difference(x, y, std::inserter(only, only.end()));
  RC_ASSERT(set_of(intersect(a, b)) == both);
  RC_ASSERT(set_of(join(a, b)) == either);
  RC_ASSERT(set_of(without(a, b)) == only);
  RC_ASSERT(a.contains(b) == std::ranges::includes(x, y));
  RC_ASSERT((a == b) == (x == y));
  RC_ASSERT((a < b) == (x < y));
  if (a == b) RC_ASSERT(std::hash<Clique>{}(a) == std::hash<Clique>{}(b));
}

TEST(Clique, HashesTellCliquesApart) {
  std::unordered_set<std::size_t> hashes;
  std::size_t cliques = 0;
  for (AttributeId a = 0; a < 60; ++a) {
    for (AttributeId b = a; b < 60; ++b) {
      for (AttributeId c = b; c < 60; ++c) {
        if (b == c && a != b) continue;  // the same set as {a, a, b}
        hashes.insert(std::hash<Clique>{}(Clique{a, b, c}));
        ++cliques;
      }
    }
  }
  EXPECT_EQ(hashes.size(), cliques);
}

TEST(Clique, SubsetsMaximalOnesAndCovers) {
  EXPECT_EQ(subsets({1, 3}), (std::vector<Clique>{{1}, {3}, {1, 3}}));
  EXPECT_TRUE(subsets({}).empty());
  EXPECT_EQ(maximal({{2}, {1, 2}, {3}, {1, 2}, {1}}), (std::vector<Clique>{{1, 2}, {3}}));
  EXPECT_TRUE(covered_by({1}, maximal({{1, 2}, {3}})));
  EXPECT_FALSE(covered_by({1, 3}, maximal({{1, 2}, {3}})));
}

}  // namespace
}  // namespace tandem
