// SPDX-License-Identifier: Apache-2.0
// tandem answer as a user calls it: plans, answers, targets, and trouble.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/document.h"
#include "tandem/privacy/ledger.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using test::CommandResult;
using test::contains;
using test::read_file;
using test::TempDir;

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream in(read_file(path));
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// The last four fields of a line; the query before them may hold no comma here.
std::vector<double> numbers_of(const std::string& line) {
  std::istringstream in(line);
  std::string field;
  std::getline(in, field, ',');
  std::vector<double> out;
  while (std::getline(in, field, ',')) out.push_back(std::strtod(field.c_str(), nullptr));
  return out;
}

class AnswerCommand : public testing::Test {
 protected:
  AnswerCommand() {
    std::string rows = "sex,age,area\n";
    for (int r = 0; r < 600; ++r) {
      rows += (r % 3 == 0 ? "F," : "M,") + std::to_string(r % 10) + ',' +
              std::string(1, static_cast<char>('a' + r * r % 4)) + '\n';
    }
    private_ = dir_.write("private.csv", rows);
    schema_ = dir_.write("schema.toml",
                         "[[column]]\nname = 'sex'\nvalues = ['F', 'M']\n"
                         "[[column]]\nname = 'age'\nkind = 'integer'\nmin = 0\nmax = 9\n"
                         "[[column]]\nname = 'area'\nvalues = ['a', 'b', 'c', 'd']\n");
    workload_ = dir_.write("tables.toml",
                           "[[group]]\nname = 'age by sex'\nmarginals = [['age', 'sex']]\n"
                           "[[group]]\nname = 'ages by area'\n"
                           "products = [{columns = {age = 'ranges', area = 'values'}}]\n");
  }

  static CommandResult tandem(std::vector<std::string> call) {
    call.insert(call.begin(), TANDEM_COMMAND);
    return test::run_command(call);
  }
  CommandResult run(const std::vector<std::string>& more) const {
    std::vector<std::string> call = {"answer", "--private", private_, "--schema",
                                     schema_,  "--out",     out_};
    if (std::ranges::find(more, "--workload") == more.end()) {
      call.insert(call.end(), {"--workload", workload_});
    }
    call.insert(call.end(), more.begin(), more.end());
    return tandem(call);
  }

  // One sentence that names each of these, and nothing made or begun.
  void expect_refused(const CommandResult& result, const std::vector<std::string>& named) const {
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    for (const auto& name : named) EXPECT_TRUE(contains(result.err, name)) << result.err;
    EXPECT_FALSE(fs::exists(out_));
    EXPECT_FALSE(fs::exists(out_ + ".partial"));
  }

  TempDir dir_{test::in_memory()};
  std::string private_;
  std::string schema_;
  std::string workload_;
  std::string out_ = dir_ / "release";
};

TEST_F(AnswerCommand, WritesAnswersWithErrorBarsAndChargesALedger) {
  const std::string ledger = dir_ / "people.ledger";
  ASSERT_EQ(tandem({"budget", "create", "--ledger", ledger, "--dataset", "people", "--epsilon", "2",
                    "--delta", "1e-9"})
                .exit_code,
            0);
  const auto result = run({"--epsilon", "1", "--ledger", ledger});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "answers.csv")) << result.out;
  const auto lines = lines_of(out_ + "/answers.csv");
  ASSERT_EQ(lines.size(), 1U + 20U + 55U * 4U);
  EXPECT_EQ(lines[0], "query,estimate,stddev,ci95_low,ci95_high");
  EXPECT_TRUE(lines[1].starts_with("age by sex: sex=F & age=0,")) << lines[1];
  EXPECT_TRUE(lines[21].starts_with("ages by area: age=0 & area=a,")) << lines[21];
  EXPECT_TRUE(lines[25].starts_with("ages by area: age=0..1 & area=a,")) << lines[25];
  const auto numbers = numbers_of(lines[1]);
  ASSERT_EQ(numbers.size(), 4U);
  EXPECT_GT(numbers[1], 0.0);
  EXPECT_NEAR(numbers[3] - numbers[0], 1.96 * numbers[1], 0.01 * numbers[1]);
  EXPECT_NEAR(numbers[0] - numbers[2], 1.96 * numbers[1], 0.01 * numbers[1]);
  EXPECT_FALSE(fs::exists(out_ + "/synthetic.csv"));
  EXPECT_FALSE(fs::exists(out_ + "/model.bin"));
  const Document release = Document::read(out_ + "/release.json");
  EXPECT_EQ(release.at("answers").as_integer(), 240);
  EXPECT_EQ(release.at("mechanism").as_string(), "hdmm");
  EXPECT_NEAR(Ledger::open(ledger).report().total.epsilon.value(), 1.0, 1e-6);
  const auto again = tandem({"answer", "--resume", "--out", out_});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "already whole"));
  EXPECT_EQ(run({"--epsilon", "1.9", "--force", "--ledger", ledger}).exit_code, 3);
}

