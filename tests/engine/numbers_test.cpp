// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/engine/refit.h"
#include "tandem/engine/synth.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

std::vector<double> numbers(const Document& list) {
  std::vector<double> out;
  for (const auto& value : list.as_array()) out.push_back(value.as_number());
  return out;
}

NumbersRequest asking(const std::string& folder, std::vector<std::string> columns) {
  NumbersRequest out;
  out.folder = folder;
  out.columns = std::move(columns);
  return out;
}

NumbersRequest asking_for(const std::string& folder, const std::string& workload) {
  NumbersRequest out;
  out.folder = folder;
  out.workload = workload;
  return out;
}

SampleRequest rows_of(const std::string& folder, const std::string& out, std::int64_t rows) {
  SampleRequest request;
  request.folder = folder;
  request.out = out;
  request.rows = rows;
  request.seed = 1;
  return request;
}

double sum(const std::vector<double>& values) {
  double out = 0.0;
  for (const double value : values) out += value;
  return out;
}

// 600 rows: 'a' is F in a third of them, 'b' goes from 0 to 3, and 'c' is a mod 2 of the row.
class NumbersOfARelease : public testing::Test {
 protected:
  NumbersOfARelease() {
    std::string rows = "a,b,c\n";
    for (int r = 0; r < 600; ++r) {
      rows +=
          (r % 3 == 0 ? "F," : "M,") + std::to_string(r % 4) + ',' + std::to_string(r % 2) + '\n';
    }
    private_ = dir_.write("private.csv", rows);
    schema_ = dir_.write("schema.toml",
                         "[[column]]\nname = 'a'\nvalues = ['F', 'M']\n"
                         "[[column]]\nname = 'b'\nkind = 'integer'\nmin = 0\nmax = 3\n"
                         "[[column]]\nname = 'c'\nsize = 2\n");
  }

  std::string release(const std::string& mechanism, double epsilon, std::int64_t seed,
                      const std::string& name = "release",
                      const std::string& workload = "all-3way") const {
    SynthRun run;
    run.settings.private_source = private_;
    run.settings.schema = schema_;
    run.settings.mechanism = mechanism;
    run.settings.epsilon = epsilon;
    run.settings.seed = seed;
    run.settings.workload = workload;
    run.settings.certify_share = 0.0;
    run.settings.make = mechanism == "hdmm" ? "answers" : "rows";
    run.settings.out = dir_ / name;
    run.force = true;
    return synthesize(run).out;
  }

  test::TempDir dir_{test::in_memory()};
  std::string private_;
  std::string schema_;
};

TEST_F(NumbersOfARelease, AMeasuredMarginalHasErrorBarsAndAModelsHasNone) {
  const auto folder = release("independent", 1.0, 1);
  const auto measured = marginal_of(asking(folder, {"a"}));
  EXPECT_EQ(measured.at("labels").to_json(), R"([["F","M"]])");
  EXPECT_GT(measured.at("stddev").as_number(), 0.0);
  EXPECT_NEAR(measured.at("margin95").as_number(), 1.96 * measured.at("stddev").as_number(), 0.01);
  // Of two columns the model alone speaks, and all numbers add up to its total.
  const auto both = marginal_of(asking(folder, {"b", "a"}));
  EXPECT_EQ(both.at("columns").to_json(), R"(["a","b"])");
  EXPECT_TRUE(both.at("stddev").is_null());
  EXPECT_NEAR(sum(numbers(both.at("estimate"))), 600.0, 1e-6);
  auto request = asking(folder, {"a"});
  request.from_model = true;
  const auto of_model = marginal_of(request);
  EXPECT_TRUE(of_model.at("stddev").is_null());
}

