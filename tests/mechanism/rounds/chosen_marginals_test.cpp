// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/rounds/chosen_marginals.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "mechanism/run_mechanism.h"
#include "support/errors.h"
#include "tandem/mechanism/tandem/tuning.h"
#include "tandem/model/public/public_structure.h"

namespace tandem::test {
namespace {

Curator curator_of(const Domain& domain, const Filter& filter) {
  return {PrivateData(memory_source(Table(domain, 0)), PrivacyUnit{}), filter,
          std::make_unique<SystemEntropy>(), memory_transcript(), CuratorSettings{}};
}

std::vector<Clique> chosen_by_public(const Problem& problem, const Filter& filter, double n) {
  const auto room = room_on_rows(problem.domain, problem.public_data.rows(), 100.0);
  MarginalChoice choice("ide", kPublicCliques, problem, *room, 8.0);
  EXPECT_TRUE(choice.needs_rows());
  std::vector<Clique> out;
  for (const auto& [clique, weight] :
       choice.take(curator_of(problem.domain, filter), n).marginals) {
    out.push_back(clique);
  }
  return out;
}

TEST(PublicCliques, AreThoseThatGoTogetherInPublicData) {
  const Problem problem = skewed_problem(skewed_rows(3000, 0.0, 1));
  const auto chosen = chosen_by_public(problem, Filter::zcdp(Rho(0.1)), 20'000);
  const auto has = [&](const Clique& clique) {
    return std::ranges::any_of(chosen, [&](const Clique& one) { return one.contains(clique); });
  };
  EXPECT_TRUE(has({0, 1}));
  EXPECT_TRUE(has({1, 2}));
  EXPECT_FALSE(has({3}));  // d knows nothing of the others
}

TEST(PublicCliques, AreFewerTheMoreNoiseThereIsAndSingleColumnsInTheEnd) {
  const Problem problem = skewed_problem(skewed_rows(3000, 0.0, 1));
  const auto many = chosen_by_public(problem, Filter::zcdp(Rho(0.1)), 20'000);
  const auto one = chosen_by_public(problem, Filter::zcdp(Rho(1e-4)), 2'000);
  const auto none = chosen_by_public(problem, Filter::zcdp(Rho(1e-9)), 20'000);
  EXPECT_EQ(many.size(), 3U);
  EXPECT_EQ(one.size(), 1U);
  EXPECT_EQ(none, (std::vector<Clique>{{0}, {1}, {2}, {3}}));
}

// With Laplace noise the k-th is taken while its gain n is above (cells before + k its own) Delta /
// epsilon: as much as it adds to the expected noise of all, each at k Delta / epsilon.
TEST(PublicCliques, WeighTheirGainAgainstTheNoiseThatTheyBring) {
  const Problem problem = skewed_problem(skewed_rows(3000, 0.0, 1));
  PublicModel data(problem.public_data.tables, tuning::kRidge, {});
  std::vector<Clique> candidates = problem.workload.downward_closure();
  const auto found = public_structure(data, candidates, 8.0);
  ASSERT_EQ(found.size(), 3U);
  constexpr double kDelta = 2.0;  // of a marginal under replace-one, in L1
  std::set<std::size_t> counts;
  for (double n = 10.0; n < 1e6; n *= 1.3) {
    std::size_t expected = 0;
    double before = 0.0;
    for (const auto& [clique, gain, noise, values] : found) {
      const double cells = problem.domain.about_cells(clique);
      const auto k = static_cast<double>(expected + 1);
      if (gain * n <= (before + k * cells) * kDelta) break;
      before += cells;
      ++expected;
    }
    counts.insert(expected);
    const auto chosen = chosen_by_public(problem, Filter::pure(Epsilon(1.0)), n);
    EXPECT_EQ(chosen.size(), expected == 0 ? problem.domain.size() : expected) << n;
  }
  EXPECT_EQ(counts, (std::set<std::size_t>{0, 1, 2, 3}));
}

TEST(PublicCliques, WithoutRoomAreCountedAmongThoseRecommended) {
  struct ForColumns final : Room {
    bool has(const Clique& clique) const override { return clique.size() == 1; }
    bool has_all(std::span<const Clique> /*cliques*/) const override { return true; }
    void take(const Clique& /*clique*/) override {}
  };
  Problem problem = skewed_problem(skewed_rows(3000, 0.0, 1));
  problem.workload = Workload::all_k_way(problem.domain, 4);  // one marginal; its parts are several
  ForColumns room;
  MarginalChoice choice("mre", kPublicCliques, problem, room, 8.0);
  const auto chosen = choice.take(curator_of(problem.domain, Filter::pure(Epsilon(50.0))), 3000.0);
  EXPECT_EQ(chosen.marginals.size(), 4U);
  EXPECT_TRUE(mentions(remarks(problem, chosen, "unmeasured"),
                       fmt::format("had no room for {} of the marginals that public data "
                                   "recommends",
                                   chosen.left_out)));
}

TEST(PublicCliques, NeedPublicRows) {
  const Problem problem = skewed_problem(skewed_rows(0, 0.0, 1));
  const auto room = room_on_rows(problem.domain, 0.0, 100.0);
  EXPECT_TRUE(contains(error_of<UsageError>([&] {
                         MarginalChoice("private-pgm", kPublicCliques, problem, *room, 8.0);
                       }),
                       "private-pgm with marginals=public-cliques needs public data"));
}

TEST(PublicCliques, AreForPrivatePgmToo) {
  const Table table = skewed_rows(20'000, 0.0, 1);
  const Problem problem = skewed_problem(skewed_rows(3000, 0.2, 2));
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    const auto outcome = run_mechanism("private-pgm", {{"marginals", "public-cliques"}}, table,
                                       problem, {.unit = unit});
    expect_sound(outcome, problem);
    EXPECT_TRUE(outcome.filter.remaining().is_zero());
    EXPECT_TRUE(std::ranges::any_of(outcome.release.measurements, [](const Measurement& y) {
      return y.query.clique.size() >= 2;
    }));
  }
}

TEST(RowRoom, IsLimitedByMemoryAndByEntries) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}});
  const auto small = room_on_rows(domain, 1000.0, 0.0001);
  EXPECT_FALSE(small->has({0}));
  const auto two = room_on_rows(domain, 1000.0, 10.0, 2500.0);
  two->take({0});
  EXPECT_TRUE(two->has({1}));
  two->take({1});
  EXPECT_FALSE(two->has({0, 1}));
}

}  // namespace
}  // namespace tandem::test
