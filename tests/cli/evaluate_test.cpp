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
#include "support/misread.h"
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
    std::vector<std::string> arguments = {TANDEM_COMMAND, "evaluate", "--private", real_,
                                          "--synthetic",  synthetic_, "--schema",  schema_};
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
  EXPECT_EQ(keys_of(json), (std::vector<std::string>{"format",    "internal",
                                                     "workload",  "queries",
                                                     "marginals", "avg_workload_error",
                                                     "max_error", "mean_error",
                                                     "rmse",      "k_marginal_score",
                                                     "rows",      "repaired",
                                                     "yardstick", "columns",
                                                     "pairs",     "quantiles",
                                                     "group_by",  "groups",
                                                     "rules",     "relations",
                                                     "findings"}));
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

TEST_F(Evaluate, KnowsTheRealTableAsPrivateOrReal) {
  const auto one = run({"--json"}).out;
  EXPECT_EQ(test::run_command({TANDEM_COMMAND, "evaluate", "--real", real_, "--synthetic",
                               synthetic_, "--schema", schema_, "--json"})
                .out,
            one);
}

TEST_F(Evaluate, TakesUpToThreeColumnsTogetherWithoutAWorkload) {
  schema_ = dir_.write("two.json", R"({"a": 2, "b": 3})");
  const auto json = Document::parse_json(run({"--json"}).out, "stdout");
  EXPECT_EQ(json.at("workload").as_string(), "all-2way");
}

// ---- Raw values ---------------------------------------------------------------------------------

TEST_F(Evaluate, ARealValueThatFitsNowhereIsLikeNoMadeValue) {
  real_ = dir_.write("odd.csv", "a,b,c\n0,0,0\n0,-7,1\n0,1,secret\n1,2,9\n");
  synthetic_ = dir_.write("s.csv", "a,b,c\n0,0,0\n0,0,1\n0,1,0\n1,2,1\n");
  const auto json = Document::parse_json(run({"--json", "--workload", "all-1way"}).out, "stdout");
  // b: 1/4 each of 0, 1, 2 and none of these, against 1/2, 1/4, 1/4. c: 1/4, 1/4, 1/2 unfit.
  EXPECT_DOUBLE_EQ(json.at("avg_workload_error").as_number(), (0.0 + 0.5 + 1.0) / 3.0);
  EXPECT_EQ(json.at("queries").as_integer(), 7 + 2);
  // As a release reads it, -7 is 0, 'secret' is 0 and 9 is 1.
  EXPECT_DOUBLE_EQ(json.at("repaired").at("avg_workload_error").as_number(), 0.0);
  const auto& worst = json.at("columns").as_array()[0];
  EXPECT_EQ(worst.at("column").as_string(), "c");
  EXPECT_DOUBLE_EQ(worst.at("error").as_number(), 1.0);
  EXPECT_EQ(worst.at("real").at("unfit").as_integer(), 2);
  EXPECT_EQ(json.at("findings").as_array()[0].at("kind").as_string(), "unfit");
}

TEST_F(Evaluate, NumbersBeyondTheBoundsAreNotTheBound) {
  schema_ = dir_.write("n.toml", "[[column]]\nname='n'\nkind='integer'\nmin=0\nmax=9\nbins=2\n");
  real_ = dir_.write("real.csv", "n\n3\n8\n12\n99\n");
  synthetic_ = dir_.write("s.csv", "n\n3\n8\n9\n9\n");
  auto json = Document::parse_json(run({"--json"}).out, "stdout");
  EXPECT_DOUBLE_EQ(json.at("avg_workload_error").as_number(), 1.0);
  EXPECT_DOUBLE_EQ(json.at("repaired").at("avg_workload_error").as_number(), 0.0);
  // A table equals itself, beyond its bounds too.
  synthetic_ = real_;
  json = Document::parse_json(run({"--json"}).out, "stdout");
  EXPECT_DOUBLE_EQ(json.at("avg_workload_error").as_number(), 0.0);
  EXPECT_EQ(json.at("columns").as_array()[0].at("synthetic").at("above").as_integer(), 2);
}

