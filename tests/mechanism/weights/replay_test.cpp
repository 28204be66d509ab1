// SPDX-License-Identifier: Apache-2.0
// Which earlier answers a round applies again.
#include <algorithm>
#include <cmath>

#include "mechanism/run_mechanism.h"
#include "tandem/mechanism/weights/multiplicative_weights.h"

namespace tandem::test {
namespace {

// Four rows of two columns, equally likely; 100 of them in all.
struct Round {
  Workload workload;
  MultiplicativeWeights A;

  Round()
      : workload(Workload::all_k_way(domain(), 1)),
        A(domain(), workload, {{domain().all(), whole_domain(domain())}}, 100.0, Threads{1}) {}
  static Domain domain() { return Domain({{"a", 2, {}}, {"b", 2, {}}}); }

  // The first value of a column, measured without noise.
  std::size_t measure(std::size_t column, double answer) {
    const CellChoice cell{column, 0};
    Measurement a;
    a.query = A.query(cell);
    a.values = {answer};
    return A.remember(cell, a);
  }
};

// Half of the rows have the first value of either column. An earlier answer of 90 is off by 40, the
// newest by 4.
struct After {
  double earlier = 0.0;
  double newest = 0.0;
};
After after(Replay replay) {
  Round round;
  const std::size_t earlier = round.measure(0, 90.0);
  const std::size_t newest = round.measure(1, 54.0);
  Rng rng(1);
  update_and_replay(round.A, newest, 0.5, replay, rng);
  return {round.A.count(earlier), round.A.count(newest)};
}

TEST(Replay, AppliesThoseThatAreAsWrongAsTheNewestIsAndTheNewestTwice) {
  EXPECT_NEAR(after(Replay::None).earlier, 50.0, 1e-9);
  EXPECT_GT(after(Replay::Fresh).earlier, 54.0);
  EXPECT_GT(after(Replay::Fresh).newest, after(Replay::None).newest + 0.1);
}

// Twice an exponent of 0.5 * 0.4, and nothing for the newest, whose error is a tenth of the
// largest.
TEST(Replay, OfTheLargestAppliesItTwiceAndLeavesOutThoseBelowHalfOfIt) {
  const After largest = after(Replay::Largest);
  EXPECT_NEAR(largest.earlier, 100.0 * std::exp(0.4) / (1.0 + std::exp(0.4)), 1e-9);
  EXPECT_NEAR(largest.newest, 50.0, 1e-9);
}

TEST(Repeats, NeverLeavesWhatWasMeasuredOutOfWhatCanBeChosen) {
  Round round;
  round.A.treat_repeats(Repeats::Never);
  round.measure(0, 90.0);
  const auto among = round.A.errors()[0].among;
  ASSERT_EQ(among.size(), 1U);
  EXPECT_EQ(among[0], 1U);
  EXPECT_TRUE(round.A.errors()[1].among.empty());  // all of them
}

// 15 different cells in 15 rounds, where the mechanism would come back to the largest otherwise.
TEST(Repeats, NeverMeasuresEachCellOnce) {
  const Problem problem = skewed_problem(skewed_rows(200, 0.2, 2));
  for (const char* name : {"mwem", "mw-pub"}) {
    const auto outcome =
        run_mechanism(name, {{"rounds", "15"}, {"repeats", "never"}, {"replay", "largest"}},
                      skewed_rows(500, 0.0, 1), problem, {.filter = Filter::zcdp(Rho(0.1))});
    std::vector<LinearQuery> seen;
    for (const auto& a : outcome.release.measurements) {
      EXPECT_EQ(std::ranges::find(seen, a.query), seen.end()) << name;
      seen.push_back(a.query);
    }
    EXPECT_EQ(seen.size(), 15U);
  }
}

}  // namespace
}  // namespace tandem::test
