// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/rounds/error_bounds.h"

#include <map>

#include "mechanism/run_mechanism.h"
#include "tandem/mechanism/rounds/candidates.h"

namespace tandem::test {
namespace {

// Each bound must hold in all but a twentieth of the runs. They are loose, so it does in nearly
// all.
TEST(ErrorBounds, HoldAsOftenAsTheySay) {
  const Table table = skewed_rows(3000, 0.0, 1);
  const CountedTable truth(table);
  const Problem problem{table.domain(), Workload::all_k_way(table.domain(), 3), {}};
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    for (const double rho : {0.0003, 0.005}) {
      std::map<Clique, int> broken;
      int supported = 0;
      int unsupported = 0;
      constexpr int kRuns = 40;
      for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
        const auto outcome =
            run_mechanism("aim", {{"rounds-per-column", "2"}}, table, problem,
                          {.filter = Filter::zcdp(Rho(rho)), .unit = unit, .seed = seed});
        for (const auto& bound : outcome.release.error_bounds) {
          EXPECT_EQ(bound.confidence, 0.95);
          const double error = l1_distance(truth.project(bound.clique),
                                           outcome.release.model->project(bound.clique));
          broken[bound.clique] += error > bound.l1 ? 1 : 0;
          ++(bound.supported ? supported : unsupported);
        }
      }
      for (const auto& [clique, times] : broken) EXPECT_LE(times, 0.05 * kRuns);
      EXPECT_GT(supported, 0);
      EXPECT_GT(unsupported, 0);
    }
  }
}

TEST(ErrorBounds, AreWorthReadingWhereMuchWasSpent) {
  const Table table = skewed_rows(20'000, 0.0, 1);
  const Problem problem{table.domain(), Workload::all_k_way(table.domain(), 3), {}};
  const auto outcome =
      run_mechanism("aim", {}, table, problem, {.filter = Filter::zcdp(Rho(0.5)), .seed = 2});
  ASSERT_EQ(outcome.release.error_bounds.size(), problem.workload.size());
  for (const auto& bound : outcome.release.error_bounds) {
    EXPECT_LT(bound.l1, bound.supported ? 0.05 * 20'000 : 0.5 * 20'000);
  }
}

// Against what it must at least be, and what it tends to: the mean of |noise|_1.
TEST(ErrorBounds, AMeasuredMarginalIsBoundedByItsNoise) {
  const Domain domain({{"a", 100, {}}, {"b", 4, {}}});
  Measurement y;
  y.query = {Clique{0, 1}};
  y.values.assign(400, 10.0);
  y.noise = NoiseKind::Gaussian;
  y.sigma = Sigma(5.0);
  const Factor answer{Clique{0}, std::vector<double>(100, 40.0)};
  const std::vector<Measurement> one = {y};
  const double bound = supported_bound(domain, one, answer, 0.95);
  EXPECT_GT(bound, expected_noise(Sigma(10.0), 100));
  EXPECT_LT(bound, 1.7 * expected_noise(Sigma(10.0), 100));
  const std::vector<Measurement> four(4, y);
  EXPECT_NEAR(supported_bound(domain, four, answer, 0.95), bound / 2.0, 0.05 * bound);
  EXPECT_GT(supported_bound(domain, one, answer, 0.999), bound);
  EXPECT_EQ(supported_bound(domain, {}, answer, 0.95), HUGE_VAL);
}

}  // namespace
}  // namespace tandem::test
