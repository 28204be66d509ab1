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
  const double stddev = numbers(measured.at("stddev"))[0];
  EXPECT_GT(stddev, 0.0);
  EXPECT_NEAR(numbers(measured.at("margin95"))[0], 1.96 * stddev, 0.01);
  // Of two columns the model alone speaks, and all numbers add up to its total.
  const auto both = marginal_of(asking(folder, {"b", "a"}));
  EXPECT_EQ(both.at("columns").to_json(), R"(["a","b"])");
  EXPECT_EQ(both.at("stddev").to_json(), "[null,null,null,null,null,null,null,null]");
  EXPECT_NEAR(sum(numbers(both.at("estimate"))), 600.0, 1e-6);
  auto request = asking(folder, {"a"});
  request.from_model = true;
  const auto of_model = marginal_of(request);
  EXPECT_EQ(of_model.at("stddev").to_json(), "[null,null]");
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
      held += std::abs(estimates[i] - truth[i]) <= numbers(found.at("margin95"))[i] ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GE(held, all * 91 / 100);  // 300 draws of 0.95: 3 standard deviations are 3.8%
  EXPECT_LE(held, all * 99 / 100);
}

TEST_F(NumbersOfARelease, SumsOfMeasuredCountsHaveErrorBars) {
  const auto folder = release("mst", 5.0, 1);  // a tree of pairs over three columns
  const auto ranges = answers_of(asking_for(folder, "all-range:b"));
  ASSERT_EQ(ranges.at("query").as_array().size(), 10U);
  EXPECT_EQ(ranges.at("query").as_array()[3].as_string(), "b=0..3");
  const auto stddevs = numbers(ranges.at("stddev"));
  const auto estimates = numbers(ranges.at("estimate"));
  EXPECT_NEAR(estimates[3], 600.0, 1e-6);  // all rows, whose number is public
  EXPECT_NEAR(stddevs[3], 0.0, 1e-6);
  EXPECT_GT(stddevs[0], 0.0);
  EXPECT_NEAR(estimates[1], estimates[0] + estimates[4], 1e-6);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(estimates[i], 150.0 * static_cast<double>(i + 1), 5.0 * stddevs[i]);
  }
}

TEST_F(NumbersOfARelease, OfSomeRowsTheModelAloneSpeaks) {
  const auto folder = release("mst", 50.0, 1);
  RefitRequest some;
  some.release = folder;
  some.out = dir_ / "some";
  some.where = "a = F";
  refit(some);
  const auto found = marginal_of(asking(some.out, {"a"}));
  EXPECT_EQ(found.at("stddev").to_json(), "[null,null]");
  const auto estimates = numbers(found.at("estimate"));
  EXPECT_NEAR(estimates[0], 200.0, 10.0);  // rows of the private table, not of the refit
  EXPECT_NEAR(estimates[1], 0.0, 1e-6);
}

TEST_F(NumbersOfARelease, WhatCannotBeAskedIsSaid) {
  const auto folder = release("hdmm", 1.0, 1, "answers", "all-range:b");
  const auto ask = [&](std::vector<std::string> columns) {
    return error_of<UsageError>([&] { marginal_of(asking(folder, std::move(columns))); });
  };
  EXPECT_NE(ask({"a"}), "");  // nothing of it was measured, and there is no model
  EXPECT_TRUE(contains(ask({"nothing"}), "nothing"));
  EXPECT_TRUE(contains(ask({"a", "a"}), "twice"));
  EXPECT_TRUE(contains(error_of<UsageError>([&] {
                         answers_of(asking_for(release("mst", 1.0, 1), "conjunctions:2:3:1"));
                       }),
                       "no marginals"));
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
  EXPECT_TRUE(y.at("stddev").as_array()[0].is_null());  // of two values only the sum was measured
  EXPECT_NEAR(numbers(y.at("estimate"))[2], 50.0, 0.1);
  EXPECT_NEAR(numbers(y.at("estimate"))[0], 25.0, 0.1);
  EXPECT_TRUE(contains(error_of<UsageError>([&] { estimate(request); }), "choose another folder"));
  request.max_model_mb = 0.0;
  EXPECT_TRUE(contains(error_of<UsageError>([&] { estimate(request); }), "max-model-mb"));
}

}  // namespace
}  // namespace tandem
