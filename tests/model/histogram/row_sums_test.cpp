// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/row_sums.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "support/random_tables.h"
#include "tandem/model/histogram/support.h"
#include "tandem/query/workload.h"

namespace tandem {
namespace {

struct World {
  Table rows;
  std::vector<Clique> marginals;
  std::vector<std::size_t> starts = {0};

  World(Table table, std::vector<Clique> cliques)
      : rows(distinct_rows(table).rows), marginals(std::move(cliques)) {
    for (const auto& clique : marginals) {
      starts.push_back(starts.back() + rows.domain().cells(clique));
    }
  }
  std::optional<RowSums> tree(std::size_t most = 1'000'000'000) const {
    return RowSums::grow(rows, marginals, starts, most);
  }
  // Every marginal from the rows.
  std::vector<double> sums(const std::vector<double>& weights) const {
    std::vector<double> all;
    for (const auto& clique : marginals) {
      const auto factor = test::brute_force(rows, clique, weights);
      all.insert(all.end(), factor.values.begin(), factor.values.end());
    }
    return all;
  }
};

World any_world() {
  const Domain domain = test::any_domain({1, 2, 3, 7, 300}, 6);
  World world(test::any_table(domain, *rc::gen::inRange<std::size_t>(1, 300)), {});
  std::vector<Clique> marginals;
  const auto count = *rc::gen::inRange(0, 20);
  for (int i = 0; i < count; ++i) marginals.push_back(test::any_clique(domain, 5000));
  return {world.rows, std::move(marginals)};
}

std::vector<double> any_weights(std::size_t rows, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> weights(rows);
  for (double& weight : weights) weight = rng.uniform();
  return weights;
}

std::vector<Clique> all_k_way(const Domain& domain, std::size_t k) {
  const Workload workload = Workload::all_k_way(domain, k);
  std::vector<Clique> marginals;
  for (const auto& [clique, weight] : workload.cliques()) marginals.push_back(clique);
  return marginals;
}

RC_GTEST_PROP(RowSums, AddsUpWhatTheRowsAddUpTo, ()) {
  const World world = any_world();
  const auto tree = world.tree();
  RC_ASSERT(tree.has_value());
  RC_ASSERT(tree->additions() <= world.rows.rows() * world.marginals.size());
  const auto weights = any_weights(world.rows.rows(), *rc::gen::arbitrary<std::uint64_t>());
  std::vector<double> sums(world.starts.back(), 0.0);
  tree->sum_up(weights, sums, Threads{*rc::gen::inRange(1, 4)});
  const auto expected = world.sums(weights);
  for (std::size_t i = 0; i < sums.size(); ++i) RC_ASSERT(std::abs(sums[i] - expected[i]) < 1e-9);
}

RC_GTEST_PROP(RowSums, FollowsAFewRows, ()) {
  const World world = any_world();
  const auto tree = world.tree();
  auto weights = any_weights(world.rows.rows(), *rc::gen::arbitrary<std::uint64_t>());
  std::vector<double> sums(world.starts.back(), 0.0);
  tree->sum_up(weights, sums, Threads{1});
  std::vector<std::uint32_t> which;
  std::vector<double> by;
  for (std::uint32_t r = 0; r < weights.size(); r += *rc::gen::inRange(1U, 9U)) {
    which.push_back(r);
    by.push_back(weights[r] - 0.5);
    weights[r] += by.back();
  }
  tree->add(which, by, sums, Threads{*rc::gen::inRange(1, 4)});
  const auto expected = world.sums(weights);
  for (std::size_t i = 0; i < sums.size(); ++i) RC_ASSERT(std::abs(sums[i] - expected[i]) < 1e-9);
}

TEST(RowSums, SharesWorkAmongMarginals) {
  const Domain domain({{"a", 9, {}}, {"b", 8, {}}, {"c", 7, {}}, {"d", 6, {}}, {"e", 5, {}}});
  const World world(whole_domain(domain).rows, all_k_way(domain, 2));
  const auto tree = world.tree();
  EXPECT_LT(2 * tree->additions(), world.rows.rows() * world.marginals.size());
  EXPECT_FALSE(world.tree(tree->additions() - 1).has_value());
}

TEST(RowSums, IsTheSameOnAnyNumberOfThreads) {
  const Domain domain({{"a", 9, {}}, {"b", 8, {}}, {"c", 7, {}}, {"d", 6, {}}, {"e", 5, {}}});
  const World world(whole_domain(domain).rows, all_k_way(domain, 3));
  const auto weights = any_weights(world.rows.rows(), 3);
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 3, 8}) {
    std::vector<double> sums(world.starts.back(), 0.0);
    world.tree()->sum_up(weights, sums, Threads{threads});
    results.push_back(std::move(sums));
  }
  for (const auto& sums : results) EXPECT_EQ(sums, results.front());
}

}  // namespace
}  // namespace tandem
