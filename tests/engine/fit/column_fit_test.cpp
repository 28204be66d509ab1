// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/fit/column_fit.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tandem/data/column_schema.h"

namespace tandem {
namespace {

ColumnSchema column(const std::string& toml) {
  return read_column(Document::parse_toml("name = 'c'\n" + toml, "column"));
}

ValueFit verdict(const ColumnSchema& column, const std::string& text) {
  return value_fit(*column.codec, text, column.codec->encode(text));
}

TEST(ValueFits, OfNumbers) {
  const auto c = column("kind='integer'\nmin=0\nmax=500\nbins=5\nspecial=['N', 501]\nnull=''\n");
  EXPECT_EQ(verdict(c, "99"), ValueFit::Exact);
  EXPECT_EQ(verdict(c, "99.5"), ValueFit::Between);
  EXPECT_EQ(verdict(c, "-3"), ValueFit::Below);
  EXPECT_EQ(verdict(c, "502"), ValueFit::Above);
  EXPECT_EQ(verdict(c, "1e999"), ValueFit::Above);
  EXPECT_EQ(verdict(c, "501"), ValueFit::Exact);
  EXPECT_EQ(verdict(c, "N"), ValueFit::Exact);
  EXPECT_EQ(verdict(c, ""), ValueFit::Exact);
  EXPECT_EQ(verdict(c, "x"), ValueFit::Unfit);
}

TEST(ValueFits, OfDatesWithAnOther) {
  const auto c = column("kind='date'\nmin='2020-01-01'\nmax='2020-12-31'\nother='other'\n");
  EXPECT_EQ(verdict(c, "2020-02-29"), ValueFit::Exact);
  EXPECT_EQ(verdict(c, "2021-01-01"), ValueFit::Above);
  EXPECT_EQ(verdict(c, "1999-01-01"), ValueFit::Below);
  EXPECT_EQ(verdict(c, "2021-02-29"), ValueFit::Other);
  EXPECT_EQ(verdict(c, "other"), ValueFit::Exact);
}

TEST(ValueFits, OfLists) {
  const auto c = column("values=['F', 'M']\n");
  EXPECT_EQ(verdict(c, "F"), ValueFit::Exact);
  EXPECT_EQ(verdict(c, "f"), ValueFit::Unfit);
  const auto with_other = column("values=['F', 'M']\nother='?'\n");
  EXPECT_EQ(verdict(with_other, "f"), ValueFit::Other);
  EXPECT_EQ(verdict(with_other, "?"), ValueFit::Exact);
  const auto coded = column("size=3\n");
  EXPECT_EQ(verdict(coded, "2"), ValueFit::Exact);
  EXPECT_EQ(verdict(coded, "3"), ValueFit::Unfit);
}

TEST(TextCounts, KeepsTheFirstTextsAndCountsThem) {
  TextCounts counts;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < TextCounts::kMost + 50; ++i) counts.add("t" + std::to_string(i));
  }
  counts.add("t7", 10);
  EXPECT_EQ(counts.items().size(), TextCounts::kMost);
  EXPECT_EQ(counts.items()[0].text, "t0");
  EXPECT_EQ(counts.items()[0].times, 3U);
  EXPECT_EQ(counts.most_frequent(1)[0].text, "t7");
  EXPECT_EQ(counts.most_frequent(1)[0].times, 13U);
}

TEST(PointSample, HasExactQuantilesOfFewPoints) {
  PointSample points;
  for (int i = 100; i >= 1; --i) points.add(i);
  EXPECT_TRUE(points.whole());
  EXPECT_EQ(points.quantiles({0.0, 0.05, 0.25, 0.5, 0.95, 1.0}),
            (std::vector<double>{1, 5, 25, 50, 95, 100}));
}

TEST(PointSample, SamplesManyPointsFairlyAndKeepsTheEnds) {
  PointSample points;
  constexpr int kPoints = 500'000;
  for (int i = 0; i < kPoints; ++i) points.add(i);
  EXPECT_FALSE(points.whole());
  EXPECT_EQ(points.size(), static_cast<std::size_t>(kPoints));
  const auto q = points.quantiles({0.0, 0.05, 0.5, 0.95, 1.0});
  EXPECT_EQ(q[0], 0.0);
  EXPECT_EQ(q[4], kPoints - 1.0);
  EXPECT_NEAR(q[1] / kPoints, 0.05, 0.005);
  EXPECT_NEAR(q[2] / kPoints, 0.5, 0.01);
  EXPECT_NEAR(q[3] / kPoints, 0.95, 0.005);
}

}  // namespace
}  // namespace tandem
