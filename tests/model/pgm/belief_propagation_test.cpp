// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/belief_propagation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/pgm/dense_model.h"
#include "tandem/model/pgm/estimate_pgm.h"

namespace tandem {
namespace {

// Every pair of six columns: one clique of 60,480 cells, and a seventh column beside it.
Domain wide_domain() {
  return Domain({{"a", 4, {}},
                 {"b", 5, {}},
                 {"c", 6, {}},
                 {"d", 7, {}},
                 {"e", 8, {}},
                 {"f", 9, {}},
                 {"g", 3, {}}});
}

std::vector<Factor> pair_potentials(const Domain& domain, double spread) {
  std::vector<Factor> out;
  std::uint64_t state = 1;
  const auto add = [&](const Clique& clique) {
    Factor factor{clique, std::vector<double>(domain.cells(clique))};
    for (double& value : factor.values) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      value = spread * (static_cast<double>(state >> 11) * 0x1.0p-52 - 1.0);
    }
    out.push_back(std::move(factor));
  };
  for (AttributeId a = 0; a < 6; ++a) {
    for (AttributeId b = a + 1; b < 6; ++b) add(Clique{a, b});
  }
  add(Clique{5, 6});
  return out;
}

BeliefPropagation loaded(const Domain& domain, std::span<const Factor> potentials, Team* team) {
  std::vector<Clique> cliques;
  for (const auto& factor : potentials) cliques.push_back(factor.clique);
  BeliefPropagation out(domain, make_junction_tree(domain, cliques), cliques, team);
  for (std::size_t f = 0; f < potentials.size(); ++f) {
    out.order().arrange(cliques[f], potentials[f].values, out.potential(f));
  }
  return out;
}

TEST(BeliefPropagation, LargeCliquesAreWorkedThroughInSlicesToTheSameMarginals) {
  const Domain domain = wide_domain();
  for (const double spread : {1.0, 30.0}) {
    const auto potentials = pair_potentials(domain, spread);
    const auto dense = test::dense_model(domain, potentials, 1.0);
    Team team(Threads{2});
    auto from_logs = loaded(domain, potentials, &team);
    const double log_z = from_logs.set_base();
    // From a uniform base the same in linear space.
    auto linear = loaded(domain, potentials, &team);
    for (std::size_t f = 0; f < potentials.size(); ++f) {
      std::ranges::fill(linear.potential(f), 0.0);
    }
    const double uniform = linear.set_base();
    for (std::size_t f = 0; f < potentials.size(); ++f) {
      linear.order().arrange(potentials[f].clique, potentials[f].values, linear.potential(f));
    }
    EXPECT_NEAR(uniform + linear.propagate(), log_z, 1e-9 * std::abs(log_z));
    for (std::size_t f = 0; f < potentials.size(); ++f) {
      const Factor wanted = marginalize(dense, domain, potentials[f].clique);
      Factor got = wanted;
      from_logs.order().restore(got.clique, from_logs.marginal(f), got.values);
      EXPECT_TRUE(test::near(got, wanted, 1e-12));
      linear.order().restore(got.clique, linear.marginal(f), got.values);
      EXPECT_TRUE(test::near(got, wanted, 1e-12));
    }
    linear.rebase();
    for (std::size_t c = 0; c < linear.tree().cliques.size(); ++c) {
      for (std::size_t i = 0; i < linear.belief(c).size(); ++i) {
        ASSERT_NEAR(linear.belief(c)[i], from_logs.belief(c)[i], 1e-12);
      }
    }
  }
}

TEST(BeliefPropagation, ABaseThatCannotMoveStaysWhereItIs) {
  const Domain domain({{"a", 2, {}}, {"b", 2, {}}, {"c", 2, {}}});
  const std::vector<Clique> pairs{{0, 1}, {1, 2}, {0, 2}};
  BeliefPropagation one(domain, make_junction_tree(domain, pairs), pairs);
  one.set_base();
  const std::vector<double> before(one.belief(0).begin(), one.belief(0).end());
  // Each pair allows what the next forbids: no row is within reach of a number.
  for (std::size_t f = 0; f < pairs.size(); ++f) {
    one.order().arrange(
        pairs[f],
        f == 1 ? std::vector{0.0, 700.0, 700.0, 0.0} : std::vector{700.0, 0.0, 0.0, 700.0},
        one.potential(f));
  }
  EXPECT_FALSE(std::isfinite(one.propagate()));
  EXPECT_FALSE(std::isfinite(one.rebase()));
  EXPECT_TRUE(std::ranges::equal(one.belief(0), before));
  for (std::size_t f = 0; f < pairs.size(); ++f) std::ranges::fill(one.potential(f), 0.0);
  EXPECT_NEAR(one.propagate(), 0.0, 1e-12);
}

TEST(BeliefPropagation, SaysWhenAMessageWasTooSmallForANumber) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 2, {}}});
  const std::vector<Clique> pairs{{0, 1}, {1, 2}};
  const auto load = [&](BeliefPropagation& one, double by) {
    one.order().arrange(pairs[0], std::vector{0.0, -by, 0.0, 0.0, -by, 0.0}, one.potential(0));
    one.order().arrange(pairs[1], std::vector{0.0, 0.0, -by, -by, 0.0, 0.0}, one.potential(1));
  };
  for (const double by : {600.0, 700.0}) {
    BeliefPropagation one(domain, make_junction_tree(domain, pairs), pairs);
    one.set_base();
    load(one, by);
    ASSERT_TRUE(std::isfinite(one.propagate()));
    EXPECT_EQ(one.lost_messages(), by > 667.0) << by;
    load(one, 1.0);
    one.propagate();
    EXPECT_FALSE(one.lost_messages());
  }
  // A structural zero is nothing that could be lost.
  BeliefPropagation one(domain, make_junction_tree(domain, pairs), pairs);
  one.order().arrange(pairs[1],
                      std::vector{0.0, 0.0, -std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity(), 0.0, 0.0},
                      one.potential(1));
  one.set_base();
  load(one, 5.0);
  ASSERT_TRUE(std::isfinite(one.propagate()));
  EXPECT_FALSE(one.lost_messages());
}

