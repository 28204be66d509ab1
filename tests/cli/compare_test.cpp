// SPDX-License-Identifier: Apache-2.0
// tandem compare: its table, its file of results, and what is left of it after an interruption.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/document.h"
#include "tandem/base/text.h"

namespace tandem {
namespace {

using test::contains;
using test::read_file;
using test::TempDir;

class Compare : public testing::Test {
 protected:
  static std::string rows() {
    std::string out = "a,b,c\n";
    for (int i = 0; i < 300; ++i) {
      out += std::to_string(i % 2) + "," + std::to_string(i % 3) + "," + std::to_string(i % 5 % 2) +
             "\n";
    }
    return out;
  }

  test::CommandResult run(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {
        TANDEM_COMMAND, "compare", "--private", table_,    "--schema", schema_,      "--epsilons",
        "0.5,5",        "--out",   out_,        "--seeds", "2",        "--workload", "all-2way"};
    if (std::ranges::find(more, "--threads") == more.end()) {
      arguments.insert(arguments.end(), {"--threads", "2"});
    }
    if (std::ranges::find(more, "--mechanisms") == more.end()) {
      arguments.insert(arguments.end(), {"--mechanisms", "independent"});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::run_command(arguments);
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    const std::string text = read_file(out_ + "/results.csv");
    for (const auto line : split(text, '\n')) {
      if (!line.empty()) out.emplace_back(line);
    }
    return out;
  }

  TempDir dir_;
  std::string table_ = dir_.write("table.csv", rows());
  std::string schema_ = dir_.write("domain.json", R"({"a": 2, "b": 3, "c": 2})");
  std::string out_ = dir_ / "comparison";
};

TEST_F(Compare, JudgesConjunctionsAlsoWhereOnlyAnswersAreReleased) {
  const auto result = test::run_command({TANDEM_COMMAND, "compare", "--private", table_, "--schema",
                                         schema_, "--epsilons", "5", "--out", out_, "--seeds", "1",
                                         "--workload", "conjunctions:2:50:1", "--mechanisms",
                                         "dual-query,perturb", "--threads", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto results = lines();
  ASSERT_EQ(results.size(), 3U);
  for (std::size_t i = 1; i < results.size(); ++i) EXPECT_EQ(split(results[i], ',').size(), 16U);
}

TEST_F(Compare, WritesTheDocumentedResults) {
  const auto result = run();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("INTERNAL"));
  EXPECT_TRUE(contains(result.out, "eps 0.5"));
  const auto results = lines();
  ASSERT_EQ(results.size(), 5U);
  EXPECT_EQ(results[0],
            "data,public,mechanism,parameters,epsilon,delta,neighbors,seed,model_avg_error,"
            "model_max_error,model_mean_error,rows_avg_error,rows_max_error,rows_mean_error,"
            "seconds,peak_mb");
  std::set<std::string> runs;
  for (std::size_t i = 1; i < results.size(); ++i) {
    const auto fields = split(results[i], ',');
    ASSERT_EQ(fields.size(), 16U);
    EXPECT_EQ(fields[0], table_);
    EXPECT_EQ(fields[2], "independent");
    runs.insert(std::string(fields[4]) + "/" + std::string(fields[7]));
    for (std::size_t f = 8; f < 16; ++f) EXPECT_TRUE(parse_number(fields[f])) << fields[f];
  }
  EXPECT_EQ(runs, (std::set<std::string>{"0.5/1", "0.5/2", "5/1", "5/2"}));
  EXPECT_TRUE(Document::read(out_ + "/comparison.json").at("internal").as_bool());
}

TEST_F(Compare, JsonHoldsMeansAndStandardErrors) {
  const auto result = run({"--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = Document::parse_json(result.out, "stdout");
  EXPECT_TRUE(json.at("internal").as_bool());
  ASSERT_EQ(json.at("cells").as_array().size(), 2U);
  const auto& cell = json.at("cells").as_array()[1];
  EXPECT_EQ(cell.at("epsilon").as_number(), 5.0);
  EXPECT_EQ(cell.at("seeds").as_integer(), 2);
  EXPECT_LT(cell.at("model_avg_error").at("mean").as_number(), 0.5);
  EXPECT_GE(cell.at("rows_max_error").at("standard_error").as_number(), 0.0);
  const double share = json.at("cells").as_array()[0].at("rows_as_sample").as_number();
  EXPECT_GT(share, 0.01);
  EXPECT_LT(share, 0.9);
  EXPECT_TRUE(cell.at("rows_as_sample").is_null()) << "better than all samples";
  EXPECT_EQ(json.at("samples").as_array().back().at("share").as_number(), 0.9);
  EXPECT_TRUE(json.at("public_rows").as_array().empty());
}

TEST_F(Compare, ResumesWhatIsMissingAndDropsACutLine) {
  ASSERT_EQ(run().exit_code, 0);
  const auto whole = lines();
  // As a crash leaves it: two runs, and a line cut off.
  dir_.write("comparison/results.csv", whole[0] + "\n" + whole[1] + "\n" + whole[2] + "\n" +
                                           whole[3].substr(0, whole[3].size() - 5));
  EXPECT_EQ(run().exit_code, 2);  // neither overwritten nor mixed unasked
  const auto resumed = run({"--resume"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const auto after = lines();
  ASSERT_EQ(after.size(), whole.size());
  EXPECT_EQ(after[1], whole[1]);
  EXPECT_EQ(after[2], whole[2]);
  // The same numbers as before, but for times: a run depends on its seed alone.
  const auto key = [](const std::string& line) {
    return line.substr(0, line.rfind(',', line.rfind(',') - 1));
  };
  std::set<std::string> before_keys;
  std::set<std::string> after_keys;
  for (const auto& line : whole) before_keys.insert(key(line));
  for (const auto& line : after) after_keys.insert(key(line));
  EXPECT_EQ(after_keys, before_keys);
  EXPECT_EQ(run({"--resume", "--rows-per-person", "2"}).exit_code, 2);
  EXPECT_EQ(run({"--force"}).exit_code, 0);
}

TEST_F(Compare, DrawsWhatItMeasured) {
  // The same rows in another order, so that they are no copy.
  const std::string body = rows().substr(6);
  const std::string public_rows =
      dir_.write("<public>.csv", "a,b,c\n" + body.substr(6) + body.substr(0, 6));
  const auto result = run({"--public", public_rows, "--title", "Made & real"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.err, out_ + "/figure.svg"));
  EXPECT_TRUE(contains(result.out, "rows as good as a random sample of this share"));
  EXPECT_TRUE(contains(result.out, "50% of the real rows"));
  EXPECT_TRUE(contains(result.out, "<public>.csv as it is"));
  const std::string figure = read_file(out_ + "/figure.svg");
  EXPECT_TRUE(contains(figure, ">INTERNAL: "));
  EXPECT_TRUE(contains(figure, ">Made &amp; real<"));
  EXPECT_TRUE(contains(figure, ">independent<"));
  EXPECT_TRUE(contains(figure, ">public rows as they are<"));
  EXPECT_TRUE(contains(read_file(out_ + "/figure-dark.svg"), "#0d1117"));
  EXPECT_TRUE(contains(read_file(out_ + "/yardsticks.csv"), "public,<public>.csv,0,300,0,0,0"));

  // Nothing is missing, and the figure is drawn all the same: on one thread the same bytes.
  dir_.write("comparison/figure.svg", "old");
  ASSERT_EQ(run({"--public", public_rows, "--title", "Made & real", "--resume", "--threads", "1"})
                .exit_code,
            0);
  EXPECT_EQ(read_file(out_ + "/figure.svg"), figure);
}

TEST_F(Compare, OfAPublishedTableNothingIsStamped) {
  ASSERT_EQ(run({"--published"}).exit_code, 0);
  EXPECT_FALSE(contains(read_file(out_ + "/figure.svg"), "INTERNAL"));
  EXPECT_FALSE(Document::read(out_ + "/comparison.json").at("internal").as_bool());
  EXPECT_EQ(run({"--resume"}).exit_code, 2) << "a folder has one stamp";
  const auto again = run({"--published", "--resume", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_FALSE(Document::parse_json(again.out, "stdout").at("internal").as_bool());
  EXPECT_FALSE(std::filesystem::exists(out_ + "/INTERNAL.txt"));
  ASSERT_EQ(run({"--force"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(out_ + "/INTERNAL.txt"));
}

TEST_F(Compare, RefusesWhatMakesNoSense) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--mechanisms", "magic"}, "'magic'"}, {{"--mechanisms", "independent:speed=9"}, "'speed'"},
      {{"--metric", "best"}, "'best'"},       {{"--rows-per-person", "0"}, "rows-per-person"},
      {{"--delta", "2"}, "--delta"},
  };
  for (const auto& [more, part] : cases) {
    const auto result = run(more);
    EXPECT_EQ(result.exit_code, 2) << part;
    EXPECT_TRUE(contains(result.err, part));
  }
}

}  // namespace
}  // namespace tandem
