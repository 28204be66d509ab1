// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/execute.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/document.h"
#include "tandem/engine/synth.h"
#include "tandem/engine/table_run.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

Table two_columns(std::size_t rows) {
  Table table(Domain({{"a", 2, {}}, {"b", 3, {}}}), rows);
  for (std::size_t r = 0; r < rows; ++r) {
    table.column(0).set(r, r % 4 == 0 ? 1 : 0);
    table.column(1).set(r, static_cast<Code>(r % 3));
  }
  return table;
}

TableRun run_at(double epsilon) {
  TableRun run;
  run.settings.epsilon = epsilon;
  run.settings.workload = "all-2way";
  run.threads = {};
  return run;
}

// Measures every column and answers with what it measured; it has no model.
Mechanism answering_mechanism() {
  struct Options {};
  return make_mechanism<Options>(
      {.name = "answering", .summary = "Answers without a model", .reference = ""},
      +[](Curator& curator, const Problem& problem, const Options&, Rng&) -> Release {
        Release release;
        auto y = curator.measure({Clique{0}}, curator.remaining());
        for (std::size_t i = 0; i < y.values.size(); ++i) {
          release.answers.push_back(
              {problem.domain[0].name + " = " + std::to_string(i), y.values[i], y.sigma.value()});
        }
        release.total = y.values[0] + y.values[1];
        release.measurements.push_back(std::move(y));
        return release;
      },
      +[](const Curator&, const Problem&, const Options&) { return Plan(); }, {});
}

TEST(TableRun, MakesARelease) {
  const auto release = release_table(two_columns(900), run_at(50.0));
  ASSERT_TRUE(release.rows);
  EXPECT_EQ(release.rows->rows(), 900U);
  EXPECT_NEAR(release.model->project({0}).values[1], 225.0, 20.0);
}

TEST(TableRun, RefusesWrongSettingsBeforeItDraws) {
  auto run = run_at(1.0);
  run.settings.mechanism = "mw-pub";
  const auto error = error_of<UsageError>([&] { release_table(two_columns(10), run); });
  EXPECT_TRUE(contains(error, "mw-pub needs public data; give it with --public."));
  run = run_at(-1.0);
  try {
    release_table(two_columns(10), run);
    FAIL();
  } catch (const UsageError& wrong) {
    EXPECT_EQ(wrong.key(), "epsilon");
  }
}

TEST(TableRun, AReleaseOfAnswersHasNoRows) {
  auto run = run_at(20.0);
  run.find = [](const std::string&) { return answering_mechanism(); };
  const auto release = release_table(two_columns(400), run);
  EXPECT_EQ(release.model, nullptr);
  EXPECT_FALSE(release.rows);
  ASSERT_EQ(release.answers.size(), 2U);
  EXPECT_NEAR(release.answers[1].estimate, 100.0, 10.0);
}

TEST(TableRun, StopsWhenItIsAskedTo) {
  auto run = run_at(1.0);
  run.threads.cancel = Cancel::token();
  std::size_t steps = 0;
  run.progress = [&](const RunProgress& progress) {
    steps = progress.step;
    if (progress.step == 2) run.threads.cancel.request();
  };
  EXPECT_THROW(release_table(two_columns(100), run), Cancelled);
  EXPECT_EQ(steps, 2U);
}

TEST(TableRun, AFolderOfAnswersIsWhole) {
  const test::TempDir dir;
  SynthRun run;
  run.settings.private_source = dir.write("private.csv", "a,b\n0,1\n1,2\n0,0\n");
  run.settings.schema = dir.write("schema.json", R"({"a": 2, "b": 3})");
  run.settings.epsilon = 5.0;
  run.settings.workload = "all-1way";
  run.settings.out = dir / "out";
  run.find = [](const std::string&) { return answering_mechanism(); };
  const auto summary = synthesize(run);
  EXPECT_FALSE(std::filesystem::exists(dir / "out/synthetic.csv"));
  EXPECT_FALSE(std::filesystem::exists(dir / "out/model.bin"));
  const std::string answers = read_text_file(dir / "out/answers.csv");
  EXPECT_TRUE(answers.starts_with("query,estimate,stddev,ci95_low,ci95_high\na = 0,")) << answers;
  EXPECT_EQ(summary.release.find("rows"), nullptr);
  EXPECT_EQ(summary.release.at("answers").as_integer(), 2);
  const std::string text = to_text(summary);
  EXPECT_TRUE(contains(text, "answers.csv, measurements.json, release.json and the schema"));
  EXPECT_TRUE(contains(text, "2, all with an interval")) << text;
  EXPECT_FALSE(contains(text, "synthetic.csv"));
}

}  // namespace
}  // namespace tandem