TEST_F(Evaluate, OtherIsWhatTheSchemaCallsIt) {
  schema_ = dir_.write("o.toml", "[[column]]\nname='c'\nvalues=['x','y']\nother='other'\n");
  real_ = dir_.write("real.csv", "c\nx\ny\nz\nw\n");
  synthetic_ = dir_.write("s.csv", "c\nx\ny\nother\nother\n");
  const auto json = Document::parse_json(run({"--json"}).out, "stdout");
  EXPECT_EQ(json.at("avg_workload_error").as_number(), 0.0);
  EXPECT_EQ(json.at("columns").as_array()[0].at("real").at("other").as_integer(), 2);
}

TEST_F(Evaluate, CountsBrokenRulesOfBothTables) {
  schema_ = dir_.write("rules.toml",
                       "[[column]]\nname='a'\nsize=2\n[[column]]\nname='b'\nsize=3\n"
                       "[[column]]\nname='c'\nsize=2\n[[rule]]\nif='a = 1'\nthen='b = 0'\n");
  const auto json = Document::parse_json(run({"--json"}).out, "stdout");
  const auto& rule = json.at("rules").as_array()[0];
  EXPECT_EQ(rule.at("rule").as_string(), "if a = 1 then b = 0");
  EXPECT_EQ(rule.at("real").as_integer(), 1);
  EXPECT_EQ(rule.at("synthetic").as_integer(), 1);
  EXPECT_TRUE(contains(run().out, "rows that break a rule"));
}

TEST_F(Evaluate, ComparesQuantilesOfRawValues) {
  schema_ = dir_.write("q.toml",
                       "[[column]]\nname='n'\nkind='integer'\nmin=0\nmax=999\nbins=2\n"
                       "[[column]]\nname='d'\nkind='date'\nmin='2020-01-01'\nmax='2020-12-31'\n"
                       "bins=2\nnull=''\n");
  std::string real = "n,d\n";
  for (int i = 1; i <= 100; ++i) real += std::to_string(i * 3) + ",2020-02-01\n";
  real_ = dir_.write("real.csv", real + "1200,2021-03-01\nx,\n");
  synthetic_ = dir_.write("s.csv", "n,d\n100,2020-06-01\n200,2020-07-01\n");
  const auto json = Document::parse_json(run({"--json"}).out, "stdout");
  std::string n;
  std::string d;
  for (const auto& item : json.at("quantiles").as_array()) {
    (item.at("column").as_string() == "n" ? n : d) = item.to_json();
  }
  EXPECT_EQ(n,
            R"({"column":"n","real":{"values":101,"sampled":false,"points":)"
            R"([3.0,18.0,78.0,153.0,228.0,288.0,1200.0]},"synthetic":{"values":2,"sampled":false,)"
            R"("points":[100.0,100.0,100.0,100.0,200.0,200.0,200.0]}})");
  EXPECT_TRUE(contains(d, R"("2020-02-01","2021-03-01"])"));
  const auto text = run().out;
  for (const char* part : {"least", "1200", "2021-03-01", "2020-07-01"}) {
    EXPECT_TRUE(contains(text, part));
  }
}

TEST_F(Evaluate, JudgesGroupsByThemselves) {
  std::string real = "a,b,c\n";
  std::string made = real;
  for (int i = 0; i < 150; ++i) {
    real += "0,1,0\n1,2,0\n";
    made += "0,1,0\n1,0,1\n";
  }
  real_ = dir_.write("real.csv", real + "1,0,0\n");
  synthetic_ = dir_.write("s.csv", made);
  const auto json = Document::parse_json(run({"--json", "--group-by", "a"}).out, "stdout");
  EXPECT_EQ(json.at("group_by").to_json(), R"(["a"])");
  const auto& groups = json.at("groups").as_array();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].to_json(), R"({"values":["1"],"real_rows":151,"synthetic_rows":150,)"
                                 R"("error":2.0,"small":false})");
  EXPECT_EQ(groups[1].at("error").as_number(), 0.0);
  const auto two = Document::parse_json(run({"--json", "--group-by", "a, b"}).out, "stdout");
  EXPECT_TRUE(contains(two.at("groups").to_json(), R"({"values":["1","0"],"real_rows":1,)"));
  EXPECT_TRUE(contains(run({"--group-by", "a,b"}).out, "small"));
  expect_refusal({"--group-by", "'aa'"}, {"--group-by", "aa"});
}