TEST_F(NumbersOfARelease, IntervalsOfMeasuredMarginalsHoldAsOftenAsTheySay) {
  int held = 0;
  int all = 0;
  const std::vector<double> truth = {200.0, 400.0};
  for (std::int64_t seed = 0; seed < 150; ++seed) {
    const auto folder = release("independent", 0.5, seed);
    const auto found = marginal_of(asking(folder, {"a"}));
    const auto estimates = numbers(found.at("estimate"));
    for (std::size_t i = 0; i < truth.size(); ++i) {
      held += std::abs(estimates[i] - truth[i]) <= found.at("margin95").as_number() ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GE(held, all * 91 / 100);  // 300 draws of 0.95: 3 standard deviations are 3.8%
  EXPECT_LE(held, all * 99 / 100);
}

TEST_F(NumbersOfARelease, ALargerMeasuredMarginalIsSummedUpWithItsNoise) {
  const auto folder = release("mst", 5.0, 1);  // a tree of pairs over three columns
  const auto a = marginal_of(asking(folder, {"a"}));
  const auto ranges = answers_of(asking_for(folder, "all-range:b"));
  ASSERT_EQ(ranges.at("query").as_array().size(), 10U);
  const auto stddevs = numbers(ranges.at("stddev"));
  const auto estimates = numbers(ranges.at("estimate"));
  EXPECT_EQ(ranges.at("query").as_array()[3].as_string(), "b=0..3");
  EXPECT_NEAR(stddevs[3], 2.0 * stddevs[0], 1e-9);  // of four independent counts
  EXPECT_NEAR(estimates[3], estimates[0] + estimates[4] + estimates[7] + estimates[9], 1e-6);
  EXPECT_GT(a.at("stddev").as_number(), 0.0);
}

TEST_F(NumbersOfARelease, OfSomeRowsTheModelAloneSpeaks) {
  const auto folder = release("mst", 50.0, 1);
  RefitRequest some;
  some.release = folder;
  some.out = dir_ / "some";
  some.where = "a = F";
  refit(some);
  const auto found = marginal_of(asking(some.out, {"a"}));
  EXPECT_TRUE(found.at("stddev").is_null());
  const auto estimates = numbers(found.at("estimate"));
  EXPECT_NEAR(estimates[0], 200.0, 10.0);  // rows of the private table, not of the refit
  EXPECT_NEAR(estimates[1], 0.0, 1e-6);
}

TEST_F(NumbersOfARelease, WhatCannotBeAskedIsSaid) {
  // Single columns are measured by sums over values, so no marginal says them.
  const auto folder = release("hdmm", 1.0, 1, "answers", "all-range:b");
  const auto ask = [&](std::vector<std::string> columns) {
    return error_of<UsageError>([&] { marginal_of(asking(folder, std::move(columns))); });
  };
  EXPECT_TRUE(contains(ask({"b"}), "holds no model"));
  EXPECT_TRUE(contains(ask({"nothing"}), "nothing"));
  EXPECT_TRUE(contains(ask({"a", "a"}), "twice"));
  EXPECT_TRUE(contains(error_of<UsageError>([&] {
                         answers_of(asking_for(release("mst", 1.0, 1), "conjunctions:2:3:1"));
                       }),
                       "conjunctions"));
}

TEST_F(NumbersOfARelease, AModelOfMeasurementsFromElsewhere) {
  const auto schema = dir_.write("domain.json", R"({"x": 2, "y": 3})");
  const auto measurements = dir_.write("measurements.json",
                                       R"({"format": 1, "measurements": [
          {"columns": ["x"], "origin": "private", "noise": "gaussian", "stddev": 1, "values": [60, 40]},
          {"columns": ["y"], "origin": "private", "noise": "gaussian", "stddev": 1,
           "map": {"unit": 1.0, "rows": [[[0, 1], [1, 1]], [[2, 1]]]}, "values": [50, 50]}]})");
  EstimateRequest request;
  request.schema = schema;
  request.measurements = measurements;
  request.out = dir_ / "estimate";
  request.max_model_mb = 1.0;
  const auto found = estimate(request);
  EXPECT_NEAR(found.at("total").as_number(), 100.0, 1e-9);
  const auto y = marginal_of(asking(request.out, {"y"}));
  EXPECT_TRUE(y.at("stddev").is_null());  // a sum was measured, not the marginal
  EXPECT_NEAR(numbers(y.at("estimate"))[2], 50.0, 0.1);
  EXPECT_NEAR(numbers(y.at("estimate"))[0], 25.0, 0.1);
  const auto rows = dir_ / "rows.csv";
  sample_rows(rows_of(request.out, rows, 10));
  const auto text = test::read_file(rows);
  EXPECT_TRUE(text.starts_with("x,y\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);
  EXPECT_TRUE(contains(error_of<UsageError>([&] { estimate(request); }), "choose another folder"));
  request.max_model_mb = 0.0;
  EXPECT_TRUE(contains(error_of<UsageError>([&] { estimate(request); }), "max-model-mb"));
  EXPECT_TRUE(
      contains(error_of<UsageError>([&] { sample_rows(rows_of(request.out, rows, 0)); }), "rows"));
}

}  // namespace
}  // namespace tandem
