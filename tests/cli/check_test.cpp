// SPDX-License-Identifier: Apache-2.0
// tandem check: files that fit, files that are read wrongly, and what it says of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/misread.h"
#include "tandem/base/document.h"

namespace tandem {
namespace {

using test::contains;
using test::PatientFile;
using test::patients;
using test::TempDir;

class Check : public testing::Test {
 protected:
  TempDir dir_;
  std::string schema_ = dir_.write("schema.toml", test::kPatientSchema);

  test::CommandResult run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {TANDEM_COMMAND, "check", "--schema", schema_});
    return test::run_command(arguments);
  }

  test::CommandResult check(const std::string& content, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--private", dir_.write("private.csv", content)});
    return run(more);
  }

  // Exit code 1, and a finding of this kind, column and hint that stands first.
  void expect_finding(const std::string& content, const std::string& kind,
                      const std::string& column, const std::string& hint) const {
    const auto result = check(content, {"--json"});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    const auto json = Document::parse_json(result.out, "stdout");
    EXPECT_TRUE(json.at("wrong").as_bool());
    const auto& first = json.at("files").as_array()[0].at("findings").as_array()[0];
    EXPECT_EQ(first.at("kind").as_string(), kind) << first.to_json();
    EXPECT_TRUE(first.at("wrong").as_bool());
    EXPECT_EQ(first.at("column").as_string(), column) << first.to_json();
    const auto* found = first.find("hint");
    EXPECT_EQ(found == nullptr ? "" : found->as_string(), hint) << first.to_json();
    // The first finding is the first line of the summary.
    const auto text = check(content);
    EXPECT_EQ(text.exit_code, 1);
    EXPECT_TRUE(contains(text.out, "WRONG:\n  " + first.at("text").as_string() + "\n"));
    EXPECT_TRUE(contains(first.at("text").as_string(), column));
  }
};

TEST_F(Check, OfAFileThatFitsSaysSo) {
  const auto result = check(patients(500));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(result.out.starts_with("INTERNAL"));
  EXPECT_TRUE(contains(result.out, "500 rows"));
  EXPECT_TRUE(contains(result.out, "Nothing is wrong."));
  EXPECT_TRUE(contains(result.out, "4 columns fit in every row"));
  EXPECT_TRUE(contains(result.out, "does not name 'note'"));
}

TEST_F(Check, NamesAnotherEncoding) {
  expect_finding(patients(500, {.latin1 = true}), "unfit", "ward", "encoding");
}

TEST_F(Check, NamesADecimalComma) {
  // Semicolons part the fields, as such files have them; the decimal mark is left wrong.
  const auto file = dir_.write("comma.csv", patients(500, {.decimal_comma = true}));
  const auto result = run({"--private", file, "--delimiter", ";"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.out, "WRONG:\n  all 500 values of 'kilos' do not fit the schema"));
  EXPECT_TRUE(contains(result.out, "with a decimal comma they would: decimal = \",\"."));
  EXPECT_EQ(run({"--private", file, "--delimiter", ";", "--decimal", ","}).exit_code, 0);
}

TEST_F(Check, NamesAnotherDelimiter) {
  const auto result = check(patients(500, {.decimal_comma = true}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.out, "The file lacks 'ward', 'sex', 'kilos' and 'stay'"));
  EXPECT_TRUE(contains(result.out, "It looks like delimiter = \";\", decimal = \",\"."));
}

TEST_F(Check, NamesSmallLettersForCapitals) {
  expect_finding(patients(500, {.lower_case = true}), "unfit", "sex", "case");
}

TEST_F(Check, NamesCodesForLabels) {
  expect_finding(patients(500, {.coded = true}), "unfit", "sex", "codes");
}

TEST_F(Check, NamesLineFeedsInsideQuotes) {
  expect_finding(patients(800, {.line_feeds = true}), "line-feeds", "note", "");
  const auto result = check(patients(800, {.line_feeds = true}));
  EXPECT_TRUE(contains(result.out,
                       "100 line feeds stand inside the quotes of 'note': each ends a row, so that "
                       "800 records are read as 900 rows"));
  EXPECT_TRUE(contains(result.out, "rows have fewer fields than the header"));
}