TEST_F(Evaluate, GivesTheContestsScoreOfGroups) {
  std::string real = "a,b,c\n";
  std::string made = real;
  for (int i = 0; i < 150; ++i) {
    real += "0,1,0\n1,2,0\n";
    made += i < 140 ? "0,1,0\n1,0,1\n" : "1,0,1\n";
  }
  real_ = dir_.write("real.csv", real);
  synthetic_ = dir_.write("s.csv", made);
  const std::string map = dir_ / "heat.csv";
  const auto json = Document::parse_json(
      run({"--json", "--group-by", "a", "--pairs", "50", "--heat-map", map}).out, "stdout");
  const Document& contest = json.at("contest");
  EXPECT_EQ(contest.at("error").as_number(), 1.0);
  EXPECT_EQ(contest.at("penalised").as_number(), 0.0);
  EXPECT_EQ(contest.at("pairs").as_number(), 1.0);
  EXPECT_EQ(test::read_file(map),
            "# INTERNAL: computed from the real table; not for publication\n"
            "a,real_rows,synthetic_rows,l1,error\n0,150,140,0,0\n1,150,150,2,2\n");
  expect_refusal({"exists", "--force"}, {"--group-by", "a", "--heat-map", map});
  run({"--group-by", "a", "--heat-map", map, "--force"});
  expect_refusal({"--heat-map", "is read"},
                 {"--group-by", "a", "--heat-map", dir_ / "./real.csv", "--force"});
  EXPECT_EQ(test::read_file(real_), real);
  const std::string picture = dir_ / "heat.svg";
  run({"--group-by", "a", "--heat-map", picture});
  EXPECT_TRUE(contains(test::read_file(picture), "Error of each group of rows, by a"));
  EXPECT_TRUE(contains(test::read_file(picture), "INTERNAL"));
  const auto strict = Document::parse_json(
      run({"--json", "--group-by", "a", "--pairs", "all", "--count-penalty", "9"}).out, "stdout");
  EXPECT_EQ(strict.at("contest").at("error").as_number(), 2.0);
  EXPECT_EQ(strict.at("contest").at("penalised").as_number(), 1.0);
  EXPECT_TRUE(contains(run({"--group-by", "a", "--pairs", "all"}).out, "The contest's score of 2"));
  expect_refusal({"--pairs is of groups", "--group-by"}, {"--pairs", "5"});
  expect_refusal({"--heat-map is of groups", "--group-by"}, {"--heat-map", dir_ / "new.csv"});
  for (const char* pairs : {"0", "0.5", "2.9", "-1"}) {
    expect_refusal({"--pairs", "a whole number from 1, or all"},
                   {"--group-by", "a", "--pairs=" + std::string(pairs)});
  }
  expect_refusal({"--pairs", "many"}, {"--group-by", "a", "--pairs", "many"});
  expect_refusal({"--count-penalty", "few"}, {"--group-by", "a", "--count-penalty", "few"});
  expect_refusal({"--group-by", "no pair"}, {"--group-by", "a,b", "--pairs", "all"});
}

