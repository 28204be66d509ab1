// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/fillers.h"

#include <gtest/gtest.h>

#include "tandem/base/rng.h"

namespace tandem {
namespace {

Domain domain() { return Domain({{"a", 4, {}}, {"b", 4, {}}, {"c", 4, {}}, {"d", 4, {}}}); }

// a = b = c, so that each pair of them says all.
Factor equal(const Clique& clique) {
  Factor out{clique, std::vector<double>(domain().cells(clique), 0.0)};
  const std::size_t step = clique.size() == 2 ? 5 : 21;
  for (std::size_t v = 0; v < 4; ++v) out.values[v * step] = 250.0;
  return out;
}

Fillers fillers(double limit_mb) {
  std::vector<PublicClique> structure;
  structure.push_back({{0, 1}, 1.3, 0.1, equal({0, 1})});
  structure.push_back({{1, 2}, 1.2, 0.1, equal({1, 2})});
  structure.push_back({{0, 1, 2}, 0.4, 0.2, equal({0, 1, 2})});
  const std::unordered_map<Clique, double> weights{{{0, 1}, 2.0}, {{1, 2}, 2.0}, {{0, 1, 2}, 3.0}};
  std::vector<Fillers::Offer> offers;
  offers.push_back({std::move(structure), 1000.0});
  return {domain(), std::move(offers), weights, limit_mb};
}

std::vector<double> rows(double nu) { return {nu}; }

TEST(Fillers, AllHaveRoomInALargeModel) {
  const auto choice = fillers(1.0).choose({}, rows(1000.0));
  EXPECT_EQ(choice.kept.size(), 3U);
  EXPECT_EQ(choice.lost, 0.0);
}

TEST(Fillers, VanishAsTrustDoes) {
  const Fillers all = fillers(1.0);
  EXPECT_EQ(all.choose({}, rows(100.0)).kept.size(), 2U);  // the triple's noise outgrows its gain
  const auto none = all.choose({}, rows(1.0));
  EXPECT_TRUE(none.kept.empty());
  EXPECT_EQ(none.lost, 0.0);  // not wanted, and not missed
}

TEST(Fillers, WhatIsMeasuredComesFirst) {
  // Two pairs of 16 cells and a column of 4 fit; a measured pair takes the place of one.
  const Fillers tight = fillers(36.0 * 8e-6);
  EXPECT_EQ(tight.choose({}, rows(1000.0)).kept.size(), 2U);
  const std::vector<Clique> measured{{2, 3}};
  const auto choice = tight.choose(measured, rows(1000.0));
  EXPECT_EQ(choice.kept, (std::vector<Clique>{{0, 1}}));
  EXPECT_GT(choice.lost, 0.0);
}

TEST(Fillers, AreMissedLessWhereTheirPartsAreInTheModel) {
  // The triple has no room in either; beside both pairs it would add nothing.
  const Fillers tight = fillers(48.0 * 8e-6);
  const auto beside_pairs = tight.choose({}, rows(1000.0));
  EXPECT_EQ(beside_pairs.kept.size(), 2U);
  EXPECT_NEAR(beside_pairs.lost, 0.0, 1e-9);
  const std::vector<Clique> others{{0, 3}, {1, 3}, {2, 3}};
  EXPECT_GT(fillers(80.0 * 8e-6).choose(others, rows(1000.0)).lost, 1.0);
}

TEST(Fillers, OfASourceVanishWithTheTrustInIt) {
  std::vector<Fillers::Offer> offers(2);
  offers[0] = {{{{0, 1}, 1.2, 0.1, equal({0, 1})}}, 1000.0};
  offers[1] = {{{{1, 2}, 1.3, 0.1, equal({1, 2})}}, 1000.0};
  const std::unordered_map<Clique, double> weights{{{0, 1}, 2.0}, {{1, 2}, 2.0}};
  const Fillers both(domain(), std::move(offers), weights, 1.0);
  EXPECT_EQ(both.choose({}, std::vector<double>{900.0, 900.0}).kept,
            (std::vector<Clique>{{1, 2}, {0, 1}}));
  EXPECT_EQ(both.choose({}, std::vector<double>{900.0, 1.0}).kept, (std::vector<Clique>{{0, 1}}));
}

}  // namespace
}  // namespace tandem