TEST_F(Check, LineFeedsInsideQuotesOfRecordsThatAreReadWholeAreNoFault) {
  const auto result = check(patients(800, {.line_feeds = true}), {"--records", "quoted", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_FALSE(contains(result.out, "line-feeds")) << result.out;
}

TEST_F(Check, ATableReadAsUtf16IsNamed) {
  std::string utf16 = "\xff\xfe";
  for (const char c : patients(50)) {
    utf16 += c;
    utf16 += '\0';
  }
  const auto result = check(utf16);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.out, "It looks like encoding = \"utf-16le\"."));
}

TEST_F(Check, SaysHowFarValuesLieBeyondTheBounds) {
  const auto result = check("ward,sex,kilos,stay\nBonn,F,50,3\nBonn,F,400,3\nBonn,F,-1,99\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.out,
                       "2 of 3 values of 'kilos' lie beyond the bounds: 1 below 0, down to -1; 1 "
                       "above 150, up to 400; each is counted at its bound."));
  EXPECT_TRUE(contains(result.out,
                       "1 of 3 values of 'stay' lie beyond the bounds: 1 above 30, up "
                       "to 99"));
}

TEST_F(Check, AFewValuesBeyondTheBoundsAreWorthKnowingAlone) {
  const auto result = check(patients(500) + "Bonn,F,x,151,3\n");
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_TRUE(contains(result.out, "1 of 501 values of 'kilos' lie beyond the bounds"));
}

TEST_F(Check, OtherIsWrongOnceItIsMostOfAColumnOrExplained) {
  schema_ = dir_.write("other.toml", "[[column]]\nname='sex'\nvalues=['F','M']\nother='x'\n");
  EXPECT_EQ(check("sex\nF\nM\nd\n").exit_code, 0);
  EXPECT_EQ(check("sex\nF\nd\nd\n").exit_code, 1);
  EXPECT_EQ(check("sex\nF\nM\nf\n").exit_code, 1);  // explained: by its capitals
  const auto result = check("sex\nf\nm\nF\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.out,
                       "2 of 3 values of 'sex' are taken as 'other' ('f', 'm'); "
                       "capitals or spaces differ: 'f' is 'F' in the schema."));
}

TEST_F(Check, CountsRaggedRows) {
  const auto result = check("ward,sex,kilos,stay\nBonn,F,50,3\nBonn,F\nBonn,F,50,3,9\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.out,
                       "1 of 3 rows have fewer fields than the header (the first on "
                       "line 3)"));
  EXPECT_TRUE(contains(result.out, "1 of 3 rows have more fields than the header"));
}

TEST_F(Check, CountsBrokenRules) {
  schema_ = dir_.write("rules.toml",
                       test::kPatientSchema + "[[rule]]\nif = \"sex = M\"\nthen = \"stay < 10\"\n");
  const auto result = check(patients(330));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.out, "10 of 330 rows break the rule 'if sex = M then stay < 10'"));
}

TEST_F(Check, CountsPeople) {
  const std::string header = "id,ward,sex,kilos,stay\n";
  std::string rows;
  for (const char* id : {"a1", "a1", "a1", "b", "", "A1", "007", "7"}) {
    rows += std::string(id) + ",Bonn,F,50,3\n";
  }
  const auto result = check(header + rows, {"--person", "id", "--rows-per-person", "2"});
  EXPECT_EQ(result.exit_code, 1);
  for (const char* part : {"5 people have 7 rows, the most of one 3.",
                           "1 person has more than 2 rows: 1 row of theirs will be dropped.",
                           "1 of 8 rows name no person: they are dropped.",
                           "4 ids differ from another in case, spaces or leading zeros alone "
                           "(lines 2 and 7, 8 and 9)"}) {
    EXPECT_TRUE(contains(result.out, part));
  }
  EXPECT_EQ(check(header + rows, {"--person", "who"}).exit_code, 2);
}