TEST_F(Evaluate, SaysWhatSampleTheTableIsAsGoodAs) {
  // A sample of a fifth of the real rows is as good as a sample of a fifth.
  std::string real = "a,b,c\n";
  std::string made = real;
  unsigned state = 7;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 1664525U + 1013904223U;
    const unsigned x = state >> 16;
    const std::string row = std::to_string(x % 2) + "," + std::to_string(x / 2 % 3) + "," +
                            std::to_string(x / 6 % 5 == 0 ? 1 : 0) + "\n";
    real += row;
    if (state % 1000 < 200) made += row;
  }
  real_ = dir_.write("real.csv", real);
  synthetic_ = dir_.write("s.csv", made);
  const auto json = Document::parse_json(run({"--json"}).out, "stdout");
  const auto& same = json.at("yardstick").at("equivalent").at("avg_workload_error");
  EXPECT_EQ(same.at("side").as_string(), "within");
  // One sample of three columns alone: within a factor of two.
  EXPECT_NEAR(std::log2(same.at("fraction").as_number() / 0.2), 0.0, 1.0);
  EXPECT_TRUE(contains(run().out, "% sample\n"));
  synthetic_ = real_;
  EXPECT_TRUE(contains(run().out, "more than a 99% sample"));
}

// The first screen names what is wrong: each of these scored 984 or more of 1000 when real values
// were compared as they had been repaired.
class EvaluateMisread : public testing::Test {
 protected:
  TempDir dir_;
  std::string schema_ = dir_.write("schema.toml", test::kPatientSchema);

  void expect_named(const std::string& content, const std::vector<std::string>& named,
                    double most_points, const std::vector<std::string>& more = {}) const {
    const auto real = dir_.write("real.csv", content);
    // What a release of the table as it is read looks like.
    std::vector<std::string> synth = {TANDEM_COMMAND, "synth",      "--private",  real,
                                      "--schema",     schema_,      "--epsilon",  "1000",
                                      "--delta",      "1e-6",       "--workload", "all-2way",
                                      "--out",        dir_ / "out", "--force"};
    synth.insert(synth.end(), more.begin(), more.end());
    ASSERT_EQ(test::run_command(synth).exit_code, 0);
    std::vector<std::string> call = {TANDEM_COMMAND, "evaluate",    "--private",
                                     real,           "--synthetic", dir_ / "out/synthetic.csv",
                                     "--schema",     schema_};
    call.insert(call.end(), more.begin(), more.end());
    const auto text = test::run_command(call).out;
    const auto first_screen = text.substr(0, text.find("as good as"));
    EXPECT_TRUE(contains(first_screen, "WRONG"));
    for (const auto& part : named) EXPECT_TRUE(contains(first_screen, part));
    call.emplace_back("--json");
    const auto json = Document::parse_json(test::run_command(call).out, "stdout");
    EXPECT_LT(json.at("k_marginal_score").as_number(), most_points);
    EXPECT_GT(json.at("repaired").at("k_marginal_score").as_number(), 950.0);
  }
};

TEST_F(EvaluateMisread, NamesTheEncoding) {
  expect_named(test::patients(2000, {.latin1 = true}),
               {"values of 'ward' do not fit the schema ('", "encoding = \"latin-1\""}, 700.0);
}

TEST_F(EvaluateMisread, NamesTheDecimalMark) {
  expect_named(test::patients(2000, {.decimal_comma = true}),
               {"all 2,000 values of 'kilos' do not fit", "decimal = \",\""}, 600.0,
               {"--delimiter", ";"});
}

TEST_F(EvaluateMisread, NamesCapitals) {
  expect_named(test::patients(2000, {.lower_case = true}),
               {"all 2,000 values of 'sex' do not fit the schema ('f', 'm')", "'f' is 'F'"}, 600.0);
}

TEST_F(EvaluateMisread, NamesCodes) {
  expect_named(test::patients(2000, {.coded = true}),
               {"all 2,000 values of 'sex' do not fit the schema ('0', '1')", "codes"}, 600.0);
}

TEST_F(EvaluateMisread, NamesLineFeedsInsideQuotes) {
  expect_named(
      test::patients(2000, {.line_feeds = true}),
      {"250 line feeds stand inside the quotes of 'note'", "2,000 records are read as 2,250 rows"},
      850.0);
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
  expect_refusal({"'postgresql://host/db'", ".csv"});
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
      test::run_command({TANDEM_COMMAND, "evaluate", "--private", folder + "/priv.csv",
                         "--synthetic", folder + "/pub.csv", "--schema", folder + "/domain.json",
                         "--workload", "all-3way", "--json"});
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
