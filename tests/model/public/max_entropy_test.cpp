// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/public/max_entropy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "support/random_tables.h"

namespace tandem {
namespace {

RC_GTEST_PROP(FromParts, HasTheMarginalsOfItsParts, ()) {
  const Domain domain = test::any_domain({2, 3, 4}, 3);
  const Table rows = test::any_table(domain, 50);
  const auto table = test::brute_force(rows, domain.all());
  std::vector<Clique> parts;
  for (int i = 0; i < 2; ++i) parts.push_back(test::any_clique(domain, 12));
  const auto found = from_parts(table, domain, parts);
  for (const auto& part : parts) {
    const auto wanted = marginalize(table, domain, part);
    const auto mine = marginalize(found, domain, part);
    for (std::size_t i = 0; i < wanted.values.size(); ++i) {
      RC_ASSERT(std::abs(wanted.values[i] - mine.values[i]) <= 2.0);
    }
  }
}

TEST(FromParts, WithoutPartsColumnsAreIndependent) {
  const Domain domain({{"a", 2, {}}, {"b", 2, {}}});
  const Factor table{{0, 1}, {30.0, 10.0, 10.0, 50.0}};
  const auto found = from_parts(table, domain, {});
  EXPECT_NEAR(found.values[0], 16.0, 1e-9);
  EXPECT_NEAR(found.values[3], 36.0, 1e-9);
  const std::vector<Clique> all{{0, 1}};
  EXPECT_EQ(from_parts(table, domain, all).values, table.values);
}

}  // namespace
}  // namespace tandem