TEST_F(Check, NamesAFileThatTheSchemaWasDraftedFrom) {
  const auto file = dir_.write("drafted.csv", patients(500));
  schema_ = dir_ / "draft.toml";
  ASSERT_EQ(
      test::run_command({TANDEM_COMMAND, "schema", "--public", file, "--out", schema_}).exit_code,
      0);
  EXPECT_EQ(run({"--private", dir_.write("another.csv", patients(400))}).exit_code, 0);
  const auto result = run({"--private", dir_.write("copy.csv", patients(500))});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.out, "WRONG:\n  The schema was drafted from this very file"));
}

TEST_F(Check, PointsOutASurveyWeight) {
  const auto result = check("ward,sex,kilos,stay,PWGTP\nBonn,F,50,3,117\n");
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_TRUE(contains(result.out, "'PWGTP' may be a survey weight: tandem counts rows"));
}

TEST_F(Check, ReadsPublicFilesAsPublic) {
  // Their format is found out, and a line feed inside quotes is part of a value.
  const auto file = dir_.write(
      "public.csv", "ward;note;sex;kilos;stay\nK\xf6ln;\"a\nb\";F;50,3;3\nBonn;c;M;61,0;4\n");
  const auto result = run({"--public", file});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_TRUE(contains(result.out,
                       "public.csv (public): 2 rows, read as Latin-1, fields parted "
                       "by ';', decimal comma"));
  EXPECT_FALSE(std::filesystem::exists(schema_ + ".checked"));
}

TEST_F(Check, TakesSeveralFilesAndGzip) {
  const auto good = dir_.write_gzip("good.csv.gz", patients(100));
  const auto bad = dir_.write("bad.csv", patients(100, {.lower_case = true}));
  EXPECT_EQ(run({"--private", good, "--public", good}).exit_code, 0);
  const auto result = run({"--private", good, "--private", bad, "--json"});
  EXPECT_EQ(result.exit_code, 1);
  const auto json = Document::parse_json(result.out, "stdout");
  ASSERT_EQ(json.at("files").as_array().size(), 2U);
  EXPECT_FALSE(json.at("files").as_array()[0].at("wrong").as_bool());
  EXPECT_TRUE(json.at("files").as_array()[1].at("wrong").as_bool());
}

TEST_F(Check, HasTheDocumentedKeys) {
  const auto json =
      Document::parse_json(check(patients(20, {.lower_case = true}), {"--json"}).out, "stdout");
  const auto keys = [](const Document& document) {
    std::vector<std::string> out;
    for (const auto& [key, value] : document.as_object()) out.push_back(key);
    return out;
  };
  EXPECT_EQ(keys(json),
            (std::vector<std::string>{"format", "internal", "schema", "wrong", "files"}));
  EXPECT_TRUE(json.at("internal").as_bool());
  const auto& file = json.at("files").as_array()[0];
  EXPECT_EQ(keys(file), (std::vector<std::string>{"file", "private", "wrong", "read_as", "rows",
                                                  "findings", "columns", "records", "rules",
                                                  "relations", "rows_that_break_a_rule", "people",
                                                  "missing_columns", "ignored_columns"}));
  const auto& sex = file.at("columns").as_array()[1];
  EXPECT_EQ(keys(sex), (std::vector<std::string>{"column", "exact", "between", "other", "below",
                                                 "above", "unfit", "missing", "examples"}));
  EXPECT_EQ(sex.at("unfit").as_integer(), 20);
  const auto& example = sex.at("examples").at("unfit").as_array()[0];
  EXPECT_EQ(example.at("text").as_string(), "f");
  EXPECT_EQ(example.at("times").as_integer(), 13);
}

