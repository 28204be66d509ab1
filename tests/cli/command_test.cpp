// SPDX-License-Identifier: Apache-2.0
// The command as a whole: help, versions and calls that are wrong.

#include "support/command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/errors.h"
#include "tandem/base/version.h"

namespace tandem {
namespace {

using test::CommandResult;
using test::contains;

CommandResult run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TANDEM_COMMAND);
  return test::run_command(arguments);
}

TEST(Command, HelpsEverywhere) {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"--help"},
                                             {"-h"},
                                             {"evaluate", "--help"},
                                             {"evaluate", "-h"},
                                             {"mechanisms", "--help"},
                                             {"evaluate", "--private", "x", "--help"}}) {
    const auto result = run(arguments);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(contains(result.out, "Usage: "));
    EXPECT_EQ(result.err, "");
  }
  EXPECT_TRUE(contains(run({"evaluate", "--help"}).out, "--synthetic"));
}

TEST(Command, HelpListsItsCommands) {
  const auto help = run({"--help"}).out;
  for (const char* name : {"evaluate", "mechanisms"}) EXPECT_TRUE(contains(help, name));
}

TEST(Command, TellsItsVersion) {
  const auto result = run({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "tandem " + std::string(version()) + "\n");
}

TEST(Command, RefusesCallsThatAreWrongInOneLine) {
  const struct {
    std::vector<std::string> arguments;
    std::string named;
  } cases[] = {
      {{"synthesize"}, "synthesize"},
      {{"--frobnicate"}, "--frobnicate"},
      {{"evaluate"}, "--private"},
      {{"evaluate", "--private", "a", "--synthetic", "b"}, "--schema"},
      {{"evaluate", "--private"}, "--private"},
      {{"evaluate", "--private", "a", "--synthetic", "b", "--schema", "c", "--bogus"}, "--bogus"},
      {{"evaluate", "--private", "a", "--synthetic", "b", "--schema", "c", "more"}, "more"},
      {{"evaluate", "--private", "a", "--synthetic", "b", "--schema", "c", "--threads", "x"},
       "--threads"},
      {{"evaluate", "--private", "a", "--synthetic", "b", "--schema", "c", "--threads", "-1"},
       "--threads"},
      {{"evaluate", "--private", "a", "--synthetic", "b", "--schema", "c", "--threads", "5000"},
       "--threads"},
  };
  for (const auto& [arguments, named] : cases) {
    const auto result = run(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.err.starts_with("tandem: "));
    EXPECT_TRUE(contains(result.err, named));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  }
}

TEST(Command, KeepsItsExitCodeWhenNobodyCanReadItsErrors) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  for (const char* to : {"/dev/full", "&-"}) {
    const auto result =
        test::run_command({"/bin/sh", "-c", std::string("'") + TANDEM_COMMAND + "' synth 2>" + to});
    EXPECT_EQ(result.exit_code, 2) << to;
  }
}

TEST(Command, FailsWhenItsOutputCannotBeWritten) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  for (const char* arguments : {"--help", "--version", "mechanisms", "mechanisms --help"}) {
    const auto result = test::run_command(
        {"/bin/sh", "-c", std::string("'") + TANDEM_COMMAND + "' " + arguments + " >/dev/full"});
    EXPECT_EQ(result.exit_code, 1) << arguments;
    EXPECT_TRUE(contains(result.err, "The output can't be written"));
  }
}

}  // namespace
}  // namespace tandem
