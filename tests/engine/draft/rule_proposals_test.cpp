// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/draft/rule_proposals.h"

#include <gtest/gtest.h>

#include <string>

#include "support/files.h"
#include "tandem/base/rng.h"

namespace tandem {
namespace {

using test::TempDir;

Schema schema() {
  return Schema::from_document(
      Document::parse_toml("[[column]]\nname = 'child'\nvalues = ['yes', 'no']\n"
                           "[[column]]\nname = 'married'\nvalues = ['yes', 'no']\n",
                           "schema"));
}

// Rows of which only `exceptions` are of married children.
std::string rows(int count, int exceptions) {
  std::string out = "child,married\n";
  for (int r = 0; r < exceptions; ++r) out += "yes,yes\n";
  for (int r = exceptions; r < count; ++r) {
    out += r % 3 == 0 ? "yes,no\n" : r % 3 == 1 ? "no,yes\n" : "no,no\n";
  }
  return out;
}

bool proposes(const std::vector<RuleProposal>& rules, const std::string& when) {
  for (const auto& rule : rules) {
    if (rule.when == when) return true;
  }
  return false;
}

TEST(RuleProposals, ARuleHoldsInEveryPublicFile) {
  const TempDir dir;
  const std::string first = dir.write("first.csv", rows(300, 0));
  const std::string second = dir.write("second.csv", rows(300, 20));
  EXPECT_TRUE(proposes(propose_rules(schema(), {first}, Threads{}), "child = yes"));
  EXPECT_FALSE(proposes(propose_rules(schema(), {first, second}, Threads{}), "child = yes"));
}

TEST(RuleProposals, PublicFilesSpeakForARuleTogether) {
  const TempDir dir;
  const std::string one = dir.write("one.csv", rows(120, 0));
  EXPECT_FALSE(proposes(propose_rules(schema(), {one}, Threads{}), "child = yes"));
  const auto rules = propose_rules(schema(), {one, one, one}, Threads{});
  ASSERT_TRUE(proposes(rules, "child = yes"));
  EXPECT_EQ(rules.front().rows, 120U);  // a third of each file
}

}  // namespace
}  // namespace tandem
