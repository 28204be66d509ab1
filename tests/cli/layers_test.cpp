// SPDX-License-Identifier: Apache-2.0
// scripts/check_layers.py, on copies of the sources into which a forbidden include was planted.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/command.h"
#include "support/errors.h"
#include "support/files.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using test::CommandResult;
using test::contains;

class Layers : public testing::Test {
 protected:
  Layers() {
    const fs::path from = TANDEM_SOURCE_DIR;
    fs::copy(from / "src", root_.path() / "src", fs::copy_options::recursive);
    fs::copy(from / "SECURITY.md", root_.path() / "SECURITY.md");
  }

  void include(const std::string& header, const std::string& into) const {
    std::ofstream(root_ / ("src/tandem/" + into), std::ios::app)
        << "#include \"tandem/" << header << "\"\n";
  }

  CommandResult check() const {
    return test::run_command({"/usr/bin/env", "python3",
                              TANDEM_SOURCE_DIR "/scripts/check_layers.py", root_.path().string()});
  }

  test::TempDir root_{test::in_memory()};
};

TEST_F(Layers, HoldForTheSourcesAsTheyAre) {
  const auto result = check();
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(Layers, NoMechanismOrModelReachesWhatOpensFiles) {
  include("data/csv.h", "mechanism/aim.cpp");
  include("data/csv_tokenizer.h", "model/pgm/junction_tree.h");  // which includes csv.h
  const auto result = check();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "mechanism/aim.cpp: reaches rows through"));
  EXPECT_TRUE(contains(result.err, "model/pgm/junction_tree.cpp: reaches rows through"));
  EXPECT_TRUE(contains(result.err, "data/csv_tokenizer.h -> data/csv.h"));
}

TEST_F(Layers, WhatAPrivateRowPassesThroughIsOnTheListOfTrustedFiles) {
  root_.write("src/tandem/data/new_step.h", "#pragma once\n");
  include("data/new_step.h", "data/csv_parser.cpp");
  const auto result = check();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "data/new_step: a private row may pass through it"));
}

TEST_F(Layers, TheListIsTheOneOfTheSecurityPage) {
  std::string page = test::read_file(root_ / "SECURITY.md");
  const std::string name = "`csv_tokenizer`";
  ASSERT_NE(page.find(name), std::string::npos);
  page.erase(page.find(name), name.size());
  root_.write("SECURITY.md", page);
  const auto result = check();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "does not name data/csv_tokenizer"));
}

}  // namespace
}  // namespace tandem
