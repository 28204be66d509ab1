// SPDX-License-Identifier: Apache-2.0
// The figure of a comparison: its stamp, its statistics, and names that try to break it.

#include "tandem/engine/comparison_figure.h"

#include <gtest/gtest.h>

#include "support/errors.h"

namespace tandem {
namespace {

using test::contains;

ComparisonResult result(const std::string& mechanism, double epsilon, std::int64_t seed,
                        double error) {
  ComparisonResult out;
  out.mechanism = mechanism;
  out.epsilon = epsilon;
  out.seed = seed;
  out.rows = {error, 2.0 * error, error / 10.0};
  return out;
}

ComparisonOutcome outcome() {
  ComparisonOutcome out;
  out.rows = 20'000;
  out.columns = 12;
  for (std::int64_t seed = 1; seed <= 2; ++seed) {
    const double more = seed == 1 ? 0.0 : 0.02;
    out.results.push_back(result("aim", 10.0, seed, 0.1 + more));
    out.results.push_back(result("aim", 0.1, seed, 0.4 + more));
  }
  out.yardsticks.public_rows = {
      {.name = "survey.csv", .share = 0.0, .rows = 5'000, .errors = {0.25, 0.5, 0.025}}};
  out.yardsticks.samples = {
      {.name = {}, .share = 0.01, .rows = 200, .errors = {0.3, 0.6, 0.03}},
      {.name = {}, .share = 0.1, .rows = 2'000, .errors = {0.15, 0.3, 0.015}}};
  return out;
}

ComparisonRequest request() {
  ComparisonRequest out;
  out.private_source = "/home/of/the/steward/register.csv";
  return out;
}

std::string figure(const ComparisonRequest& r) {
  return figure_of(r, outcome(), report::Look::Either);
}

TEST(ComparisonFigure, SaysWhatItShows) {
  const std::string picture = figure(request());
  for (const char* words :
       {">aim<", ">public rows as they are<", ">1%<", ">10%<",
        "register.csv: 20,000 rows, 12 columns; workload all-3way; delta 1e-9, replace-one.",
        "Lines are means of 2 runs, bands reach from the smallest to the largest",
        "aim: 0.41 at 0.1, 0.11 at 10."}) {
    EXPECT_TRUE(contains(picture, words)) << words;
  }
  EXPECT_FALSE(contains(picture, "/home/of")) << "where a table lies is nobody's business";
}

TEST(ComparisonFigure, OneEpsilonHasPointsAndBars) {
  auto one = outcome();
  std::erase_if(one.results, [](const auto& r) { return r.epsilon == 10.0; });
  EXPECT_TRUE(contains(figure_of(request(), one, report::Look::Light),
                       "Points are means of 2 runs, bars reach from"));
}

TEST(ComparisonFigure, IsStampedUnlessTheTableIsPublic) {
  EXPECT_TRUE(contains(figure(request()), ">INTERNAL: computed from the private table"));
  auto open = request();
  open.published = true;
  EXPECT_FALSE(contains(figure(open), "INTERNAL"));
}

TEST(ComparisonFigure, FollowsTheMetric) {
  auto r = request();
  r.metric = "max";
  EXPECT_TRUE(contains(figure(r), "aim: 0.82 at 0.1, 0.22 at 10."));
  EXPECT_TRUE(contains(figure(r), "largest error of one query"));
}

TEST(ComparisonFigure, NamesAreTextWhateverTheyHold) {
  auto r = request();
  r.private_source = "<script>alert(1)</script>.csv";
  r.title = "</text><image href=\"http://example.org/\"/>";
  r.workload = "a\xff.toml";
  auto hostile = outcome();
  hostile.results.push_back(result("x\"><a href='#'>", 1.0, 1, 0.2));
  hostile.yardsticks.public_rows.push_back(hostile.yardsticks.public_rows[0]);
  hostile.yardsticks.public_rows[1].name = "&<>\"'\xe2\x80\xae.csv";
  const std::string picture = figure_of(r, hostile, report::Look::Dark);
  for (const char* tag : {"<script", "<image", "<a ", "\xe2\x80\xae", "\xff"}) {
    EXPECT_FALSE(contains(picture, tag)) << tag;
  }
  EXPECT_TRUE(contains(picture, "x&quot;&gt;&lt;a href=&#39;#&#39;&gt;"));
}

TEST(ComparisonFigure, YardsticksAreATableToo) {
  EXPECT_EQ(yardsticks_csv(outcome().yardsticks),
            "kind,name,share,rows,avg_error,max_error,mean_error\n"
            "public,survey.csv,0,5000,0.25,0.5,0.025\n"
            "sample,,0.01,200,0.3,0.6,0.03\n"
            "sample,,0.1,2000,0.15,0.3,0.015\n");
}

}  // namespace
}  // namespace tandem
