// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/support.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "support/random_tables.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

Domain small() { return Domain({{"a", 2, {}}, {"b", 3, {}}}); }

std::size_t place(const Table& table, std::size_t row) {
  return test::cell_of(table, table.domain().all(), row);
}

TEST(Support, TheWholeDomainHasEachRowOnceInOrder) {
  const auto support = whole_domain(small());
  ASSERT_EQ(support.rows.rows(), 6U);
  for (std::size_t r = 0; r < 6; ++r) EXPECT_EQ(place(support.rows, r), r);
  EXPECT_EQ(support.weights, std::vector<double>(6, 1.0));
}

TEST(Support, RandomRowsAreDifferentAndAllAreEquallyLikely) {
  std::vector<int> drawn(6, 0);
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed);
    const auto support = random_rows(small(), 2, rng);
    ASSERT_EQ(support.rows.rows(), 2U);
    std::set<std::size_t> places;
    for (std::size_t r = 0; r < 2; ++r) places.insert(place(support.rows, r));
    ASSERT_EQ(places.size(), 2U);
    for (const auto p : places) ++drawn[p];
  }
  for (const int count : drawn) EXPECT_NEAR(count, 1000, 150);  // 5 standard deviations
  Rng rng(1);
  EXPECT_EQ(random_rows(small(), 6, rng).rows, whole_domain(small()).rows);
  EXPECT_EQ(random_rows(small(), 100, rng).rows, whole_domain(small()).rows);
}

TEST(Support, RandomRowsOfADomainBeyondCounting) {
  std::vector<Attribute> attributes;
  for (int i = 0; i < 70; ++i) attributes.push_back({"c" + std::to_string(i), 4, {}});
  Rng rng(1);
  const auto support = random_rows(Domain(attributes), 100, rng);
  EXPECT_EQ(support.rows.rows(), 100U);
  EXPECT_EQ(distinct_rows(support.rows).rows.rows(), 100U);
}

PublicData two_tables() {
  const std::vector<std::vector<Code>> first = {{0, 1}, {0, 1}, {1, 2}, {0, 0}};
  const std::vector<std::vector<Code>> second = {{1, 2}, {1, 0}};
  return {
      {{"first", Table::from_rows(small(), first)}, {"second", Table::from_rows(small(), second)}}};
}

TEST(Support, PublicTablesAreMergedByTheirSizes) {
  const auto support = public_rows(two_tables());
  ASSERT_EQ(support.rows.rows(), 4U);
  EXPECT_EQ(support.weights, (std::vector<double>{2, 2, 1, 1}));  // (0,1), (1,2), (0,0), (1,0)
}

TEST(Support, PublicTablesAreMergedByTheirShares) {
  const std::vector<double> shares = {1.0, 3.0};
  const auto support = public_rows(two_tables(), shares);
  EXPECT_EQ(support.weights, (std::vector<double>{0.5, 0.25 + 1.5, 0.25, 1.5}));
}

TEST(Support, NoPublicRowIsRefused) {
  EXPECT_THROW(public_rows({{{"empty", Table(small(), 0)}}}), UsageError);
}

}  // namespace
}  // namespace tandem
