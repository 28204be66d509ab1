// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/rounds/compression.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tandem {
namespace {

TEST(Compression, AModelThatIsSpreadKeepsItsThreads) {
  const Domain domain({{"a", 4, {}}, {"b", 2, {}}});
  Measurement y;
  y.query = {Clique{0}};
  y.values = {90.0, 8.0, 1.0, 1.0};
  y.sigma = Sigma(1.0);
  const Compression groups(domain, std::span(&y, 1), 3.0);
  ASSERT_EQ(groups.domain()[0].size, 3U);
  for (const int threads : {1, 3}) {
    const GraphicalModel model(groups.domain(), {}, 100.0, {}, Threads{threads});
    const GraphicalModel wide = groups.spread(model, {});
    EXPECT_EQ(wide.domain(), domain);
    EXPECT_EQ(wide.threads().count, threads);
  }
}

TEST(Compression, AddedValuesSayTheNoiseOfAllWhereAsked) {
  const Domain domain({{"a", 4, {}}});
  Measurement y;
  y.query = {Clique{0}};
  y.values = {90.0, 8.0, 1.0, 2.0};
  y.sigma = Sigma(1.0);
  const Compression groups(domain, std::span(&y, 1), 3.0);
  const auto one = groups.compress(y, false);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].values, (std::vector<double>{90.0, 8.0, 3.0}));
  const auto parts = groups.compress(y, true);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].values, (std::vector<double>{90.0, 8.0}));
  EXPECT_EQ(parts[0].query.map.apply(std::vector<double>{5.0, 6.0, 7.0}),
            (std::vector<double>{5.0, 6.0}));
  EXPECT_EQ(parts[1].values, std::vector<double>{3.0});
  EXPECT_EQ(parts[1].query.map.apply(std::vector<double>{5.0, 6.0, 7.0}), std::vector<double>{7.0});
  EXPECT_DOUBLE_EQ(parts[1].sigma.value(), std::sqrt(2.0));
}

}  // namespace
}  // namespace tandem
