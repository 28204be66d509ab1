// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

bool is_kebab_case(const std::string& name) {
  static const std::regex kKebab("[a-z][a-z0-9]*(-[a-z0-9]+)*");
  return std::regex_match(name, kKebab);
}

TEST(Registry, NamesAreUniqueAndInKebabCase) {
  std::set<std::string> names;
  for (const auto& mechanism : all_mechanisms()) {
    EXPECT_TRUE(names.insert(mechanism.name).second) << mechanism.name;
    EXPECT_TRUE(is_kebab_case(mechanism.name)) << mechanism.name;
    EXPECT_NE(mechanism.name, "auto");
    std::set<std::string> options;
    for (const auto& option : mechanism.options) {
      EXPECT_TRUE(options.insert(option.name).second) << option.name;
      EXPECT_TRUE(is_kebab_case(option.name)) << option.name;
      EXPECT_FALSE(option.help.empty()) << option.name;
    }
  }
  EXPECT_TRUE(names.contains("independent"));
}

TEST(Registry, EveryMechanismSaysWhatItIsAndWhereItComesFrom) {
  for (const auto& mechanism : all_mechanisms()) {
    EXPECT_FALSE(mechanism.summary.empty()) << mechanism.name;
    EXPECT_FALSE(mechanism.summary.ends_with('.')) << mechanism.summary;
    EXPECT_FALSE(mechanism.reference.empty()) << mechanism.name;
    EXPECT_TRUE(mechanism.resolve && mechanism.run && mechanism.plan) << mechanism.name;
  }
}

TEST(Registry, APageAboutAMechanismIsTitledByItsName) {
  const std::filesystem::path folder = TANDEM_SOURCE_DIR "/docs/mechanisms";
  for (const auto& mechanism : all_mechanisms()) {
    std::string file = mechanism.name + ".md";
    std::ranges::replace(file, '-', '_');
    if (!std::filesystem::exists(folder / file)) continue;
    const std::string page = test::read_file((folder / file).string());
    EXPECT_TRUE(page.starts_with("# ")) << file;
    const std::string title = page.substr(0, page.find('\n'));
    EXPECT_TRUE(contains(title, mechanism.name)) << file;
    for (const char* heading : {"## Idea", "## When to use it", "## Algorithm", "## Privacy",
                                "## Options", "## Running time", "## References"}) {
      EXPECT_TRUE(contains(page, heading)) << file;
    }
  }
}

TEST(Registry, FindsEachByName) {
  for (const auto& mechanism : all_mechanisms()) {
    EXPECT_EQ(find_mechanism(mechanism.name).summary, mechanism.summary);
  }
}

TEST(Registry, ListsTheKnownOnesForAnUnknownName) {
  const auto message = error_of<UsageError>([] { find_mechanism("Independent"); });
  EXPECT_TRUE(contains(message, "--mechanism 'Independent' is unknown"));
  for (const auto& mechanism : all_mechanisms()) EXPECT_TRUE(contains(message, mechanism.name));
}

TEST(Registry, ResolvesDefaultsAndRefusesStrangers) {
  for (const auto& mechanism : all_mechanisms()) {
    const auto parameters = mechanism.resolve({});
    ASSERT_EQ(parameters.size(), mechanism.options.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_EQ(parameters[i].first, mechanism.options[i].name);
      EXPECT_EQ(parameters[i].second, mechanism.options[i].default_value);
    }
    EXPECT_EQ(mechanism.resolve(parameters), parameters);
    EXPECT_THROW(mechanism.resolve({{"no-such-parameter", "1"}}), UsageError);
  }
}

}  // namespace
}  // namespace tandem
