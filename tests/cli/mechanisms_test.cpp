// SPDX-License-Identifier: Apache-2.0
// tandem mechanisms: the list, for people and for programs.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/command.h"
#include "support/errors.h"
#include "tandem/base/document.h"
#include "tandem/mechanism/registry.h"

namespace tandem {
namespace {

using test::contains;

std::vector<std::string> keys_of(const Document& document) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.as_object()) keys.push_back(key);
  return keys;
}

TEST(MechanismsCommand, ListsEveryMechanismToPeople) {
  const auto result = test::run_command({TANDEM_COMMAND, "mechanisms"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  for (const auto& mechanism : all_mechanisms()) {
    EXPECT_TRUE(contains(result.out, mechanism.name + "\n"));
    EXPECT_TRUE(contains(result.out, mechanism.summary));
    EXPECT_TRUE(contains(result.out, mechanism.reference));
    for (const auto& option : mechanism.options) EXPECT_TRUE(contains(result.out, option.name));
  }
}

TEST(MechanismsCommand, ListsTheSameToPrograms) {
  const auto result = test::run_command({TANDEM_COMMAND, "mechanisms", "--json"});
  EXPECT_EQ(result.exit_code, 0);
  const Document json = Document::parse_json(result.out, "stdout");
  EXPECT_EQ(keys_of(json), (std::vector<std::string>{"format", "mechanisms"}));
  EXPECT_EQ(json.at("format").as_integer(), 1);
  const auto& list = json.at("mechanisms").as_array();
  const auto all = all_mechanisms();
  ASSERT_EQ(list.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(keys_of(list[i]),
              (std::vector<std::string>{"name", "summary", "reference", "guarantee", "pure",
                                        "needs_public_data", "public_data", "parameters"}));
    EXPECT_EQ(list[i].at("name").as_string(), all[i].name);
    EXPECT_EQ(list[i].at("pure").as_bool(), all[i].pure);
    ASSERT_EQ(list[i].at("parameters").as_array().size(), all[i].options.size());
    for (const auto& option : list[i].at("parameters").as_array()) {
      EXPECT_EQ(keys_of(option), (std::vector<std::string>{"name", "type", "default", "help"}));
    }
  }
}

TEST(MechanismsCommand, SaysWhichNeedPublicDataAndWhichItHelps) {
  const auto text = test::run_command({TANDEM_COMMAND, "mechanisms"}).out;
  const Document json = Document::parse_json(
      test::run_command({TANDEM_COMMAND, "mechanisms", "--json"}).out, "stdout");
  const auto expect = [&](const std::string& name, const std::string& use) {
    SCOPED_TRACE(name);
    const auto entry = text.substr(text.find("\n" + name + "\n") + 1);
    EXPECT_TRUE(contains(entry.substr(0, entry.find("\n  from:")), "; public data: " + use));
    for (const auto& mechanism : json.at("mechanisms").as_array()) {
      if (mechanism.at("name").as_string() != name) continue;
      EXPECT_EQ(mechanism.at("public_data").as_string(), use);
      EXPECT_EQ(mechanism.at("needs_public_data").as_bool(), use == "needed");
    }
  };
  expect("tandem", "helps");
  expect("mw-pub", "needed");
  expect("mwem-pub", "needed");
  expect("jam-pgm", "needed");
  expect("aim", "not used");
  expect("mst", "not used");
}

TEST(MechanismsCommand, TakesNothingElse) {
  const auto result = test::run_command({TANDEM_COMMAND, "mechanisms", "--bogus"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(contains(result.err, "--bogus"));
}

}  // namespace
}  // namespace tandem
