// SPDX-License-Identifier: Apache-2.0
#include "tandem/eval/yardstick.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/query/counting.h"

namespace tandem {
namespace {

// Columns that depend on each other, with cells of all sizes.
Table some_table(std::size_t rows, std::uint64_t seed = 7) {
  const Domain domain({{"a", 4, {}}, {"b", 7, {}}, {"c", 12, {}}, {"d", 30, {}}});
  Table table(domain, rows);
  Rng rng(seed);
  for (std::size_t r = 0; r < rows; ++r) {
    const double shift = rng.uniform();
    for (AttributeId id = 0; id < domain.size(); ++id) {
      const double share = 0.5 * shift + 0.5 * rng.uniform();
      const double size = domain[id].size;
      table.column(id).set(r, static_cast<Code>(size * share * share));
    }
  }
  return table;
}

// Really drawn, by a way of its own: a row is kept if its number comes early in a shuffled list.
Table drawn_sample(const Table& table, double fraction, std::uint64_t seed) {
  std::vector<std::size_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  Rng rng(seed);
  rng.shuffle(std::span(rows));
  rows.resize(static_cast<std::size_t>(std::llround(fraction * static_cast<double>(rows.size()))));
  return table.select(rows);
}

Evaluation judged(const Table& table, const Table& sample, const Workload& workload) {
  return evaluate_workload(workload, CountedTable(table), CountedTable(sample));
}

constexpr auto kAverage = &Evaluation::avg_workload_error;

TEST(Yardstick, FindsTheSizeOfSamplesThatWereReallyDrawn) {
  const Table table = some_table(20'000);
  const auto workload = Workload::all_k_way(table.domain(), 3);
  const Yardstick stick = yardstick(table, workload, {}, {});
  for (const double fraction : {0.002, 0.01, 0.05, 0.23, 0.6, 0.9}) {
    double found = 0.0;  // a geometric mean over samples
    constexpr int kSamples = 20;
    for (int i = 0; i < kSamples; ++i) {
      const auto sample = drawn_sample(table, fraction, 100 + static_cast<std::uint64_t>(i));
      const double error = judged(table, sample, workload).avg_workload_error;
      const auto same = stick.equivalent(kAverage, error);
      ASSERT_TRUE(same.has_value());
      EXPECT_EQ(same->side, EquivalentSample::Side::Within);
      found += std::log(same->fraction) / kSamples;
    }
    EXPECT_NEAR(std::exp(found) / fraction, 1.0, 0.05) << fraction;
  }
}

TEST(Yardstick, SaysWhatSamplesOfASizeScore) {
  const Table table = some_table(5'000);
  const auto workload = Workload::all_k_way(table.domain(), 2);
  const Yardstick stick = yardstick(table, workload, {}, {});
  for (const double fraction : {0.01, 0.1, 0.5}) {
    Evaluation mean;
    constexpr int kSamples = 40;
    for (int i = 0; i < kSamples; ++i) {
      const auto one =
          judged(table, drawn_sample(table, fraction, static_cast<std::uint64_t>(i)), workload);
      mean.avg_workload_error += one.avg_workload_error / kSamples;
      mean.max_error += one.max_error / kSamples;
      mean.rmse += one.rmse / kSamples;
    }
    const auto at = [&](Yardstick::Metric metric) { return stick.error(metric, fraction).value(); };
    EXPECT_NEAR(at(kAverage) / mean.avg_workload_error, 1.0, 0.1);
    EXPECT_NEAR(at(&Evaluation::rmse) / mean.rmse, 1.0, 0.1);
    EXPECT_NEAR(at(&Evaluation::max_error) / mean.max_error, 1.0, 0.35);
  }
}

TEST(Yardstick, LargerSamplesNeverScoreWorse) {
  const Table table = some_table(300);
  const Yardstick stick = yardstick(table, Workload::all_k_way(table.domain(), 2), {}, {});
  for (const auto metric : {kAverage, &Evaluation::max_error, &Evaluation::mean_error}) {
    for (std::size_t i = 1; i < stick.points().size(); ++i) {
      EXPECT_LT(stick.points()[i - 1].fraction, stick.points()[i].fraction);
      EXPECT_GE(stick.points()[i - 1].errors.*metric, stick.points()[i].errors.*metric);
    }
  }
}

TEST(Yardstick, SaturatesBelowAndAboveItsSamples) {
  const Table table = some_table(20'000);
  const Yardstick stick = yardstick(table, Workload::all_k_way(table.domain(), 1), {}, {});
  const auto none = stick.equivalent(kAverage, 2.0).value();
  EXPECT_EQ(none.side, EquivalentSample::Side::Below);
  EXPECT_DOUBLE_EQ(none.fraction, 2.0 / 20'000);  // the nearest to 0.01% in whole rows
  const auto all = stick.equivalent(kAverage, 0.0).value();
  EXPECT_EQ(all.side, EquivalentSample::Side::Above);
  EXPECT_NEAR(all.fraction, 0.99, 1e-9);
}

TEST(Yardstick, KnowsNothingOfATableWithOneRow) {
  const Table table = some_table(1);
  const Yardstick stick = yardstick(table, Workload::all_k_way(table.domain(), 1), {}, {});
  EXPECT_FALSE(stick.error(kAverage, 0.5).has_value());
  EXPECT_FALSE(stick.equivalent(kAverage, 0.1).has_value());
}

TEST(Yardstick, HoldsForTablesOfFewRows) {
  for (const std::size_t rows : {2U, 3U, 10U, 57U}) {
    const Table table = some_table(rows);
    const Yardstick stick = yardstick(table, Workload::all_k_way(table.domain(), 1), {}, {});
    ASSERT_FALSE(stick.points().empty());
    EXPECT_FALSE(stick.extrapolated());
    EXPECT_TRUE(stick.equivalent(kAverage, 0.3).has_value());
    EXPECT_FALSE(stick.error(kAverage, 0.4 / static_cast<double>(rows)).has_value());
  }
}

TEST(Yardstick, OfEqualRowsEverySampleIsAsGood) {
  const Table table(Domain({{"a", 2, {}}}), 500);
  const Yardstick stick = yardstick(table, Workload::all_k_way(table.domain(), 1), {}, {});
  EXPECT_EQ(stick.equivalent(kAverage, 0.0)->side, EquivalentSample::Side::Above);
  EXPECT_EQ(stick.equivalent(kAverage, 0.1)->side, EquivalentSample::Side::Below);
  EXPECT_NEAR(stick.error(kAverage, 0.1).value(), 0.0, 1e-300);
}

TEST(Yardstick, FollowsLargeSamplesFromSmallerOnes) {
  const Table table = some_table(40'000);
  const auto workload = Workload::all_k_way(table.domain(), 2);
  const Yardstick whole = yardstick(table, workload, {}, {});
  const Yardstick cut = yardstick(table, workload, {.largest_sample = 2'000}, {});
  EXPECT_FALSE(whole.extrapolated());
  EXPECT_TRUE(cut.extrapolated());
  EXPECT_EQ(cut.largest_sample(), 1'200U);  // 3%, the largest of the grid
  for (const double fraction : {0.1, 0.5, 0.95}) {
    EXPECT_NEAR(cut.error(kAverage, fraction).value() / whole.error(kAverage, fraction).value(),
                1.0, 0.1)
        << fraction;
  }
}

TEST(Yardstick, IsTheSameAtAnyNumberOfThreadsAndAnotherWithAnotherSeed) {
  const Table table = some_table(3'000);
  const auto workload = Workload::all_k_way(table.domain(), 2);
  const auto error = [&](int threads, std::uint64_t seed) {
    return yardstick(table, workload, {.seed = seed}, {threads}).error(kAverage, 0.1).value();
  };
  EXPECT_EQ(error(1, 1), error(3, 1));
  EXPECT_NE(error(1, 1), error(1, 2));
}

TEST(Yardstick, TellsTheMarginalsOfATenth) {
  const Table table = some_table(5'000);
  const auto workload = Workload::all_k_way(table.domain(), 1);
  const Yardstick stick = yardstick(table, workload, {}, {});
  ASSERT_EQ(stick.tenth().size(), 4U);
  const double mean = std::accumulate(stick.tenth().begin(), stick.tenth().end(), 0.0) / 4.0;
  EXPECT_NEAR(mean, stick.error(kAverage, 0.1).value(), 1e-12);
  EXPECT_LT(stick.tenth()[0], stick.tenth()[3]);  // 4 values and 30
}

}  // namespace
}  // namespace tandem
