// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/preparation.h"

#include <gtest/gtest.h>

#include <string>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"
#include "tandem/engine/rehearsal.h"
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

std::string delta_of(double delta, const std::vector<std::string>& parameters) {
  SynthSettings s;
  s.epsilon = 1.0;
  s.delta = delta;
  s.mechanism = "mwem-pub";
  s.parameters = parameters;
  for (const auto& [name, text] : parts_of(s, find_mechanism, true).parameters) {
    if (name == "delta") return text;
  }
  return {};
}

TEST(Preparation, AMechanismsOwnDeltaIsThatOfTheRunUnlessStated) {
  EXPECT_EQ(delta_of(1e-6, {"as=paper"}), "1e-06");
  EXPECT_EQ(delta_of(1e-6, {"as=paper", "delta=1e-05"}), "1e-05");
  EXPECT_EQ(delta_of(0.0, {}), "auto");
}

TEST(Rehearsal, LeavesOutTrainingOnPublicData) {
  SynthSettings s;
  s.epsilon = 1.0;
  s.mechanism = "gem-pub";
  s.parameters = {"public-steps=7"};
  RunParts parts = parts_of(s, find_mechanism, true);
  std::string steps;
  parts.mechanism.run = [&](Curator& /*curator*/, const Problem& /*problem*/,
                            const Parameters& parameters, Rng& /*rng*/) {
    for (const auto& [name, text] : parameters) {
      if (name == "public-steps") steps = text;
    }
    return Release{};
  };
  const Domain domain({{"a", 2, {}}});
  rehearse(parts, {domain, Workload::all_k_way(domain, 1), {}}, Threads());
  EXPECT_EQ(steps, "0");
}

}  // namespace
}  // namespace tandem
