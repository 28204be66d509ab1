// SPDX-License-Identifier: Apache-2.0
#include "tandem/query/block_counter.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/errors.h"
#include "support/random_tables.h"
#include "tandem/base/error.h"
#include "tandem/base/rng.h"

namespace tandem {
namespace {

TEST(MarginalCounter, CountsBatchesAsOneTable) {
  const Domain domain({{"a", 3, {}}, {"b", 300, {}}, {"c", 5, {}}});
  const std::vector<Clique> cliques = {{0, 1}, {}, {2}, {0, 1, 2}};
  Rng rng(1);
  MarginalCounter counter(domain, cliques, {.count = 2});
  GrowingTable all(domain);
  // Small ones are put together, and a large one is counted by itself.
  for (const std::size_t rows : {0, 1, 50, 60'000, 60'000, 200'000, 7}) {
    Table batch(domain, rows);
    for (AttributeId id = 0; id < 3; ++id) {
      for (std::size_t r = 0; r < rows; ++r) {
        batch.column(id).set(r, static_cast<Code>(rng.below(domain[id].size)));
      }
    }
    counter.add(batch);
    all.append(batch);
  }
  const Table whole = all.take();
  EXPECT_EQ(counter.cells(), 900U + 1 + 5 + 4500);
  std::size_t at = 0;
  const auto counts = counter.counts();
  for (const auto& clique : cliques) {
    for (const double expected : test::brute_force(whole, clique).values) {
      ASSERT_EQ(static_cast<double>(counts[at++]), expected);
    }
  }
  EXPECT_EQ(std::vector<std::int64_t>(counts.begin(), counts.end()),
            std::vector<std::int64_t>(counter.counts().begin(), counter.counts().end()));
}

TEST(MarginalCounter, RefusesMoreCellsThanCanBeHeld) {
  const Domain domain({{"a", 1U << 20, {}}, {"b", 1U << 20, {}}});
  EXPECT_THROW(MarginalCounter(domain, {{0, 1}}), UsageError);
}

}  // namespace
}  // namespace tandem
