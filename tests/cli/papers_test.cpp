// SPDX-License-Identifier: Apache-2.0
// What the papers' figures are made from: scripts/papers/tables.py and examples/survey67.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/files.h"
#include "tandem/data/csv.h"

namespace tandem {
namespace {

using test::read_file;

class PapersTables : public testing::Test {
 protected:
  void make(const std::string& script, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"/usr/bin/env", "python3", TANDEM_SOURCE_DIR "/" + script});
    const auto result = test::run_command(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  void tables(const std::vector<std::string>& arguments) const {
    make("scripts/papers/tables.py", arguments);
  }
  static std::vector<std::string> lines(const std::string& path) {
    std::vector<std::string> out;
    std::string line;
    for (const char c : read_file(path)) {
      if (c != '\n') {
        line += c;
        continue;
      }
      out.push_back(line);
      line.clear();
    }
    return out;
  }
  // 1,000 rows, each with a number of its own; 30 of each hundred have sex 0.
  std::string people() const {
    std::string text = "id,sex\n";
    for (int r = 0; r < 1000; ++r) {
      text += std::to_string(r) + (r % 100 / 10 < 3 ? ",0\n" : ",1\n");
    }
    return dir_.write("people.csv", text);
  }

  test::TempDir dir_;
};

TEST_F(PapersTables, ABiasedSampleHasTheSharesAskedForAndIsTheSameForTheSameSeed) {
  const auto from = people();
  for (const char* name : {"a.csv", "b.csv"}) {
    tables({"biased", from, dir_ / name, "sex", "0", "0.5", "-0.1", "7"});
  }
  tables({"biased", from, dir_ / "c.csv", "sex", "0", "0.5", "-0.1", "8"});
  const auto rows = lines(dir_ / "a.csv");
  ASSERT_EQ(rows.size(), 501U);
  EXPECT_EQ(std::ranges::count_if(rows, [](const auto& row) { return row.ends_with(",0"); }), 100);
  EXPECT_EQ(read_file(dir_ / "a.csv"), read_file(dir_ / "b.csv"));
  EXPECT_NE(read_file(dir_ / "a.csv"), read_file(dir_ / "c.csv"));
}

TEST_F(PapersTables, HalvesAreDisjointAndTogetherAll) {
  const auto from = people();
  tables({"halves", from, dir_ / "a.csv", dir_ / "b.csv", "0.9", "1"});
  tables({"fraction", from, dir_ / "c.csv", "0.01", "1"});
  const auto a = lines(dir_ / "a.csv");
  const auto b = lines(dir_ / "b.csv");
  EXPECT_EQ(a.size(), 901U);
  EXPECT_EQ(b.size(), 101U);
  std::set<std::string> all(a.begin(), a.end());
  all.insert(b.begin(), b.end());
  EXPECT_EQ(all.size(), 1001U);
  EXPECT_EQ(lines(dir_ / "c.csv").size(), 11U);
}

TEST_F(PapersTables, TheReducedAcsHasFifteenColumns) {
  const auto from = dir_.write("acs.csv",
                               "SEX,RAC1P,HISP,OWN_RENT,EDU,DVET,DREM,DPHY,DEYE,DEAR\n"
                               "2,6,0,2,N,N,N,N,2,2\n1,9,3,0,9,1,1,2,1,2\n2,1,0,1,6,N,2,2,2,1\n");
  tables({"reduced-acs", from, dir_ / "out.csv"});
  const auto rows = lines(dir_ / "out.csv");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(
      rows[0],
      "SEX,WHITE,BLACK,NATIVE,ASIAN,PACIFIC,OTHER,DEYE,DEAR,DPHY,DREM,DVET,HISP,OWN_RENT,EDU");
  EXPECT_EQ(rows[1], "1,0,0,0,1,0,0,0,0,0,0,0,0,2,0");
  EXPECT_EQ(rows[2], "0,0,0,0,0,0,1,1,0,0,1,1,1,0,3");
  EXPECT_EQ(rows[3], "1,1,0,0,0,0,0,0,1,0,0,0,0,1,2");
}

TEST_F(PapersTables, TheSurveyIsTheSameForTheSameSeedAndItsWavesDiffer) {
  for (const char* name : {"a", "b"}) {
    make("examples/survey67/make_survey.py",
         {"--out", dir_ / name, "--private-rows", "300", "--public-rows", "200"});
  }
  const auto schema = Schema::read(dir_ / "a/domain.json");
  EXPECT_EQ(schema.domain().size(), 67U);
  EXPECT_EQ(read_csv(dir_ / "a/private.csv", schema).table.rows(), 300U);
  EXPECT_EQ(read_csv(dir_ / "a/public.csv", schema).table.rows(), 200U);
  for (const char* file : {"private.csv", "public.csv", "domain.json"}) {
    EXPECT_EQ(read_file(dir_ / "a" + "/" + file), read_file(dir_ / "b" + "/" + file));
  }
}

// A page tells what was not measured, and on how many epsilons a line stands.
TEST_F(PapersTables, APageSaysWhatWasNotMeasured) {
  const std::string script = dir_.write("page.py", R"(import sys
sys.path.insert(0, sys.argv[1])
from figure import Figure, write_page
figure = Figure.__new__(Figure)
figure.lines, figure.what = [], "e"
figure.runs = {("t", who, x): {1: {"e": e}} for who, x, e in (("a", 1, "1"), ("b", 1, "2"), ("a", 2, "1"))}
figure.below("a is below b", "t", "a", "b")
figure.below("c is below b", "t", "c", "b")
write_page(sys.argv[2], [], figure.lines)
)");
  const auto result = test::run_command(
      {"/usr/bin/env", "python3", script, TANDEM_SOURCE_DIR "/scripts/papers", dir_ / "."});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto rows = lines(dir_ / "page.md");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[2], "| green | a is below b | 1: 1.000 and 2.000 (1 of 2 epsilons) |");
  EXPECT_EQ(rows[3], "| - | c is below b | not measured |");
}

}  // namespace
}  // namespace tandem