TEST_F(AnswerCommand, PlansTheErrorOfEachGroupThatTheAnswersThenState) {
  const auto plan = run({"--epsilon", "1", "--plan", "--json"});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  const Document document = Document::parse_json(plan.out, "the plan");
  double rmse = 0.0;
  std::vector<std::string> groups;
  for (const auto& step : document.at("plan").at("steps").as_array()) {
    if (step.at("key").as_string() == "group") groups.push_back(step.at("name").as_string());
    if (step.at("key").as_string() == "rmse") rmse = step.at("rmse").as_number();
  }
  EXPECT_EQ(groups, (std::vector<std::string>{"age by sex", "ages by area"}));
  EXPECT_FALSE(fs::exists(out_));
  ASSERT_EQ(run({"--epsilon", "1"}).exit_code, 0);
  double squares = 0.0;
  const auto lines = lines_of(out_ + "/answers.csv");
  for (std::size_t i = 1; i < lines.size(); ++i) squares += std::pow(numbers_of(lines[i])[1], 2);
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(lines.size() - 1)), rmse, 1e-3 * rmse);
}

TEST_F(AnswerCommand, FindsTheEpsilonForAnError) {
  for (const char* delta : {"0", "1e-9"}) {
    const std::vector<std::string> call = {"--target-error", "0.02", "--rows", "600",
                                           "--delta",        delta,  "--plan", "--json"};
    const auto plan = run(call);
    ASSERT_EQ(plan.exit_code, 0) << plan.err;
    EXPECT_TRUE(contains(plan.err, "takes epsilon")) << plan.err;
    const Document document = Document::parse_json(plan.out, "the plan");
    const double rmse = document.at("plan").at("steps").as_array().back().at("rmse").as_number();
    EXPECT_LE(rmse, 0.02 * 600.0 * 1.0001);
    EXPECT_GT(rmse, 0.02 * 600.0 * 0.99);
  }
}

// The line of a query.
std::string line_of(const std::vector<std::string>& lines, const std::string& query) {
  for (const auto& line : lines) {
    if (line.starts_with(query + ",")) return line;
  }
  return "no " + query;
}

