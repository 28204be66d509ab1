// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/rounds/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tandem/query/workload.h"

namespace tandem {
namespace {

Domain columns(std::size_t count) {
  std::vector<Attribute> attributes;
  for (std::size_t i = 0; i < count; ++i) {
    attributes.push_back({"c" + std::to_string(i), static_cast<std::uint32_t>(2 + i % 4), {}});
  }
  return Domain(std::move(attributes));
}

std::vector<char> room_for_all(std::span<const Clique> candidates) {
  return std::vector<char>(candidates.size(), 1);
}

TEST(Offered, AreAllWhileTheyAreFew) {
  const Domain domain = columns(20);
  const auto closure = Workload::all_k_way(domain, 3).downward_closure();
  Rng rng(1);
  EXPECT_EQ(offered(closure, domain, room_for_all, rng), closure);
}

TEST(Offered, OfManyAreSmallOnesAndARandomChoiceInOrder) {
  const Domain domain = columns(20);
  const auto closure = Workload::all_k_way(domain, 3).downward_closure();
  const RoundLimit limit{.candidates = 300, .cells = 8000};
  Rng rng(1);
  std::set<Clique> seen;
  for (int round = 0; round < 200; ++round) {
    const auto some = offered(closure, domain, room_for_all, rng, limit);
    EXPECT_LE(some.size(), limit.candidates);
    std::size_t cells = 0;
    for (const auto& clique : some) cells += domain.cells(clique);
    EXPECT_LE(cells, limit.cells);
    EXPECT_EQ(std::ranges::count_if(some, [](const Clique& c) { return c.size() <= 2; }), 210);
    auto at = closure.begin();
    for (const auto& clique : some) {
      at = std::find(at, closure.end(), clique);
      ASSERT_NE(at, closure.end());
    }
    seen.insert(some.begin(), some.end());
  }
  EXPECT_EQ(seen.size(), closure.size());  // none is left out for good
}

TEST(Offered, IsNeverNothing) {
  const Domain domain = columns(8);
  const auto closure = Workload::all_k_way(domain, 3).downward_closure();
  Rng rng(1);
  const RoundLimit limit{.candidates = 1, .cells = 1};
  EXPECT_EQ(offered(closure, domain, room_for_all, rng, limit).size(), 1U);
}

TEST(Offered, WhatHasNoRoomTakesNoPlaceFromWhatHas) {
  std::vector<Attribute> attributes;
  for (int i = 0; i < 12; ++i) attributes.push_back({"c" + std::to_string(i), 100, {}});
  const Domain domain(std::move(attributes));
  const auto closure = Workload::all_k_way(domain, 2).downward_closure();
  // One pair fills the whole limit, and only the last one has room.
  const auto last_pair = [&](std::span<const Clique> candidates) {
    std::vector<char> out;
    for (const auto& c : candidates) out.push_back(c.size() == 1 || c == closure.back() ? 1 : 0);
    return out;
  };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    const auto some = offered(closure, domain, last_pair, rng, {.candidates = 50, .cells = 12'000});
    EXPECT_EQ(some.size(), 13U);  // every column, and that pair
    EXPECT_EQ(some.back(), closure.back());
  }
}

TEST(Offered, ColumnsAreThereWhateverTheLimit) {
  const Domain domain = columns(20);
  const auto closure = Workload::all_k_way(domain, 2).downward_closure();
  Rng rng(1);
  const auto some = offered(closure, domain, room_for_all, rng, {.candidates = 300, .cells = 1});
  EXPECT_EQ(some.size(), 20U);
}

TEST(WeightOf, IsWhatTheWorkloadSharesWithAMarginal) {
  const Domain domain = columns(7);
  const auto workload = Workload::all_k_way(domain, 3);
  const auto weights = attribute_weights(workload, domain);
  for (const auto& r : workload.downward_closure()) {
    double shared = 0.0;
    for (const auto& [s, importance] : workload.cliques()) {
      shared += importance * static_cast<double>(intersect(r, s).size());
    }
    EXPECT_DOUBLE_EQ(weight_of(r, weights), shared);
  }
}

}  // namespace
}  // namespace tandem
