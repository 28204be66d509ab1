// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/rounds/compression.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tandem
