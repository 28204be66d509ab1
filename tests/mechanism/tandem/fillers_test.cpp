// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/tandem/fillers.h"

#include <gtest/gtest.h>

#include <string>

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
  EXPECT_EQ(all.choose({}, rows(10.0)).kept.size(), 2U);  // the triple's noise outgrows its gain
  const auto none = all.choose({}, rows(0.1));
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
  EXPECT_EQ(both.choose({}, std::vector<double>{900.0, 0.1}).kept, (std::vector<Clique>{{0, 1}}));
}

// Columns like ADULT's and marginals that were measured on them. The tree of all but the last three
// fillers takes more than 8 MB, and that of all of them less.
TEST(Fillers, ThoseThatStillFitStay) {
  std::vector<Attribute> columns;
  constexpr std::uint32_t kSizes[] = {16, 32, 9, 32, 16, 7, 15, 6, 5, 2, 32, 32, 32, 42, 2};
  for (const auto size : kSizes) {
    columns.push_back({"c" + std::to_string(columns.size()), size, {}});
  }
  const Domain wide(columns);
  const std::vector<Clique> measured{
      {5, 7, 9},   {1, 5, 14}, {2, 6, 9},  {4, 6, 14}, {9, 12, 14}, {10, 11, 14}, {0, 7, 14},
      {1, 7, 14},  {6, 12},    {5, 6, 14}, {2, 7, 14}, {8, 9, 13},  {7, 8, 9},    {1, 2},
      {7, 12, 14}, {0, 1},     {6, 8, 9},  {3, 8, 14}, {2, 12},     {2, 8, 14},   {2, 4, 14}};
  const std::vector<Clique> kept{{0, 4}, {1, 5, 7}, {4, 5, 14}, {7, 12, 14}};
  std::vector<Fillers::Offer> offers(1);
  offers.front().public_rows = 1000.0;
  std::unordered_map<Clique, double> weights;
  for (const auto& clique : kept) {
    offers.front().structure.push_back(
        {clique, 1.0, 0.1, {clique, std::vector<double>(wide.cells(clique), 1.0)}});
    weights[clique] = 1.0;
  }
  const Fillers fillers(wide, std::move(offers), weights, 8.0);
  EXPECT_NE(fillers.choose(measured, rows(1000.0)).kept, kept);
  EXPECT_EQ(fillers.choose(measured, rows(1000.0), kept).kept, kept);
  EXPECT_TRUE(fillers.choose(measured, rows(0.01), kept).kept.empty());  // not wanted any more
}

// Pairs and triples of nine columns, drawn with their counts.
struct RandomCase {
  Domain domain;
  std::vector<Clique> measured;
  std::vector<Clique> candidates;
  std::vector<PublicClique> structure;
  std::unordered_map<Clique, double> weights;
};

RandomCase random_case(Rng& rng) {
  constexpr AttributeId kColumns = 9;
  std::vector<Attribute> columns;
  for (AttributeId id = 0; id < kColumns; ++id) {
    const auto size = static_cast<std::uint32_t>(2 + rng.below(6));
    columns.push_back({"c" + std::to_string(id), size, {}});
  }
  const auto clique = [&] {
    std::vector<AttributeId> ids;
    const std::size_t size = 2 + rng.below(2);
    for (std::size_t i = 0; i < size; ++i) {
      ids.push_back(static_cast<AttributeId>(rng.below(kColumns)));
    }
    return Clique(std::move(ids));
  };
  RandomCase out{Domain(columns), {}, {}, {}, {}};
  for (int i = 0; i < 3; ++i) out.measured.push_back(clique());
  for (int i = 0; i < 20; ++i) out.candidates.push_back(clique());
  double gain = 2.0;
  while (out.structure.size() < 15) {
    const Clique found = clique();
    if (found.size() < 2 || out.weights.contains(found)) continue;
    Factor counts{found, std::vector<double>(out.domain.cells(found))};
    for (double& value : counts.values) value = static_cast<double>(rng.below(100));
    out.weights[found] = 1.0 + static_cast<double>(rng.below(5));
    out.structure.push_back({found, gain *= 0.95, 0.01, std::move(counts)});
  }
  return out;
}

// Slow and obvious: all fillers are placed anew beside each candidate.
TEST(Fillers, WhatACandidatePushesOutIsWhatPlacingAllAnewLeavesOut) {
  Rng rng(5);
  int all = 0;
  int with_losses = 0;
  int others = 0;  // where a turn was not weighed by itself
  for (int round = 0; round < 40; ++round) {
    const auto drawn = random_case(rng);
    const double limit = 8.0 * static_cast<double>(300 + rng.below(3000)) * 1e-6;
    std::vector<Fillers::Offer> offers;
    offers.push_back({drawn.structure, 1000.0});
    const Fillers fillers(drawn.domain, std::move(offers), drawn.weights, limit);
    const auto lost = fillers.lost_beside(drawn.measured, drawn.candidates, rows(1000.0), {});
    const auto in_strides =
        fillers.lost_beside(drawn.measured, drawn.candidates, rows(1000.0), {}, 75.0);
    for (std::size_t i = 0; i < drawn.candidates.size(); ++i) {
      auto with = drawn.measured;
      with.push_back(drawn.candidates[i]);
      const double expected = fillers.choose(with, rows(1000.0)).lost;
      ++all;
      EXPECT_EQ(lost[i], expected);
      if (in_strides[i] != expected) ++others;
      if (expected > 0.0) ++with_losses;
    }
  }
  EXPECT_GT(with_losses, all / 2);
  EXPECT_LT(others, all / 20);
}

}  // namespace
}  // namespace tandem