TEST(BeliefPropagation, FindsTheSameBytesWithAnyNumberOfThreads) {
  const Domain domain = wide_domain();
  const auto potentials = pair_potentials(domain, 2.0);
  auto alone = loaded(domain, potentials, nullptr);
  alone.set_base();
  for (const int threads : {2, 3}) {
    Team team(Threads{threads});
    auto together = loaded(domain, potentials, &team);
    together.set_base();
    for (int times = 0; times < 5; ++times) {
      for (std::size_t f = 0; f < potentials.size(); ++f) {
        for (auto* one : {&alone, &together}) {
          one->order().arrange(potentials[f].clique, potentials[f].values, one->potential(f));
        }
      }
      ASSERT_EQ(alone.propagate(), together.propagate());
      for (std::size_t f = 0; f < potentials.size(); ++f) {
        ASSERT_TRUE(std::ranges::equal(alone.marginal(f), together.marginal(f)));
      }
      if (times == 2) {
        alone.rebase();
        together.rebase();
        for (std::size_t c = 0; c < alone.tree().cliques.size(); ++c) {
          ASSERT_TRUE(std::ranges::equal(alone.belief(c), together.belief(c)));
        }
      }
    }
    alone = loaded(domain, potentials, nullptr);
    alone.set_base();
  }
}

TEST(EstimatePgm, FitsTheSameBytesWithAnyNumberOfThreads) {
  const Domain domain = wide_domain();
  const auto truth = test::dense_model(domain, pair_potentials(domain, 1.0), 50'000.0);
  std::vector<Measurement> measurements;
  std::uint64_t state = 3;
  for (const auto& factor : pair_potentials(domain, 1.0)) {
    Measurement m;
    m.query.clique = factor.clique;
    m.values = marginalize(truth, domain, factor.clique).values;
    for (double& value : m.values) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      value += 60.0 * (static_cast<double>(state >> 11) * 0x1.0p-52 - 1.0);
    }
    m.sigma = Sigma(35.0);
    measurements.push_back(std::move(m));
  }
  const auto alone = estimate_pgm(domain, measurements, 50'000.0, {}, {.threads = Threads{1}});
  const auto together = estimate_pgm(domain, measurements, 50'000.0, {}, {.threads = Threads{2}});
  EXPECT_TRUE(alone.converged);
  EXPECT_EQ(alone.loss, together.loss);
  EXPECT_EQ(alone.propagations, together.propagations);
  ASSERT_EQ(alone.model.potentials().size(), together.model.potentials().size());
  for (std::size_t i = 0; i < alone.model.potentials().size(); ++i) {
    EXPECT_EQ(alone.model.potentials()[i].values, together.model.potentials()[i].values);
  }
}

}  // namespace
}  // namespace tandem