TEST_F(AnswerCommand, TakesAnswersFromAModelWithTheErrorBarsOfWhatWasMeasured) {
  const auto result = run({"--epsilon", "1", "--mechanism", "independent"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto lines = lines_of(out_ + "/answers.csv");
  ASSERT_EQ(lines.size(), 241U);
  // Single columns were measured. A range of all ages in an area is one; ages by sex are not.
  EXPECT_TRUE(lines[1].ends_with(",,,")) << lines[1];
  const auto told = numbers_of(line_of(lines, "ages by area: age=0..9 & area=a"));
  ASSERT_EQ(told.size(), 4U);
  EXPECT_NEAR(told[3] - told[2], 2.0 * 1.96 * told[1], 0.01 * told[1]);
  EXPECT_LT(told[2], 300.0 + 5.0 * told[1]);
  EXPECT_GT(told[3], 300.0 - 5.0 * told[1]);
  EXPECT_FALSE(fs::exists(out_ + "/synthetic.csv"));
}

TEST_F(AnswerCommand, AnswersFromAReleaseThatIsThereFreeOfCharge) {
  ASSERT_EQ(run({"--epsilon", "1"}).exit_code, 0);
  const std::string out = dir_ / "more";
  const auto from = [&](const std::vector<std::string>& more) {
    std::vector<std::string> call = {"answer", "--release", out_, "--out", out};
    call.insert(call.end(), more.begin(), more.end());
    return tandem(call);
  };
  const std::string ages = dir_.write("ages.toml",
                                      "[[group]]\nname = 'ages'\n"
                                      "products = [{columns = {age = 'prefixes'}}]\n");
  const auto result = from({"--workload", ages});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "nothing more")) << result.out;
  EXPECT_TRUE(contains(result.out, "10, all with an interval")) << result.out;
  const auto lines = lines_of(out + "/answers.csv");
  ASSERT_EQ(lines.size(), 11U);
  // Everybody: exactly known, for the number of rows is public.
  EXPECT_EQ(lines[10], "ages: age=0..9,600,0,600,600");
  const auto young = numbers_of(lines[3]);
  EXPECT_NEAR(young[0], 180.0, 5.0 * young[1]);
  const Document made = Document::read(out + "/release.json");
  const Document former = Document::read(out_ + "/release.json");
  EXPECT_EQ(made.at("guarantee").to_json(), former.at("guarantee").to_json());
  EXPECT_EQ(made.at("answers").as_integer(), 10);
  EXPECT_EQ(made.at("facts").at("answers_with_intervals").as_integer(), 10);
  fs::remove_all(out);
  const auto refused = [&](const CommandResult& call, const std::string& part) {
    EXPECT_EQ(call.exit_code, 2) << call.err;
    EXPECT_EQ(std::ranges::count(call.err, '\n'), 1) << call.err;
    EXPECT_TRUE(contains(call.err, part)) << call.err;
    EXPECT_FALSE(fs::exists(out));
  };
  refused(from({"--workload", "all-3way"}), "no model to answer it");
  refused(from({"--workload", ages, "--epsilon", "1"}), "--epsilon does not go with --release");
  refused(from({"--workload", "conjunctions:2:10:1"}), "names no marginals");
  refused(tandem({"answer", "--release", out_, "--workload", ages}), "--out is missing");
  refused(tandem({"answer", "--release", dir_ / "nowhere", "--out", out}), "is no release folder");
}

TEST_F(AnswerCommand, AnswersFromAReleaseOfRowsByItsModel) {
  const std::vector<std::string> synth = {
      "synth",       "--private", private_,     "--schema", schema_, "--epsilon", "1",
      "--mechanism", "mst",       "--workload", "all-2way", "--out", out_};
  ASSERT_EQ(tandem(synth).exit_code, 0);
  const std::string out = dir_ / "more";
  const auto result = tandem({"answer", "--release", out_, "--workload", workload_, "--out", out});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto lines = lines_of(out + "/answers.csv");
  ASSERT_EQ(lines.size(), 241U);
  for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_GE(numbers_of(lines[i])[0], 0.0);
  EXPECT_GT(numbers_of(line_of(lines, "ages by area: age=0..9 & area=a"))[1], 0.0);
  EXPECT_FALSE(fs::exists(out + "/model.bin"));
  // A model of some rows, beside measurements of all, is no place to answer from.
  const std::string women = dir_ / "women";
  ASSERT_EQ(tandem({"refit", out_, "--out", women, "--where", "sex = F"}).exit_code, 0);
  fs::remove_all(out);
  const auto of_women =
      tandem({"answer", "--release", women, "--workload", "all-1way", "--out", out});
  EXPECT_EQ(of_women.exit_code, 2);
  EXPECT_TRUE(contains(of_women.err, "holds only rows with sex = F")) << of_women.err;
}