TEST_F(Check, GivesTheSameAtAnyThreadCount) {
  // Several blocks of a megabyte, with something odd in each.
  const auto file = dir_.write("long.csv", patients(150'000, {.line_feeds = true}));
  const auto first = run({"--private", file, "--json", "--threads", "1", "--person", "stay"}).out;
  EXPECT_GT(first.size(), 1000U);
  for (const char* threads : {"2", "5"}) {
    EXPECT_EQ(run({"--private", file, "--json", "--threads", threads, "--person", "stay"}).out,
              first);
  }
}

TEST_F(Check, RefusesWrongCalls) {
  EXPECT_EQ(run({}).exit_code, 2);
  EXPECT_EQ(run({"--private", dir_ / "none.csv"}).exit_code, 2);
  EXPECT_EQ(run({"--private", dir_.path().string()}).exit_code, 2);
  EXPECT_EQ(check(patients(5), {"--rows-per-person", "0"}).exit_code, 2);
  schema_ = dir_ / "none.toml";
  EXPECT_EQ(check(patients(5)).exit_code, 2);
}

TEST_F(Check, AFileThatIsNoTableIsAFinding) {
  for (const std::string& content : {std::string(), std::string("a\0b\n", 4), std::string("x\n")}) {
    const auto result = check(content);
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_TRUE(contains(result.out, "WRONG:"));
  }
  const auto whole = test::read_file(dir_.write_gzip("whole.gz", patients(5000)));
  const auto result =
      run({"--private", dir_.write("cut.csv.gz", whole.substr(0, whole.size() / 2))});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.out, "truncated"));
}

// ---- The stamp and the reminder -----------------------------------------------------------------

std::vector<std::string> synth(const TempDir& dir, const std::string& schema,
                               const std::string& file, const std::string& out) {
  return {TANDEM_COMMAND, "synth",    "--private",   file,         "--schema", schema,
          "--epsilon",    "1",        "--out",       dir / out,    "--delta",  "1e-6",
          "--workload",   "all-1way", "--mechanism", "independent"};
}

TEST_F(Check, SynthRemindsOnATerminalUntilTheFileWasChecked) {
  const auto file = dir_.write("private.csv", patients(200));
  const auto reminder = file + " was never checked against " + schema_;
  const auto before = test::run_on_terminal(synth(dir_, schema_, file, "one"));
  EXPECT_EQ(before.exit_code, 0) << before.err;
  EXPECT_TRUE(contains(before.err, reminder));
  EXPECT_EQ(run({"--private", file}).exit_code, 0);
  const auto after = test::run_on_terminal(synth(dir_, schema_, file, "two"));
  EXPECT_EQ(after.exit_code, 0) << after.err;
  EXPECT_EQ(after.err.find("never checked"), std::string::npos);
  for (const auto& item : std::filesystem::recursive_directory_iterator(dir_ / "two")) {
    EXPECT_NE(item.path().extension(), ".checked");
  }
}

TEST_F(Check, SynthIsSilentWhereNobodySits) {
  const auto file = dir_.write("private.csv", patients(200));
  const auto result = test::run_command(synth(dir_, schema_, file, "out"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err.find("never checked"), std::string::npos);
}

TEST_F(Check, AReleaseDoesNotSayWhichFilesTheSchemaWasDraftedFrom) {
  const auto file = dir_.write("public.csv", patients(300));
  const auto draft = dir_ / "draft.toml";
  ASSERT_EQ(
      test::run_command({TANDEM_COMMAND, "schema", "--public", file, "--out", draft}).exit_code, 0);
  ASSERT_TRUE(contains(test::read_file(draft), "drafted_from = [\""));
  const auto secret = dir_.write("private.csv", patients(200));
  ASSERT_EQ(test::run_command(synth(dir_, draft, secret, "out")).exit_code, 0);
  const auto kept = test::read_file(dir_ / "out/schema.toml");
  EXPECT_EQ(kept.find("drafted_from"), std::string::npos);
  EXPECT_TRUE(contains(kept, "[[column]]"));
}

}  // namespace
}  // namespace tandem
