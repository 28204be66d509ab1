// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/preparation.h"

#include <gtest/gtest.h>

#include <string>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"
#include "tandem/mechanism/registry.h"

namespace tandem {
namespace {

using test::error_of;
using test::TempDir;

Schema schema_with(const std::string& inside) {
  return Schema::from_document(Document::parse_toml(
      "[[column]]\nname = 'age'\nkind = 'integer'\nmin = 0\nmax = 99\nedges = [50]\n" + inside,
      "schema"));
}

// Whether a file that isn't there is missed says whether it would have been read.
TEST(LearnInside, ReadsPublicDataOnlyForColumnsThatAskForIt) {
  const std::string missing = TempDir() / "missing.csv";
  const Schema kept = learn_inside(schema_with(""), {missing});
  EXPECT_EQ(kept.columns().size(), 1U);
  EXPECT_FALSE(error_of<Error>([&] {
                 learn_inside(schema_with("inside = 'public'\n"), {missing});
               }).empty());
}

TEST(LearnInside, DrawsAsAllPublicFilesLie) {
  const TempDir dir;
  // A range itself counts as one public row, so that a few rows don't stand for all of it.
  std::string sevens = "age\n";
  std::string seventies = "age\n";
  for (int i = 0; i < 10'000; ++i) {
    sevens += "7\n";
    seventies += "70\n";
  }
  const std::string young = dir.write("young.csv", sevens);
  const std::string old = dir.write("old.csv", seventies);
  const Schema learnt = learn_inside(schema_with("inside = 'public'\n"), {young, old});
  Rng rng(1);
  for (const auto& [code, text] : {std::pair<Code, std::string>{0, "7"}, {1, "70"}}) {
    std::string drawn;
    learnt.columns()[0].codec->decode(code, rng, drawn);
    EXPECT_EQ(drawn, text);
  }
}

// A printed algorithm spends what it was given; a share of its own can still be asked for.
TEST(Certificate, IsLeftOutOfPrintedAlgorithmsUnlessAskedFor) {
  const auto held = [](const std::vector<std::string>& parameters, double share) {
    SynthSettings s;
    s.epsilon = 1.0;
    s.mechanism = "mw-pub";
    s.parameters = parameters;
    s.certify_share = share;
    return !parts_of(s, find_mechanism, true).filter.let_go().is_zero();
  };
  EXPECT_TRUE(held({}, 0.03));
  EXPECT_FALSE(held({"as=paper"}, 0.03));
  EXPECT_TRUE(held({"as=default"}, 0.03));
  EXPECT_TRUE(held({"as=paper"}, 0.05));
  EXPECT_FALSE(held({}, 0.0));
}

}  // namespace
}  // namespace tandem
