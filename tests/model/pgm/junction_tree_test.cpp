// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/junction_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "support/random_tables.h"

namespace tandem {
namespace {

std::vector<Clique> any_cliques(const Domain& domain, std::size_t most) {
  std::vector<Clique> out;
  const auto count = *rc::gen::inRange<std::size_t>(0, most + 1);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<AttributeId> ids;
    const auto size = *rc::gen::inRange<std::size_t>(0, 4);
    for (std::size_t k = 0; k < size; ++k) {
      ids.push_back(static_cast<AttributeId>(*rc::gen::inRange<std::size_t>(0, domain.size())));
    }
    out.emplace_back(std::move(ids));
  }
  return out;
}

RC_GTEST_PROP(JunctionTree, HoldsEveryCliqueAndHasTheRunningIntersection, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 40}, 80);
  const auto cliques = any_cliques(domain, 60);
  const auto tree = make_junction_tree(domain, cliques);
  for (const auto& clique : cliques) RC_ASSERT(tree.find(clique) < tree.cliques.size());
  for (AttributeId id = 0; id < domain.size(); ++id) {
    // The cliques with an attribute are connected: all but one have it in their separator.
    std::size_t with = 0;
    std::size_t tops = 0;
    for (std::size_t c = 0; c < tree.cliques.size(); ++c) {
      if (!tree.cliques[c].contains(id)) continue;
      ++with;
      if (!tree.separators[c].contains(id)) ++tops;
    }
    RC_ASSERT(with >= 1U);
    RC_ASSERT(tops == 1U);
  }
  UInt128 cells = 0;
  RC_ASSERT(tree.parent[0] == 0U);
  RC_ASSERT(tree.separators[0].empty());
  for (std::size_t c = 0; c < tree.cliques.size(); ++c) {
    if (c > 0) {
      RC_ASSERT(tree.parent[c] < c);
      RC_ASSERT(tree.separators[c] == intersect(tree.cliques[c], tree.cliques[tree.parent[c]]));
    }
    for (std::size_t other = 0; other < tree.cliques.size(); ++other) {
      RC_ASSERT(other == c || !tree.cliques[other].contains(tree.cliques[c]));
    }
    UInt128 product = 1;
    for (const auto id : tree.cliques[c]) product *= domain[id].size;
    cells += product;
  }
  if (domain.size() < 20) RC_ASSERT(tree.cells == cells);
}

RC_GTEST_PROP(JunctionTree, SeveralCandidatesWeighAsInATreeFromScratch, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 7, 40}, 70);
  auto cliques = any_cliques(domain, 40);
  const ModelSizer sizer(domain, cliques);
  const auto more = any_cliques(domain, 10);
  cliques.insert(cliques.end(), more.begin(), more.end());
  const UInt128 bytes = model_bytes(make_junction_tree(domain, cliques).cells);
  const auto limit = static_cast<double>(bytes);
  RC_ASSERT(sizer.bytes_with_all(more, limit) == bytes);
  RC_ASSERT(sizer.bytes_with_all(more, limit * 0.999999 - 1.0) == ModelSizer::kAboveLimit);
}

RC_GTEST_PROP(JunctionTree, ACandidateWeighsAsInATreeFromScratch, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 7, 40}, 70);
  auto cliques = any_cliques(domain, 40);
  const ModelSizer sizer(domain, cliques);
  RC_ASSERT(sizer.bytes() == model_bytes(make_junction_tree(domain, cliques).cells));
  for (const auto& candidate : any_cliques(domain, 20)) {
    cliques.push_back(candidate);
    const UInt128 bytes = model_bytes(make_junction_tree(domain, cliques).cells);
    RC_ASSERT(sizer.bytes_with(candidate) == bytes);
    RC_ASSERT(sizer.bytes_with(candidate) == bytes);  // remembered
    const double limit = static_cast<double>(bytes);
    RC_ASSERT(sizer.within(std::span(&candidate, 1), limit).front() == 1);
    RC_ASSERT(sizer.weigh(std::span(&candidate, 1), limit).front() == bytes);
    RC_ASSERT(sizer.within(std::span(&candidate, 1), limit * 0.999999 - 1.0).front() == 0);
    cliques.pop_back();
  }
}

TEST(JunctionTree, AChainStaysAChain) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 4, {}}, {"d", 5, {}}});
  const std::vector<Clique> chain{{0, 1}, {1, 2}, {2, 3}, {1}, {}};
  const auto tree = make_junction_tree(domain, chain);
  EXPECT_EQ(tree.cliques.size(), 3U);
  EXPECT_TRUE(tree.cells == 6 + 12 + 20);
  EXPECT_TRUE(model_bytes(domain, chain) == 8 * 38);
}

TEST(JunctionTree, ACycleIsFilledIn) {
  const Domain domain({{"a", 2, {}}, {"b", 50, {}}, {"c", 2, {}}, {"d", 50, {}}});
  const auto tree = make_junction_tree(domain, std::vector<Clique>{{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  const std::set<Clique> found(tree.cliques.begin(), tree.cliques.end());
  EXPECT_EQ(found, (std::set<Clique>{{0, 1, 2}, {0, 2, 3}}));  // the small chord, not the large
}

TEST(JunctionTree, SizesPastAllBoundsSaturate) {
  std::vector<Attribute> attributes;
  std::vector<AttributeId> all;
  for (AttributeId i = 0; i < 300; ++i) {
    attributes.push_back({"c" + std::to_string(i), 1000, {}});
    all.push_back(i);
  }
  const Domain domain(attributes);
  const std::vector<Clique> everything{Clique(all)};
  EXPECT_TRUE(model_bytes(domain, everything) == ~UInt128{0});
  EXPECT_TRUE(ModelSizer(domain, {}).bytes_with(Clique(all)) == ~UInt128{0});
  EXPECT_EQ(make_junction_tree(domain, everything).cliques.size(), 1U);
}

}  // namespace
}  // namespace tandem
