// SPDX-License-Identifier: Apache-2.0
// Lists of pairs from the command line: synth, evaluate and compare on pairs:FILE.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/document.h"

namespace tandem {
namespace {

using test::CommandResult;
using test::contains;
using test::read_file;
using test::TempDir;

constexpr int kUsers = 400;
constexpr int kItems = 60;

class Pairs : public testing::Test {
 protected:
  Pairs() {
    std::string lines = "user,item\n";
    for (int user = 0; user < kUsers; ++user) {
      const std::string name = "u" + std::to_string(user) + ",";
      lines += name + "\n";  // so that who has nothing is a row too
      for (int item = 0; item < kItems; ++item) {
        if (user % 10 != 9 && (user * 7 + item * item) % (item + 2) == 0) {
          lines += name + "i" + std::to_string(item) + "\n";
        }
      }
    }
    text_ = lines;
    file_ = dir_.write("pairs.csv", lines);
    gzip_ = dir_.write_gzip("pairs.csv.gz", lines);
    schema_ = dir_.write("schema.toml", "[[columns]]\nprefix = 'i'\ncount = 60\nsize = 2\n");
  }

  CommandResult run(const std::string& command, std::vector<std::string> more) const {
    std::vector<std::string> arguments = {TANDEM_COMMAND, command, "--schema", schema_, "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::run_command(arguments);
  }
  CommandResult synth(const std::string& out, std::vector<std::string> more) const {
    std::vector<std::string> all = {"--epsilon", "5", "--delta", "0.001",
                                    "--seed",    "3", "--out",   dir_ / out};
    all.insert(all.end(), more.begin(), more.end());
    return run("synth", all);
  }
  std::vector<std::string> of(const std::string& source) const {
    return {"--private", source, "--mechanism", "dual-query", "--workload", kConjunctions};
  }
  void expect_refused(const CommandResult& result, const std::vector<std::string>& parts) const {
    EXPECT_EQ(result.exit_code, 2) << result.err;
    for (const auto& part : parts) EXPECT_TRUE(contains(result.err, part));
  }

  static constexpr const char* kConjunctions = "conjunctions:2:500:1";
  TempDir dir_;
  std::string text_;
  std::string file_;
  std::string gzip_;
  std::string schema_;
};

TEST_F(Pairs, BecomeAReleaseOfPairsThatEvaluateJudges) {
  const auto made = synth("release", of("pairs:" + file_));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string rows = read_file(dir_ / "release/synthetic.csv");
  EXPECT_TRUE(rows.starts_with("user,item\n"));
  EXPECT_TRUE(contains(rows, "i0\n"));
  const auto release = Document::parse_json(read_file(dir_ / "release/release.json"), "release");
  EXPECT_TRUE(release.at("pairs").as_bool());
  EXPECT_NEAR(release.at("rows").as_number(), kUsers, 60.0);
  // Who has no line is no row, so the number of rows is not public.
  EXPECT_TRUE(release.at("guarantee").at("person_may_be_absent").as_bool());
  EXPECT_GT(release.at("steps")
                .as_array()
                .front()
                .at("measured")
                .as_array()
                .front()
                .at("sigma")
                .as_number(),
            0.0);

  const auto judged = run("evaluate", {"--private", "pairs:" + gzip_, "--synthetic",
                                       "pairs:" + (dir_ / "release/synthetic.csv"), "--workload",
                                       kConjunctions, "--json"});
  ASSERT_EQ(judged.exit_code, 0) << judged.err;
  const auto numbers = Document::parse_json(judged.out, "stdout");
  EXPECT_EQ(numbers.at("rows").at("real").as_integer(), kUsers);
  EXPECT_LT(numbers.at("mean_error").as_number(), 0.1);
  EXPECT_LT(numbers.at("max_error").as_number(), 0.5);
  EXPECT_EQ(numbers.at("repaired").at("max_error").as_number(),
            numbers.at("max_error").as_number());
}

std::size_t pieces_of(const std::string& text, const std::string& piece) {
  std::size_t count = 0;
  for (auto at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++count;
  return count;
}

TEST_F(Pairs, AreRefittedAsPairs) {
  ASSERT_EQ(synth("first", of("pairs:" + file_)).exit_code, 0);
  const auto refitted =
      test::run_command({TANDEM_COMMAND, "refit", dir_ / "first", "--out", dir_ / "second",
                         "--where", "i1 = 1", "--rows", "50", "--seed", "1", "--quiet"});
  ASSERT_EQ(refitted.exit_code, 0) << refitted.err;
  const std::string rows = read_file(dir_ / "second/synthetic.csv");
  EXPECT_TRUE(rows.starts_with("user,item\n"));
  EXPECT_EQ(pieces_of(rows, ",i1\n"), 50);
  const auto judged = run("evaluate", {"--private", "pairs:" + file_, "--synthetic",
                                       "pairs:" + (dir_ / "second/synthetic.csv"), "--workload",
                                       kConjunctions, "--json"});
  EXPECT_EQ(judged.exit_code, 0) << judged.err;
}

// The rows are their own, and still far from what is stated.
TEST_F(Pairs, AreJudgedByTheAnswersThatAWorkloadStates) {
  const auto judged =
      run("evaluate", {"--private", "pairs:" + file_, "--synthetic", "pairs:" + file_, "--workload",
                       dir_.write("stated.txt", "i1!=1 & i2!=1, 1\ni2=1, 0.25\n"), "--json"});
  ASSERT_EQ(judged.exit_code, 0) << judged.err;
  EXPECT_GT(Document::parse_json(judged.out, "stdout").at("max_error").as_number(), 0.1);
}

TEST_F(Pairs, ZippedAreTheSame) {
  ASSERT_EQ(synth("plain", of("pairs:" + file_)).exit_code, 0);
  ASSERT_EQ(synth("zipped", of("pairs:" + gzip_)).exit_code, 0);
  EXPECT_EQ(read_file(dir_ / "plain/synthetic.csv"), read_file(dir_ / "zipped/synthetic.csv"));
}

TEST_F(Pairs, AreAnswered) {
  const auto answered = run("answer", {"--private", "pairs:" + gzip_, "--mechanism", "perturb",
                                       "--workload", kConjunctions, "--epsilon", "5", "--delta",
                                       "0.001", "--seed", "1", "--out", dir_ / "answers"});
  ASSERT_EQ(answered.exit_code, 0) << answered.err;
  EXPECT_GT(std::ranges::count(read_file(dir_ / "answers/answers.csv"), '\n'), 400);
}

TEST_F(Pairs, AreCompared) {
  const auto compared =
      run("compare", {"--private", "pairs:" + gzip_, "--mechanisms", "dual-query,perturb",
                      "--epsilons", "5", "--delta", "0.001", "--seeds", "1", "--workload",
                      kConjunctions, "--threads", "1", "--out", dir_ / "comparison"});
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  const std::string results = read_file(dir_ / "comparison/results.csv");
  EXPECT_EQ(std::ranges::count(results, '\n'), 3) << results;
}

TEST_F(Pairs, OddPrivateLinesAreNobodysAndNoError) {
  const std::string odd = dir_.write("odd.csv", text_ + "u1,unknown\n,i3\nu2\n\nu3,i1,more\n");
  EXPECT_EQ(synth("odd", of("pairs:" + odd)).exit_code, 0);
}

TEST_F(Pairs, WhatDoesNotGoTogetherIsASentence) {
  const std::string pairs = "pairs:" + file_;
  expect_refused(synth("r", {"--private", pairs}),
                 {"list of pairs", "--mechanism dual-query", "--workload conjunctions:3:20000:1"});
  expect_refused(
      synth("r", {"--private", pairs, "--workload", kConjunctions, "--mechanism", "aim"}),
      {"aim works on marginals"});
  auto more = of(pairs);
  more.insert(more.end(), {"--person", "user"});
  expect_refused(synth("r", more), {"--person", "users as people"});
  more = of(pairs);
  more.insert(more.end(), {"--public", pairs});
  expect_refused(synth("r", more), {"read as private data", "give a table here"});
  more = of(pairs);
  more.insert(more.end(), {"--memory-limit", "1MB"});
  expect_refused(synth("r", more), {"may need", "--memory-limit"});
  expect_refused(synth("r", of("pairs:" + (dir_ / "none.csv"))), {"none.csv"});
  expect_refused(synth("r", of("pairs:" + dir_.write("headless.csv", "anna,i1\n"))),
                 {"does not begin with the line 'user,item'"});
  expect_refused(run("evaluate", {"--private", pairs, "--synthetic", file_}), {"pairs:FILE twice"});
  expect_refused(run("evaluate", {"--private", pairs, "--synthetic", pairs, "--group-by", "i1"}),
                 {"--group-by"});
  expect_refused(
      run("evaluate", {"--private", pairs, "--synthetic", pairs, "--workload", "all-1way"}),
      {"asked conjunctions"});
  expect_refused(run("evaluate", {"--private", pairs, "--synthetic",
                                  "pairs:" + dir_.write("bad.csv", "user,item\nu1,other\n"),
                                  "--workload", kConjunctions}),
                 {"line 2 has the item 'other'"});
  for (const std::string workload : {"conjunctions:3:0:1", "conjunctions:61:5:1:positive"}) {
    expect_refused(
        synth("r", {"--private", pairs, "--mechanism", "dual-query", "--workload", workload}),
        {"onjunction"});
  }
  expect_refused(synth("r", {"--private", pairs, "--mechanism", "dual-query", "--workload",
                             dir_.write("queries.txt", "i1=1 & i99=1\n")}),
                 {"line 1", "i99"});
  expect_refused(synth("r", {"--private", pairs, "--mechanism", "dual-query", "--workload",
                             dir_.write("values.txt", "i1=7\n")}),
                 {"line 1", "7"});
}

TEST_F(Pairs, HaveNothingWhereNothingIsAsked) {
  std::vector<std::string> more = of("pairs:" + file_);
  more.back() = dir_.write("one.txt", "i1=1\n");
  ASSERT_EQ(synth("zeros", more).exit_code, 0);
  more.insert(more.end(), {"--param", "free=random"});
  ASSERT_EQ(synth("random", more).exit_code, 0);
  const std::string zeros = read_file(dir_ / "zeros/synthetic.csv");
  EXPECT_FALSE(contains(zeros, ",i2\n"));
  EXPECT_TRUE(contains(read_file(dir_ / "random/synthetic.csv"), ",i2\n"));
}

// What the refusal of a table too wide says is a command that works.
TEST(WideTables, AreToldOfDualQueryWhichTakesThem) {
  const TempDir dir;
  const std::string schema =
      dir.write("schema.toml", "[[columns]]\nprefix = 'i'\ncount = 600\nsize = 2\n");
  std::string rows;
  for (int column = 0; column < 600; ++column)
    rows += (column > 0 ? ",i" : "i") + std::to_string(column);
  rows += '\n';
  for (int row = 0; row < 50; ++row) {
    for (int column = 0; column < 600; ++column) {
      rows += std::string(column > 0 ? "," : "") + ((row * column) % 7 < 3 ? "1" : "0");
    }
    rows += '\n';
  }
  const std::vector<std::string> command = {
      TANDEM_COMMAND, "synth",  "--quiet",   "--private", dir.write("wide.csv", rows),
      "--schema",     schema,   "--epsilon", "1",         "--delta",
      "0.001",        "--seed", "1",         "--out",     dir / "release"};
  const auto refused = test::run_command(command);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(
      contains(refused.err, "--mechanism dual-query with --workload conjunctions:3:20000:1"));
  auto instead = command;
  instead.insert(instead.end(),
                 {"--mechanism", "dual-query", "--workload", "conjunctions:3:20000:1"});
  const auto made = test::run_command(instead);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(std::ranges::count(read_file(dir / "release/synthetic.csv"), '\n'), 51);
}

TEST_F(Pairs, AreToldOfConjunctionsWhereMarginalsWouldBeTooMany) {
  const std::string wide =
      dir_.write("wide.toml", "[[columns]]\nprefix = 'i'\ncount = 600\nsize = 2\n");
  const auto refused = test::run_command({TANDEM_COMMAND, "synth", "--quiet", "--schema", wide,
                                          "--private", "pairs:" + file_, "--epsilon", "1",
                                          "--delta", "0.001", "--out", dir_ / "wide"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.err, "A list of pairs is asked conjunctions"));
}

TEST_F(Pairs, TenMillionColumnsAreRefusedBeforeReading) {
  const std::string wide =
      dir_.write("wide.toml", "[[columns]]\nprefix = 'i'\ncount = 10000000\nsize = 2\n");
  const auto refused = test::run_command(
      {TANDEM_COMMAND, "synth", "--quiet", "--schema", wide, "--private", "pairs:" + file_,
       "--mechanism", "dual-query", "--workload", "conjunctions:3:100:1", "--epsilon", "1",
       "--delta", "0.001", "--out", dir_ / "wide"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.err, "1,048,576"));
}

}  // namespace
}  // namespace tandem
