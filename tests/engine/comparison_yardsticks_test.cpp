// SPDX-License-Identifier: Apache-2.0
// Random samples of the real rows as a measure of error.

#include "tandem/engine/comparison_yardsticks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tandem {
namespace {

Table numbered(std::size_t rows) {
  Table out(Domain({{"row", static_cast<Code>(rows), {}}}), rows);
  for (std::size_t i = 0; i < rows; ++i) out.column(0).set(i, static_cast<Code>(i));
  return out;
}

std::set<Code> codes(const Table& table) {
  std::set<Code> out;
  for (std::size_t i = 0; i < table.rows(); ++i) out.insert(table.column(0)[i]);
  return out;
}

TEST(ComparisonYardsticks, SamplesHoldDifferentRowsAndLieInsideEachOther) {
  std::vector<std::set<Code>> seen;
  const auto found = measure_yardsticks(numbered(1000), {}, [&](const Table& rows) {
    seen.push_back(codes(rows));
    EXPECT_EQ(seen.back().size(), rows.rows());
    return WorkloadErrors{};
  });
  EXPECT_TRUE(found.public_rows.empty());
  ASSERT_GT(found.samples.size(), 5U);
  EXPECT_EQ(found.samples.front().rows, 5U) << "a smaller one says nothing";
  EXPECT_EQ(found.samples.back().rows, 900U);
  for (std::size_t i = 1; i < found.samples.size(); ++i) {
    EXPECT_TRUE(std::ranges::includes(seen[i], seen[i - 1]));
  }
  EXPECT_NE(seen[0], seen[found.samples.size()]) << "another draw";
}

TEST(ComparisonYardsticks, ErrorsAreMeansOverDraws) {
  int calls = 0;
  const auto found = measure_yardsticks(numbered(6), {}, [&](const Table& rows) {
    EXPECT_EQ(rows.rows(), 5U);
    ++calls;
    return WorkloadErrors{.avg = 0.1 * calls, .max = 0.2 * calls, .mean = 0.3 * calls};
  });
  EXPECT_EQ(calls, 6) << "80% and 90% of six rows are five";
  ASSERT_EQ(found.samples.size(), 2U);
  EXPECT_NEAR(found.samples[0].errors.avg, (0.1 + 0.3 + 0.5) / 3.0, 1e-12);
  EXPECT_NEAR(found.samples[1].errors.mean, (0.6 + 1.2 + 1.8) / 3.0, 1e-12);
}

TEST(ComparisonYardsticks, PublicRowsAreJudgedAsTheyAre) {
  PublicData data;
  data.tables.push_back({"survey.csv", numbered(7)});
  data.tables.push_back({"empty.csv", Table(numbered(7).domain(), 0)});
  const auto found = measure_yardsticks(numbered(7), data, [](const Table& rows) {
    return WorkloadErrors{.avg = static_cast<double>(rows.rows()), .max = 0.0, .mean = 0.0};
  });
  ASSERT_EQ(found.public_rows.size(), 1U);
  EXPECT_EQ(found.public_rows[0].name, "survey.csv");
  EXPECT_EQ(found.public_rows[0].errors.avg, 7.0);
}

std::vector<ErrorPoint> three_samples() {
  const auto sample = [](double share, double error) {
    return ErrorPoint{.name = {}, .share = share, .rows = 0, .errors = {error, error, error}};
  };
  return {sample(0.01, 0.4), sample(0.1, 0.1), sample(0.5, 0.03)};
}

TEST(EquivalentShare, IsTheSampleOfThatError) {
  const auto samples = three_samples();
  const auto share = [&](double error) {
    return equivalent_share(samples, &WorkloadErrors::avg, error);
  };
  EXPECT_NEAR(*share(0.4), 0.01, 1e-12);
  EXPECT_NEAR(*share(0.1), 0.1, 1e-12);
  EXPECT_NEAR(*share(0.03), 0.5, 1e-12);
  EXPECT_FALSE(share(0.5));
  EXPECT_FALSE(share(0.02));
  double last = 0.0;
  for (double error = 0.4; error > 0.03; error -= 0.01) {
    ASSERT_TRUE(share(error));
    EXPECT_GT(*share(error), last);
    last = *share(error);
  }
}

TEST(EquivalentShare, ASampleThatIsWorseByChanceIsPassedOver) {
  auto samples = three_samples();
  samples[1].errors.max = 0.6;
  const auto share = equivalent_share(samples, &WorkloadErrors::max, 0.1);
  ASSERT_TRUE(share);
  EXPECT_GT(*share, 0.1);
  EXPECT_LT(*share, 0.5);
}

TEST(EquivalentShare, IsSaidInWords) {
  const auto samples = three_samples();
  const auto words = [&](double error) {
    return share_in_words(samples, &WorkloadErrors::avg, error);
  };
  EXPECT_EQ(words(0.1), "10%");
  EXPECT_EQ(words(0.9), "below 1%");
  EXPECT_EQ(words(0.01), "above 50%");
  EXPECT_EQ(share_in_words({}, &WorkloadErrors::avg, 0.1), "-");
  EXPECT_EQ(percent(0.005), "0.5%");
  EXPECT_EQ(percent(0.123), "12%");
  EXPECT_EQ(percent(0.0123), "1.2%");
}

}  // namespace
}  // namespace tandem
