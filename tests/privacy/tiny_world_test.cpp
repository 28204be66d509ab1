// SPDX-License-Identifier: Apache-2.0
// Tiny worlds by enumeration: |X| <= 4, n <= 3. What is proved, and how, is in proofs/.
#include <gtest/gtest.h>
#include <cmath>

#include <cmath>

#include "privacy/proofs/laws.h"
#include "privacy/proofs/proofs.h"
#include "privacy/proofs/worlds.h"

namespace tandem::proofs {
namespace {

constexpr auto kNone = std::nullopt;

TEST(TinyWorld, HasAllTablesAndNeighbours) {
  EXPECT_EQ(tables_up_to(4, 3).size(), 35U);
  EXPECT_TRUE(are_neighbours({1, 0}, {0, 1}, {Neighbors::ReplaceOne, 1}));
  EXPECT_FALSE(are_neighbours({1, 0}, {1, 0}, {Neighbors::ReplaceOne, 1}));
  EXPECT_FALSE(are_neighbours({1, 0}, {2, 0}, {Neighbors::ReplaceOne, 1}));
  EXPECT_TRUE(are_neighbours({1, 0}, {2, 0}, {Neighbors::AddRemove, 1}));
  EXPECT_FALSE(are_neighbours({1, 0}, {0, 1}, {Neighbors::AddRemove, 1}));
  EXPECT_FALSE(are_neighbours({1, 0}, {3, 0}, {Neighbors::AddRemove, 1}));
  EXPECT_TRUE(are_neighbours({1, 0}, {2, 1}, {Neighbors::AddRemove, 2}));
  EXPECT_TRUE(are_neighbours({2, 0}, {0, 2}, {Neighbors::ReplaceOne, 2}));
  EXPECT_TRUE(are_neighbours({2, 0}, {0, 1}, {Neighbors::ReplaceOne, 2}));
}

// The yardsticks themselves, against values known in closed form.
TEST(TinyWorld, LawsAreRight) {
  const std::vector<std::int64_t> scores = {0, 2, 1};
  const auto exponential = probabilities(exponential_law(scores, {1, 2}));
  const double total = 1.0 + std::exp(1.0) + std::exp(0.5);
  EXPECT_NEAR(exponential[0], 1.0 / total, 1e-15);
  EXPECT_NEAR(exponential[1], std::exp(1.0) / total, 1e-15);
  // Two candidates: the worse is drawn when its coin falls heads and it comes first.
  const std::vector<std::int64_t> two = {3, 0};
  const auto flips = probabilities(permute_and_flip_law(two, {1, 3}));
  EXPECT_NEAR(flips[1], std::exp(-1.0) / 2.0, 1e-15);
  // Wide discrete noise is continuous noise: alpha shift^2 / (2 sigma^2).
  EXPECT_NEAR(static_cast<double>(renyi(NoiseKind::Gaussian, 10.0, 3, 4.0L)), 4.0 * 9.0 / 200.0,
              1e-12);
  EXPECT_LT(static_cast<double>(renyi(NoiseKind::Gaussian, 0.3, 1, 1.5L)), 1.5 / (2.0 * 0.09));
  EXPECT_NEAR(static_cast<double>(log_ratio(NoiseKind::Laplace, 2.0, -3)), 1.5, 1e-15);
  EXPECT_LE(static_cast<double>(renyi(NoiseKind::Laplace, 2.0, 3, 64.0L)), 1.5);
  EXPECT_NEAR(static_cast<double>(renyi(NoiseKind::Laplace, 2.0, 3, 1e4L)), 1.5, 1e-2);
}

TEST(TinyWorld, MeasurementsKeepTheirPrice) { EXPECT_EQ(measurements_keep_their_price(), kNone); }
TEST(TinyWorld, MeasurementsFollowTheirLaw) { EXPECT_EQ(measurements_follow_their_law(), kNone); }
TEST(TinyWorld, SelectionsKeepTheirPrice) { EXPECT_EQ(selections_keep_their_price(), kNone); }
TEST(TinyWorld, SelectionsFollowTheirLaw) { EXPECT_EQ(selections_follow_their_law(), kNone); }
TEST(TinyWorld, RepeatedDrawsKeepTheirPrice) {
  EXPECT_EQ(repeated_draws_keep_their_price(), kNone);
}
TEST(TinyWorld, RepeatedDrawsFollowTheirLaw) {
  EXPECT_EQ(repeated_draws_follow_their_law(), kNone);
}
TEST(TinyWorld, StacksKeepTheirPrice) { EXPECT_EQ(stacks_keep_their_price(), kNone); }
TEST(TinyWorld, NoisyScoresKeepTheirPrice) { EXPECT_EQ(noisy_scores_keep_their_price(), kNone); }
TEST(TinyWorld, NoisyScoresFollowTheirLaw) { EXPECT_EQ(noisy_scores_follow_their_law(), kNone); }
TEST(TinyWorld, ConjunctionDrawsKeepTheirPrice) {
  EXPECT_EQ(conjunction_draws_keep_their_price(), kNone);
}
TEST(TinyWorld, ConjunctionCountsKeepTheirPrice) {
  EXPECT_EQ(conjunction_counts_keep_their_price(), kNone);
}
TEST(TinyWorld, ConjunctionsFollowTheirLaw) { EXPECT_EQ(conjunctions_follow_their_law(), kNone); }
TEST(TinyWorld, GroupsKeepTheirPrice) { EXPECT_EQ(groups_keep_their_price(), kNone); }
TEST(TinyWorld, GroupsFollowTheirLaw) { EXPECT_EQ(groups_follow_their_law(), kNone); }
TEST(TinyWorld, AWholeRunKeepsItsTotal) { EXPECT_EQ(whole_run_keeps_its_total(), kNone); }

}  // namespace
}  // namespace tandem::proofs
