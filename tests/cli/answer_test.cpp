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

TEST_F(AnswerCommand, TakesAnswersFromAModelWithoutErrorBars) {
  const auto result = run({"--epsilon", "1", "--mechanism", "independent"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto lines = lines_of(out_ + "/answers.csv");
  ASSERT_EQ(lines.size(), 241U);
  EXPECT_TRUE(lines[1].ends_with(",,,")) << lines[1];
  EXPECT_FALSE(fs::exists(out_ + "/synthetic.csv"));
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
