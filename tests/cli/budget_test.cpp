// SPDX-License-Identifier: Apache-2.0
// tandem budget: create, show and verify, as a user calls them.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/document.h"
#include "tandem/privacy/ledger.h"

namespace tandem {
namespace {

using test::CommandResult;
using test::contains;
using test::TempDir;

std::vector<std::string> keys_of(const Document& document) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.as_object()) keys.push_back(key);
  return keys;
}

class BudgetCommand : public testing::Test {
 protected:
  CommandResult budget(std::vector<std::string> more) const {
    more.insert(more.begin(), {TANDEM_COMMAND, "budget"});
    return test::run_command(more);
  }
  CommandResult create(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> call = {"create", "--ledger",  ledger_, "--dataset",
                                     "people", "--epsilon", "2"};
    call.insert(call.end(), more.begin(), more.end());
    return budget(call);
  }
  Document json(const std::vector<std::string>& call) const {
    const auto result = budget(call);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return Document::parse_json(result.out, "stdout");
  }
  static void expect_error(const CommandResult& result, int exit_code,
                           const std::vector<std::string>& named) {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.err.starts_with("tandem: ")) << result.err;
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    for (const auto& name : named) EXPECT_TRUE(contains(result.err, name));
  }
  void make_release(const std::string& out) const {
    dir_.write("private.csv", "a,b\n0,1\n1,1\n1,0\n");
    dir_.write("schema.json", R"({"a": 2, "b": 2})");
    const auto result =
        test::run_command({TANDEM_COMMAND, "synth", "--private", dir_ / "private.csv", "--schema",
                           dir_ / "schema.json", "--epsilon", "0.5", "--workload", "all-1way",
                           "--ledger", ledger_, "--out", out, "--certify-share", "0"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  TempDir dir_{test::in_memory()};
  std::string ledger_ = dir_ / "people.ledger";
};

TEST_F(BudgetCommand, CreatesWhatItShows) {
  const auto created =
      create({"--delta", "1e-8", "--neighbors", "add-remove", "--rows-per-person", "3"});
  EXPECT_EQ(created.exit_code, 0) << created.err;
  EXPECT_TRUE(contains(created.out, "people"));
  EXPECT_TRUE(contains(created.out, "add-remove, 3 rows per person"));
  EXPECT_TRUE(contains(created.out, "epsilon 2 at delta 1e-08"));
  EXPECT_EQ(budget({"show", "--ledger", ledger_}).out, created.out);
}

TEST_F(BudgetCommand, ShowsTheDocumentedJson) {
  ASSERT_EQ(create().exit_code, 0);
  make_release(dir_ / "release");
  const Document shown = json({"show", "--ledger", ledger_, "--json"});
  EXPECT_EQ(keys_of(shown),
            (std::vector<std::string>{"format", "dataset", "created", "neighbors",
                                      "rows_per_person", "limit", "spent", "reserved", "total",
                                      "left", "head", "warnings", "runs"}));
  EXPECT_EQ(shown.at("format").as_integer(), 1);
  EXPECT_EQ(keys_of(shown.at("limit")), (std::vector<std::string>{"epsilon", "delta"}));
  for (const char* sum : {"spent", "reserved", "total"}) {
    EXPECT_EQ(keys_of(shown.at(sum)), (std::vector<std::string>{"epsilon", "composition"}));
  }
  EXPECT_EQ(keys_of(shown.at("left")),
            (std::vector<std::string>{"pure_epsilon", "epsilon", "rho"}));
  ASSERT_EQ(shown.at("runs").as_array().size(), 1U);
  const Document& run = shown.at("runs").as_array()[0];
  EXPECT_EQ(keys_of(run), (std::vector<std::string>{"id", "time", "mechanism", "label", "state",
                                                    "steps", "reserved", "spent"}));
  EXPECT_EQ(run.at("mechanism").as_string(), "tandem");
  EXPECT_EQ(run.at("state").as_string(), "settled");
  EXPECT_NEAR(shown.at("total").at("epsilon").as_number(), 0.5, 1e-6);
  EXPECT_LE(shown.at("total").at("epsilon").as_number(), 0.5);
}

TEST_F(BudgetCommand, WarnsOfALimitThatKeepsHardlyAnything) {
  const auto large = budget({"create", "--ledger", dir_ / "large", "--dataset", "people",
                             "--epsilon", "25", "--delta", "1e-9"});
  EXPECT_EQ(large.exit_code, 0) << large.err;
  EXPECT_TRUE(contains(large.out, "Warning: epsilon 25 is above 20")) << large.out;
  ASSERT_EQ(create().exit_code, 0);
  EXPECT_EQ(budget({"show", "--ledger", ledger_}).out.find("Warning"), std::string::npos);
}

TEST_F(BudgetCommand, VerifiesAWholeLedgerAndTheHeadsThatReleasesCite) {
  ASSERT_EQ(create().exit_code, 0);
  make_release(dir_ / "release");
  const std::string head =
      Document::read(dir_ / "release/release.json").at("ledger").at("head").as_string();
  const auto good = budget({"verify", "--ledger", ledger_, "--anchor", head});
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_TRUE(contains(good.out, "The ledger is whole"));
  const Document whole = json({"verify", "--ledger", ledger_, "--json"});
  EXPECT_EQ(keys_of(whole),
            (std::vector<std::string>{"format", "whole", "entries", "head", "fault"}));
  EXPECT_TRUE(whole.at("whole").as_bool());
  EXPECT_TRUE(whole.at("fault").is_null());
  const auto bad = budget({"verify", "--ledger", ledger_, "--anchor", std::string(64, 'a')});
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_TRUE(contains(bad.out, "NOT whole"));
}

TEST_F(BudgetCommand, FindsARestoredBackup) {
  ASSERT_EQ(create().exit_code, 0);
  std::filesystem::copy(ledger_, dir_ / "backup");
  make_release(dir_ / "release");
  const std::string head =
      Document::read(dir_ / "release/release.json").at("ledger").at("head").as_string();
  std::filesystem::copy(dir_ / "backup", ledger_,
                        std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(budget({"verify", "--ledger", ledger_}).exit_code, 0);
  EXPECT_EQ(budget({"verify", "--ledger", ledger_, "--anchor", head}).exit_code, 3);
}

TEST_F(BudgetCommand, FindsADamagedFile) {
  ASSERT_EQ(create().exit_code, 0);
  std::string bytes = test::read_file(ledger_);
  const auto at = bytes.find("people");
  ASSERT_NE(at, std::string::npos);
  bytes[bytes.rfind("people")] = 'P';
  dir_.write("people.ledger", bytes);
  const auto result = budget({"verify", "--ledger", ledger_});
  EXPECT_TRUE(result.exit_code == 2 || result.exit_code == 3) << result.exit_code;
  dir_.write("people.ledger", bytes.substr(0, bytes.size() / 2));
  expect_error(budget({"show", "--ledger", ledger_}), 2, {ledger_});
}

TEST_F(BudgetCommand, NeverReplacesALedger) {
  ASSERT_EQ(create().exit_code, 0);
  const std::string before = test::read_file(ledger_);
  expect_error(create(), 2, {ledger_});
  EXPECT_EQ(test::read_file(ledger_), before);
}

TEST_F(BudgetCommand, RefusesCallsThatAreWrong) {
  expect_error(budget({}), 2, {"action"});
  expect_error(budget({"create"}), 2, {"--ledger"});
  expect_error(budget({"burn", "--ledger", ledger_}), 2,
               {"'burn'", "create, show, limit, verify or settle"});
  expect_error(budget({"create", "--ledger", ledger_}), 2, {"--dataset"});
  expect_error(budget({"create", "--ledger", ledger_, "--dataset", "d"}), 2, {"--epsilon"});
  expect_error(create({"--delta", "1"}), 2, {"delta"});
  expect_error(create({"--delta", "-0.1"}), 2, {"delta"});
  expect_error(create({"--neighbors", "all"}), 2, {"'all'"});
  expect_error(create({"--rows-per-person", "0"}), 2, {"--rows-per-person"});
  expect_error(budget({"create", "--ledger", ledger_, "--dataset", "d", "--epsilon", "nan"}), 2,
               {"--epsilon"});
  EXPECT_FALSE(std::filesystem::exists(ledger_));
  expect_error(budget({"show", "--ledger", dir_ / "none"}), 2, {dir_ / "none"});
  expect_error(budget({"verify", "--ledger", dir_ / "none"}), 2, {dir_ / "none"});
  expect_error(budget({"show", "--ledger", dir_.write("text", "no ledger")}), 2, {dir_ / "text"});
  expect_error(budget({"create", "--ledger", "/proc/people", "--dataset", "d", "--epsilon", "1"}),
               1, {"/proc/people"});
}

}  // namespace
}  // namespace tandem
