// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "support/entropy_for_tests.h"
#include "tandem/base/error.h"
#include "tandem/eval/metrics.h"
#include "tandem/mechanism/registry.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/private_data.h"
#include "tandem/query/counting.h"
#include "tandem/source/memory_source.h"

namespace tandem {
namespace {

Domain small_domain() { return Domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 4, {}}, {"d", 2, {}}}); }

// A chain: each column goes with the one before. `skew` moves the first.
Table chained_table(std::size_t rows, std::size_t skew) {
  Table table(small_domain(), rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const Code a = r % skew == 0 ? 1 : 0;
    const Code b = r % 5 == 0 ? 2 : a;
    table.column(0).set(r, a);
    table.column(1).set(r, b);
    table.column(2).set(r, r % 7 == 0 ? 3 : b);
    table.column(3).set(r, r % 11 == 0 ? 1 - a : a);
  }
  return table;
}

struct Outcome {
  Release release;
  Filter filter;
};

Outcome run_jam(const Table& table, const Table& help, const Filter& filter,
                const PrivacyUnit& unit, std::unique_ptr<EntropySource> entropy,
                const Parameters& parameters = {}) {
  Curator curator(PrivateData(memory_source(table), unit), filter, std::move(entropy),
                  memory_transcript(), {.threads = {}, .progress = {}});
  const auto ways = std::min<std::size_t>(3, table.domain().size());
  const Problem problem{table.domain(), Workload::all_k_way(table.domain(), ways),
                        PublicData{{{"public", help}}}};
  Rng rng(1);
  Release release = find_mechanism("jam-pgm").run(curator, problem, parameters, rng);
  return {std::move(release), curator.filter()};
}

Filter budget(double epsilon) { return Filter::zcdp(rho_of(Epsilon(epsilon), Delta(1e-9))); }

constexpr PrivacyUnit kReplaceOne{};
constexpr PrivacyUnit kAddRemove{.neighbors = Neighbors::AddRemove, .rows_per_person = 1};

double error_of(const Release& release, const Table& table) {
  const auto workload = Workload::all_k_way(table.domain(), 3);
  return evaluate(workload, CountedTable(table), *release.model).avg_workload_error;
}

TEST(JamPgm, SpendsTheBudgetToTheLastGrainAndItsChargesAddUp) {
  for (const auto& unit : {kReplaceOne, kAddRemove}) {
    const auto [release, filter] = run_jam(chained_table(300, 3), chained_table(100, 3),
                                           budget(1.0), unit, std::make_unique<SystemEntropy>());
    Cost sum;
    for (const auto& charge : filter.charges()) sum = sum + charge.cost;
    EXPECT_EQ(sum, filter.spent());
    EXPECT_TRUE(filter.remaining().is_zero());
    // One a round, and the number of rows where it is not public.
    EXPECT_EQ(release.measurements.size(), unit.keeps_rows() ? 20U : 21U);
    EXPECT_EQ(release.measurements.front().query.clique.empty(), !unit.keeps_rows());
  }
}

