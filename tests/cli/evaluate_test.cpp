// SPDX-License-Identifier: Apache-2.0
// tandem evaluate, from files to figures and from bad files to one-line errors.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/command.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/document.h"

namespace tandem {
namespace {

using test::CommandResult;
using test::contains;
using test::TempDir;

class Evaluate : public testing::Test {
 protected:
  TempDir dir_;
  std::string schema_ = dir_.write("domain.json", R"({"a": 2, "b": 3, "c": 2})");
  std::string real_ = dir_.write("real.csv", "a,b,c\n0,0,0\n0,0,1\n0,1,0\n1,2,1\n");
  std::string synthetic_ = dir_.write("synthetic.csv", "c,a,b\n0,0,0\n1,1,1\n");

  CommandResult run(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {TANDEM_COMMAND, "evaluate", "--real",   real_,
                                          "--synthetic",  synthetic_, "--schema", schema_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::run_command(arguments);
  }

  // Exit code 2, nothing on stdout, one line on stderr that names each of these.
  void expect_refusal(const std::vector<std::string>& named,
                      const std::vector<std::string>& more = {}) const {
    const auto result = run(more);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.err.starts_with("tandem: "));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_LT(result.err.size(), 500U);
    for (const auto& name : named) EXPECT_TRUE(contains(result.err, name));
  }

  // The same bad file as the real and as the synthetic table.
  void expect_both_refuse(const std::string& path, const std::string& named) {
    const std::string real = std::exchange(real_, path);
    expect_refusal({path, named});
    real_ = real;
    const std::string synthetic = std::exchange(synthetic_, path);
    expect_refusal({path, named});
    synthetic_ = synthetic;
  }
};

std::vector<std::string> keys_of(const Document& document) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.as_object()) keys.push_back(key);
  return keys;
}

