// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/public/public_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tandem/base/rng.h"
#include "tandem/model/public/public_structure.h"
#include "tandem/query/counting.h"

namespace tandem {
namespace {

Domain domain() { return Domain({{"a", 3, {}}, {"b", 3, {}}, {"c", 2, {}}, {"d", 4, {}}}); }

// b goes with a; c and d know nothing of anything.
std::vector<PublicTable> pair_and_noise(std::size_t rows) {
  Table table(domain(), rows);
  Rng rng(5);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto a = static_cast<Code>(rng.below(3));
    table.column(0).set(r, a);
    table.column(1).set(r, rng.below(5) == 0 ? static_cast<Code>(rng.below(3)) : a);
    table.column(2).set(r, static_cast<Code>(rng.below(2)));
    table.column(3).set(r, static_cast<Code>(rng.below(3)));  // never 3
  }
  return {{"public.csv", table}};
}

TEST(PublicModel, FollowsTheMarginalsItIsGivenAndNoOthers) {
  const auto tables = pair_and_noise(4000);
  PublicModel data(tables, 0.2, {});
  const std::vector<Clique> cliques{{0, 1}, {2}, {3}};
  data.fit(cliques, 1e-6);
  const auto wanted = data.counts().at({0, 1});
  const auto found = data.model().project({0, 1});
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(found.values[i], wanted.values[i], 2.0);
  // a and c were not fitted together: independent.
  const auto ac = data.model().project({0, 2});
  const auto a = data.model().project({0});
  const auto c = data.model().project({2});
  EXPECT_NEAR(ac.values[0], a.values[0] * c.values[0] / 4000.0, 1e-6);
}

TEST(PublicModel, CopiesOfRowsCountOnce) {
  const auto once = pair_and_noise(500);
  EXPECT_EQ(repeats_in(once.front().table), 1U);
  std::vector<std::size_t> thrice;
  for (std::size_t r = 0; r < 1500; ++r) thrice.push_back(r % 500);
  const std::vector<PublicTable> copies{{"copies.csv", once.front().table.select(thrice)}};
  EXPECT_EQ(repeats_in(copies.front().table), 3U);
  PublicCounts of_once(once, {});
  PublicCounts of_copies(copies, {});
  EXPECT_EQ(of_copies.rows(), 500.0);
  EXPECT_EQ(of_copies.at({0, 1}).values, of_once.at({0, 1}).values);

  const std::vector<std::size_t> nearly(thrice.begin(), thrice.end() - 1);
  EXPECT_EQ(repeats_in(once.front().table.select(nearly)), 1U);
  EXPECT_EQ(repeats_in(Table(domain(), 0)), 1U);
}

TEST(PublicModel, WhatFewRowsNeverShowIsUnlikelyNotImpossible) {
  const auto few = pair_and_noise(20);
  const auto many = pair_and_noise(20000);
  const auto share_of_unseen = [](const std::vector<PublicTable>& tables) {
    PublicModel data(tables, 0.2, {});
    data.fit(std::vector<Clique>{{3}}, 1e-9);
    return data.model().project({3}).values[3] / data.rows();
  };
  EXPECT_GT(share_of_unseen(few), 1e-3);
  EXPECT_GT(share_of_unseen(many), 1e-6);
  EXPECT_LT(share_of_unseen(many), 1e-3);
}

TEST(PublicModel, SolvesItsEquation) {
  // With one clique of one attribute: pub - q = c / n^ lambda, lambda free of a constant.
  const auto tables = pair_and_noise(50);
  PublicModel data(tables, 0.6, {});
  data.fit(std::vector<Clique>{{3}}, 1e-12);
  const auto counts = data.counts().at({3});
  const auto q = data.model().project({3});
  std::vector<double> lambda;
  for (const double value : q.values) lambda.push_back(std::log(value));
  const double mean = (lambda[0] + lambda[1] + lambda[2] + lambda[3]) / 4.0;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(counts.values[i] - q.values[i], 0.6 * (lambda[i] - mean), 1e-3);
  }
}

TEST(PublicCounts, TablesCountTogether) {
  auto tables = pair_and_noise(30);
  tables.push_back({"more.csv", pair_and_noise(12).front().table});
  PublicCounts counts(tables, {});
  EXPECT_EQ(counts.rows(), 42.0);
  EXPECT_EQ(total(counts.at({0, 2})), 42.0);
  EXPECT_EQ(counts.at({1}).values[0],
            count_marginals(tables[0].table, std::vector<Clique>{{1}})[0].values[0] +
                count_marginals(tables[1].table, std::vector<Clique>{{1}})[0].values[0]);
}

TEST(PublicStructure, FindsWhatGoesTogetherAndNothingElse) {
  const auto tables = pair_and_noise(3000);
  PublicModel data(tables, 0.2, {});
  const std::vector<Clique> candidates{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  const auto found = public_structure(data, candidates, 1.0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].clique, (Clique{0, 1}));
  EXPECT_GT(found[0].gain, 0.5);
  EXPECT_GT(found[0].noise, 0.0);
  EXPECT_EQ(found[0].counts, data.counts().at({0, 1}));
}

TEST(PublicStructure, StaysWithinItsLimit) {
  const auto tables = pair_and_noise(3000);
  PublicModel data(tables, 0.2, {});
  const std::vector<Clique> candidates{{0, 1}};
  // 3 x 3, 2 and 4 cells of 8 bytes; without the pair 3 + 3 + 2 + 4.
  EXPECT_EQ(public_structure(data, candidates, 119e-6).size(), 0U);
  EXPECT_EQ(public_structure(data, candidates, 121e-6).size(), 1U);
}

TEST(PublicStructure, EndsWhereThereAreEnoughWithTheSameCliquesAsWithout) {
  std::vector<Attribute> attributes;
  for (int c = 0; c < 8; ++c) attributes.push_back({"c" + std::to_string(c), 3, {}});
  Table table(Domain(attributes), 4000);
  Rng rng(3);
  for (std::size_t r = 0; r < table.rows(); ++r) {
    Code before = 0;
    for (AttributeId id = 0; id < 8; ++id) {
      before = rng.below(10) < 2 + id ? static_cast<Code>(rng.below(3)) : before;
      table.column(id).set(r, before);
    }
  }
  const std::vector<PublicTable> tables = {{"public.csv", table}};
  std::vector<Clique> pairs;
  for (AttributeId a = 0; a < 8; ++a) {
    for (AttributeId b = a + 1; b < 8; ++b) pairs.push_back({a, b});
  }
  PublicModel data(tables, 0.2, {});
  const auto all = public_structure(data, pairs, 8.0);
  ASSERT_GT(all.size(), 4U);
  for (std::size_t enough = 1; enough <= 4; ++enough) {
    PublicModel again(tables, 0.2, {});
    std::size_t asked = 0;
    const auto some =
        public_structure(again, pairs, 8.0, [&](const PublicClique&) { return ++asked == enough; });
    ASSERT_EQ(some.size(), enough);
    for (std::size_t i = 0; i < enough; ++i) {
      EXPECT_EQ(some[i].clique, all[i].clique);
      EXPECT_EQ(some[i].gain, all[i].gain);
    }
  }
}

TEST(PublicStructure, NoRowsSayNothing) {
  const auto tables = pair_and_noise(0);
  PublicModel data(tables, 0.2, {});
  EXPECT_TRUE(public_structure(data, std::vector<Clique>{{0, 1}}, 1.0).empty());
}

}  // namespace
}  // namespace tandem