// One measurement a round. At epsilon 1 a count of 30,000 rows has noise of about 0.0015 of them.
TEST(JamPgm, TheLessNoiseTheMoreRounds) {
  const auto rounds = [](std::size_t rows, double epsilon, const Parameters& parameters) {
    return run_jam(chained_table(rows, 3), chained_table(100, 3), budget(epsilon), kReplaceOne,
                   std::make_unique<SeededEntropy>(7), parameters)
        .release.measurements.size();
  };
  EXPECT_EQ(rounds(300, 1.0, {}), 20U);
  EXPECT_EQ(rounds(30'000, 1.0, {}), 25U);
  EXPECT_EQ(rounds(30'000, 10.0, {}), 30U);
  EXPECT_EQ(rounds(300, 1.0, {{"rounds", "7"}}), 7U);
  EXPECT_EQ(rounds(300, 1.0, {{"selection", "2024"}}), 30U);
}

TEST(JamPgm, RecoversTheTruthWithoutNoise) {
  const Table table = chained_table(3000, 3);
  const auto [release, filter] = run_jam(table, chained_table(200, 2), budget(1.0), kReplaceOne,
                                         std::make_unique<test::NoNoise>());
  EXPECT_EQ(release.total, 3000.0);
  EXPECT_LT(error_of(release, table), 0.03);
}

TEST(JamPgm, TheSameSeedGivesTheSameRelease) {
  const auto once = [] {
    return run_jam(chained_table(500, 3), chained_table(100, 3), budget(1.0), kReplaceOne,
                   std::make_unique<SeededEntropy>(7));
  };
  const auto first = once();
  const auto second = once();
  ASSERT_EQ(first.release.measurements.size(), second.release.measurements.size());
  for (std::size_t i = 0; i < first.release.measurements.size(); ++i) {
    EXPECT_EQ(first.release.measurements[i].values, second.release.measurements[i].values);
  }
  EXPECT_EQ(first.release.model->project({0, 1, 2}), second.release.model->project({0, 1, 2}));
}

TEST(JamPgm, BeatsBiasedPublicDataAndUsesGoodOnes) {
  const Table table = chained_table(5000, 3);
  const Table biased = chained_table(500, 2);
  const auto workload = Workload::all_k_way(table.domain(), 3);
  const double alone =
      evaluate(workload, CountedTable(table), CountedTable(biased)).avg_workload_error;
  const auto [release, filter] =
      run_jam(table, biased, budget(1.0), kReplaceOne, std::make_unique<SeededEntropy>(3));
  EXPECT_LT(error_of(release, table), alone / 2.0);

  const auto helped = run_jam(table, chained_table(4620, 3), budget(0.01), kReplaceOne,
                              std::make_unique<SeededEntropy>(3));
  EXPECT_TRUE(std::ranges::any_of(helped.release.measurements,
                                  [](const Measurement& m) { return m.origin == Origin::Public; }));
}

// In 2024 a marginal that was too large for the first rounds never came back.
TEST(JamPgm, TheSelectionOf2024DropsForEverWhatWasTooLargeOnce) {
  const Table table = chained_table(5000, 3);
  const auto largest = [&](const char* selection) {
    const auto outcome = run_jam(table, chained_table(300, 2), budget(10.0), kReplaceOne,
                                 std::make_unique<SeededEntropy>(5),
                                 {{"selection", selection}, {"max-model-mb", "0.001"}});
    EXPECT_TRUE(outcome.filter.remaining().is_zero());
    std::size_t columns = 0;
    for (const auto& y : outcome.release.measurements) {
      columns = std::max(columns, y.query.clique.size());
    }
    return columns;
  };
  EXPECT_EQ(largest("each-round"), 3U);
  EXPECT_LT(largest("2024"), 3U);  // 1/30 of the limit has no room for three columns
}

TEST(JamPgm, GoldenRun) {
  const auto [release, filter] =
      run_jam(chained_table(500, 3), chained_table(100, 2), budget(1.0), kReplaceOne,
              std::make_unique<SeededEntropy>(7), {{"rounds", "30"}});
  ASSERT_EQ(release.measurements.size(), 30U);
  std::vector<double> firsts;
  for (std::size_t i = 0; i < 6; ++i) firsts.push_back(release.measurements[i].values.front());
  EXPECT_EQ(firsts, (std::vector<double>{250, 170, 200, 200, 155, 275}));
  EXPECT_NEAR(release.model->project({0}).values.front(), 308.459, 0.2);
}

// On one column the model is the mean of what was measured, less what it exceeds n by.
TEST(JamPgm, PrivateMeasurementsWeighByTheirNoiseAndPublicOnesLikeTheNoisiest) {
  const Domain domain({{"a", 3, {}}});
  const auto table = [&](std::size_t rows, std::size_t ones) {
    Table out(domain, rows);
    for (std::size_t r = 0; r < rows; ++r) {
      out.column(0).set(r, r % 10 < ones ? 0 : static_cast<Code>(1 + r % 2));
    }
    return out;
  };
  constexpr double n = 4000.0;
  const auto [release, filter] = run_jam(table(4000, 4), table(500, 5), budget(0.05), kReplaceOne,
                                         std::make_unique<SeededEntropy>(2), {{"rounds", "6"}});
  double noisiest = 0.0;
  double least_noisy = n;
  std::size_t of_public = 0;
  for (const auto& y : release.measurements) {
    if (y.origin == Origin::Public) {
      ++of_public;
      continue;
    }
    noisiest = std::max(noisiest, y.sigma.value());
    least_noisy = std::min(least_noisy, y.sigma.value());
  }
  ASSERT_GT(of_public, 0U);
  ASSERT_LT(least_noisy, 0.9 * noisiest);
  std::vector<double> mean(3, 0.0);
  double weight = 0.0;
  double sum = 0.0;
  for (const auto& y : release.measurements) {
    const double sigma = y.origin == Origin::Public ? noisiest : y.sigma.value();
    for (std::size_t c = 0; c < 3; ++c) mean[c] += y.values[c] / (sigma * sigma);
    weight += 1.0 / (sigma * sigma);
  }
  for (double& count : mean) sum += count /= weight;
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(release.model->project({0}).values[c], mean[c] + (n - sum) / 3.0, 3.0);
  }
}

TEST(JamPgm, NeedsPublicRows) {
  EXPECT_THROW(run_jam(chained_table(10, 3), chained_table(0, 3), budget(1.0), kReplaceOne,
                       std::make_unique<SystemEntropy>()),
               UsageError);
}

}  // namespace
}  // namespace tandem