TEST_F(Evaluate, PrintsTheDocumentedJson) {
  const auto result = run({"--workload", "all-1way", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 1);
  const auto json = Document::parse_json(result.out, "stdout");
  EXPECT_EQ(keys_of(json), (std::vector<std::string>{"format", "internal", "workload", "queries",
                                                     "marginals", "avg_workload_error", "max_error",
                                                     "mean_error", "rmse", "k_marginal_score"}));
  EXPECT_EQ(json.at("format").as_integer(), 1);
  EXPECT_TRUE(json.at("internal").as_bool());
  EXPECT_EQ(json.at("workload").as_string(), "all-1way");
  EXPECT_EQ(json.at("queries").as_integer(), 7);
  EXPECT_EQ(json.at("marginals").as_integer(), 3);
  // a 3/4 1/4 : 1/2 1/2; b 1/2 1/4 1/4 : 1/2 1/2 0; c 1/2 1/2 : 1/2 1/2.
  EXPECT_DOUBLE_EQ(json.at("avg_workload_error").as_number(), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(json.at("max_error").as_number(), 0.25);
  EXPECT_DOUBLE_EQ(json.at("mean_error").as_number(), 1.0 / 7.0);
  EXPECT_DOUBLE_EQ(json.at("rmse").as_number(), std::sqrt(0.25 / 7.0));
}

TEST_F(Evaluate, AnswersOnThreeWayMarginalsByDefault) {
  const auto json = Document::parse_json(run({"--json"}).out, "stdout");
  EXPECT_EQ(json.at("workload").as_string(), "all-3way");
  EXPECT_EQ(json.at("marginals").as_integer(), 1);
  EXPECT_EQ(json.at("queries").as_integer(), 12);
}

TEST_F(Evaluate, PrintsTextThatSaysInternal) {
  const auto result = run();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out.starts_with("INTERNAL"));
  for (const char* key :
       {"avg_workload_error", "max_error", "mean_error", "rmse", "k_marginal_score", "all-3way"}) {
    EXPECT_TRUE(contains(result.out, key));
  }
}

TEST_F(Evaluate, GivesTheSameAtAnyThreadCount) {
  const auto first = run({"--json", "--threads", "1"}).out;
  for (const char* threads : {"0", "2", "7"}) {
    EXPECT_EQ(run({"--json", "--threads", threads}).out, first);
  }
}

TEST_F(Evaluate, ATableEqualsItself) {
  synthetic_ = real_;
  const auto json = Document::parse_json(run({"--json"}).out, "stdout");
  EXPECT_EQ(json.at("avg_workload_error").as_number(), 0.0);
  EXPECT_EQ(json.at("k_marginal_score").as_number(), 1000.0);
}

TEST_F(Evaluate, ReadsGzipTomlAndWorkloadFiles) {
  const std::string plain = run({"--json"}).out;
  real_ = dir_.write_gzip("real.csv.gz", test::read_file(real_));
  schema_ = dir_.write("schema.toml",
                       "[[column]]\nname='a'\nsize=2\n[[column]]\nname='b'\nsize=3\n"
                       "[[column]]\nname='c'\nsize=2\n");
  EXPECT_EQ(run({"--json"}).out, plain);
  const auto workload = dir_.write("w.json", R"({"marginals": [["a"], ["b", "c"]]})");
  const auto json = Document::parse_json(run({"--json", "--workload", workload}).out, "stdout");
  EXPECT_EQ(json.at("workload").as_string(), workload);
  EXPECT_EQ(json.at("queries").as_integer(), 8);
}

TEST_F(Evaluate, NotesIgnoredColumnsUnlessQuiet) {
  real_ = dir_.write("extra.csv", "a,b,note,c\n0,0,hi,0\n");
  EXPECT_EQ(run({"--json"}).err, "INTERNAL: " + real_ + ": ignored 'note', not in the schema.\n");
  EXPECT_EQ(run({"--json", "--quiet"}).err, "");
}

TEST_F(Evaluate, NeverSpeaksOfOddRowsOfTheRealTable) {
  const std::string clean = run({"--json"}).out;
  real_ = dir_.write("odd.csv", "a,b,c\n0,0,0\n0,-7,1\n0,1,secret\n9,9,9\n");
  const auto result = run({"--json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out, clean);
}

// ---- Bad input ----------------------------------------------------------------------------------

TEST_F(Evaluate, RefusesEmptyFiles) {
  expect_both_refuse(dir_.write("empty.csv", ""), "is empty");
  schema_ = dir_.write("empty.json", "");
  expect_refusal({schema_, "line 1"});
  schema_ = dir_.write("empty.toml", "");
  expect_refusal({schema_, "no columns"});
}

TEST_F(Evaluate, RefusesAHeaderAlone) {
  expect_both_refuse(dir_.write("header.csv", "a,b,c\n"), "no rows");
}

TEST_F(Evaluate, RefusesATruncatedGzip) {
  std::string rows = "a,b,c\n";
  for (int i = 0; i < 1000; ++i) rows += std::to_string(i % 2) + ",1,0\n";
  const auto whole = test::read_file(dir_.write_gzip("whole.gz", rows));
  expect_both_refuse(dir_.write("cut.csv.gz", whole.substr(0, whole.size() / 2)), "truncated");
}

TEST_F(Evaluate, RefusesBinaryRubbish) {
  std::string rubbish;
  unsigned state = 1;
  for (int i = 0; i < 10'000; ++i) {
    state = state * 1664525U + 1013904223U;
    rubbish += static_cast<char>(state >> 24);
  }
  expect_both_refuse(dir_.write("rubbish.csv",
                                "\x7f"
                                "ELF\x01" +
                                    rubbish),
                     "not a text file");
  for (const char* name : {"rubbish.json", "rubbish.toml"}) {
    schema_ = dir_.write(name, rubbish);
    expect_refusal({schema_});
  }
}

TEST_F(Evaluate, RefusesNulBytes) {
  expect_both_refuse(dir_.write("nul.csv", std::string("a,b\0,c\n0,0,0\n", 13)),
                     "control characters");
  synthetic_ = dir_.write("nul-row.csv", std::string("a,b,c\n0,0,0\n0,\0,0\n", 18));
  expect_refusal({synthetic_, "line 3", "NUL"});
}

TEST_F(Evaluate, RefusesAHugeSingleLine) {
  expect_both_refuse(dir_.write("huge.csv", std::string(20'000'000, 'a')), "line 1");
  synthetic_ = dir_.write("row.csv", "a,b,c\n0,0,0\n0,0," + std::string(20'000'000, '0') + "\n");
  expect_refusal({synthetic_, "line 3"});
}

TEST_F(Evaluate, RefusesMoreColumnsThanTheLimit) {
  std::string header = "a,b,c";
  for (int i = 0; i < 70'000; ++i) header += ",x" + std::to_string(i);
  expect_both_refuse(dir_.write("wide.csv", header + "\n"), "65,536 columns");
}

TEST_F(Evaluate, RefusesRepeatedColumnNames) {
  expect_both_refuse(dir_.write("twice.csv", "a,b,c,b\n0,0,0,0\n"), "'b'");
  schema_ = dir_.write("twice.json", R"({"a": 2, "b": 3, "a": 2})");
  expect_refusal({schema_, "'a'"});
  schema_ =
      dir_.write("twice.toml", "[[column]]\nname='a'\nsize=2\n[[column]]\nname='a'\nsize=3\n");
  expect_refusal({schema_, "'a'"});
}

TEST_F(Evaluate, RefusesAMissingColumn) {
  expect_both_refuse(dir_.write("less.csv", "a,c\n0,0\n"), "'b'");
}

TEST_F(Evaluate, RefusesACodeOutsideTheDomainOfThePublicTable) {
  synthetic_ = dir_.write("code.csv", "a,b,c\n0,0,0\n0,3,0\n");
  expect_refusal({synthetic_, "line 3", "'b'", "'3'"});
}

TEST_F(Evaluate, RefusesARaggedRowAndAnOpenQuoteOfThePublicTable) {
  synthetic_ = dir_.write("ragged.csv", "a,b,c\n0,0,0\n0,1\n");
  expect_refusal({synthetic_, "line 3"});
  synthetic_ = dir_.write("quote.csv", "a,b,c\n0,0,0\n0,\"1,0\n0,0,0\n");
  expect_refusal({synthetic_, "line 3"});
}

TEST_F(Evaluate, RefusesAWorkloadOfAMissingColumn) {
  const auto workload = dir_.write("w.toml", "marginals = [['a'], ['b', 'bb']]\n");
  expect_refusal({workload, "marginals[2][2]", "'bb'"}, {"--workload", workload});
}

TEST_F(Evaluate, RefusesAWorkloadItDoesNotKnow) {
  expect_refusal({"'some-3way'", "all-3way"}, {"--workload", "some-3way"});
  expect_refusal({"4-way"}, {"--workload", "all-4way"});
  expect_refusal({dir_ / "none.json"}, {"--workload", dir_ / "none.json"});
}

TEST_F(Evaluate, RefusesADomainWhoseProductOverflows) {
  schema_ = dir_.write("wide.json", R"({"a": 2147483648, "b": 2147483648, "c": 2147483648})");
  expect_refusal({"'a', 'b' and 'c'", "overflow"});
}

TEST_F(Evaluate, RefusesMissingFilesAndFolders) {
  expect_both_refuse(dir_ / "none.csv", "can't be opened");
  expect_both_refuse(dir_.path().string(), "is a folder");
  const std::string schema = std::exchange(schema_, dir_ / "none.json");
  expect_refusal({schema_, "can't be opened"});
  schema_ = dir_.path().string();
  expect_refusal({schema_, "is a folder"});
  schema_ = dir_ / std::string(5000, 's');
  EXPECT_EQ(run().exit_code, 2);
}

TEST_F(Evaluate, RefusesSourcesItCannotRead) {
  real_ = "postgresql://user@host/db?table=t";
  expect_refusal({real_, ".csv"});
}

TEST_F(Evaluate, ErrorsOfTheRealTableNeverQuoteItsRows) {
  for (const char* text : {"a,\"b\nsecret,1,2\n\",c\n", "a,b\nsecret,1\n", "a,b,c,c\nsecret\n"}) {
    real_ = dir_.write("private.csv", text);
    const auto result = run();
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_FALSE(contains(result.err, "secret")) << result.err;
  }
}

// ---- Real data ----------------------------------------------------------------------------------

// How far the public data alone is from the private: known from an independent computation.
double public_error(const std::string& folder) {
  const auto result =
      test::run_command({TANDEM_COMMAND, "evaluate", "--real", folder + "/priv.csv", "--synthetic",
                         folder + "/pub.csv", "--schema", folder + "/domain.json", "--workload",
                         "all-3way", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Document::parse_json(result.out, "stdout").at("avg_workload_error").as_number();
}

TEST(EvaluateRealData, AdultWithAFairPublicSampleHasTheKnownError) {
  TANDEM_REAL_DATA(folder, "jam/adult_pub025");
  EXPECT_NEAR(public_error(folder), 0.188, 0.0005);
}

TEST(EvaluateRealData, AdultWithABiasedPublicSampleHasTheKnownError) {
  TANDEM_REAL_DATA(folder, "jam/adult_pub100");
  EXPECT_NEAR(public_error(folder), 0.802, 0.0005);
}

TEST(EvaluateRealData, TitanicHasTheKnownError) {
  TANDEM_REAL_DATA(folder, "jam/titanic");
  EXPECT_NEAR(public_error(folder), 0.470, 0.0005);
}

}  // namespace
}  // namespace tandem