TEST_F(AnswerCommand, ConsistentAnswersAreCountsOfATable) {
  for (const std::string kind : {"nonnegative", "integer"}) {
    const auto result =
        run({"--epsilon", "0.2", "--seed", "1", "--force", "--param", "consistent=" + kind});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto lines = lines_of(out_ + "/answers.csv");
    double of_area = 0.0;
    bool moved = false;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const auto numbers = numbers_of(lines[i]);
      EXPECT_GE(numbers[0], 0.0) << lines[i];
      if (kind == "integer") {
        EXPECT_EQ(numbers[0], std::round(numbers[0])) << lines[i];
      }
      moved = moved || std::abs(0.5 * (numbers[2] + numbers[3]) - numbers[0]) > 0.1;
      if (lines[i].starts_with("ages by area: age=0..9")) of_area += numbers[0];
    }
    EXPECT_NEAR(of_area, 600.0, 0.01);
    EXPECT_TRUE(moved) << "intervals are those of the unbiased answers";
  }
  fs::remove_all(out_);
  expect_refused(run({"--epsilon", "1", "--param", "consistent=odd"}), {"consistent", "none"});
}

TEST_F(AnswerCommand, RefusesBadInputInOneSentenceBeforeSpending) {
  const auto with = [&](const std::string& text) {
    return run({"--epsilon", "1", "--workload", dir_.write("bad.toml", text)});
  };
  expect_refused(run({"--epsilon", "1", "--workload", "all-range:sex"}), {"'sex'", "no order"});
  expect_refused(with("[[group]]\nname = 'x'\nproducts = [{columns = {area = 'ranges'}}]\n"),
                 {"'area'", "no order"});
  expect_refused(with("[[group]]\nname = 'x'\nmarginals = [['age']]\n"
                      "[[group]]\nname = 'x'\nmarginals = [['sex']]\n"),
                 {"repeats 'x'"});
  expect_refused(with("[[group]]\nname = 'x'\nweight = 0\nmarginals = [['age']]\n"),
                 {"weight is 0"});
  expect_refused(run({"--epsilon", "1", "--workload", "conjunctions:2:10:1"}), {"conjunctions"});
  expect_refused(run({}), {"--epsilon"});
  expect_refused(run({"--target-error", "0.01"}), {"--rows is missing"});
  expect_refused(run({"--target-error", "0", "--rows", "600"}), {"--target-error is 0"});
  expect_refused(run({"--target-error", "0.001", "--rows", "600", "--epsilon", "0.1"}),
                 {"--target-error 0.001 takes epsilon", "at most 0.1"});
  expect_refused(run({"--target-error", "0.1", "--rows", "600", "--mechanism", "independent"}),
                 {"independent can't plan its error"});
  expect_refused(run({"--epsilon", "1", "--delta", "0", "--param", "noise=gaussian"}), {"pure"});
}

TEST_F(AnswerCommand, RefusesABillionAnswersBeforeAnyWork) {
  const auto columns_of = [&](int size) {
    std::string text;
    for (const char* name : {"u", "v", "w"}) {
      text += std::string("[[column]]\nname = '") + name +
              "'\nkind = 'integer'\nmin = 1\nmax = " + std::to_string(size) + "\n";
    }
    schema_ = dir_.write("wide.toml", text);
  };
  columns_of(300);
  workload_ = dir_.write("ranges.toml",
                         "[[group]]\nname = 'x'\n"
                         "products = [{columns = {u = 'ranges', v = 'ranges'}}]\n");
  expect_refused(run({"--epsilon", "1"}), {"2038522500 queries", "coarser"});
  columns_of(1000);
  workload_ = dir_.write("cells.toml", "[[group]]\nname = 'x'\nmarginals = [['u', 'v', 'w']]\n");
  expect_refused(run({"--epsilon", "1"}), {"1,000,000,000 cells", "coarser"});
  columns_of(140);
  workload_ = dir_.write("ranges.toml",
                         "[[group]]\nname = 'x'\n"
                         "products = [{columns = {u = 'ranges', v = 'ranges'}},\n"
                         "{columns = {u = 'ranges', w = 'ranges'}}]\n");
  for (const char* mechanism : {"auto", "independent"}) {
    expect_refused(run({"--epsilon", "1", "--mechanism", mechanism}), {"1.95e+08 answers"});
  }
  expect_refused(run({"--epsilon", "1", "--plan"}), {"1.95e+08 answers", "smaller"});
}

}  // namespace
}  // namespace tandem
