// SPDX-License-Identifier: Apache-2.0
// Private rows that pass as public ones by a slip: refused before a ledger hears of a run, whatever
// the slip; and a run that goes on knows its private file again.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "support/scripted_mechanism.h"
#include "tandem/base/error.h"
#include "tandem/engine/comparison.h"
#include "tandem/engine/draft/schema_draft.h"
#include "tandem/engine/synth.h"
#include "tandem/privacy/ledger.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::error_of;

class Slips : public testing::Test {
 protected:
  Slips() {
    for (int i = 0; i < 300; ++i) text_ += i % 3 == 0 ? "x,0\n" : "y,1\n";
    fs::create_directory(dir_ / "d");
    private_ = dir_.write("d/private.csv", text_);
    public_ = dir_.write("public.csv", text_ + "y,0\n");
    schema_ = dir_.write("schema.toml",
                         "[[column]]\nname = 'a'\nvalues = ['x', 'y']\n"
                         "[[column]]\nname = 'b'\nvalues = ['0', '1']\n");
    ledger_ = dir_ / "ledger";
    Ledger::create(ledger_, {"people", Epsilon(10.0), Delta(1e-9), PrivacyUnit{}});
  }

  SynthRun run_with(const std::string& public_source) const {
    SynthRun run;
    run.settings.private_source = private_;
    run.settings.public_sources = {public_source};
    run.settings.schema = schema_;
    run.settings.epsilon = 0.01;
    run.settings.mechanism = "mw-pub";
    run.settings.workload = "all-2way";
    run.settings.ledger = ledger_;
    run.settings.out = dir_ / "release";
    return run;
  }

  // What every way to make a release says of a run, which leaves nothing.
  std::string refusal(SynthRun run) const {
    const std::string said = error_of<UsageError>([&] { synthesize(run); });
    EXPECT_EQ(error_of<UsageError>([&] { foresee(run); }), said);
    EXPECT_EQ(error_of<UsageError>([&] { plan_synthesis(run); }), said);
    run.settings.make = "answers";
    EXPECT_EQ(error_of<UsageError>([&] { synthesize(run); }), said);
    ComparisonRequest comparison;
    comparison.private_source = run.settings.private_source;
    comparison.public_sources = run.settings.public_sources;
    comparison.schema = run.settings.schema;
    comparison.mechanisms = {run.settings.public_sources.empty() ? "independent" : "mw-pub"};
    comparison.epsilons = {1.0};
    comparison.workload = "all-2way";
    comparison.out = dir_ / "comparison";
    EXPECT_EQ(error_of<UsageError>([&] { compare(comparison); }), said);
    EXPECT_FALSE(fs::exists(dir_ / "comparison"));
    EXPECT_FALSE(fs::exists(dir_ / "release.partial"));
    EXPECT_FALSE(fs::exists(dir_ / "release"));
    EXPECT_TRUE(Ledger::open(ledger_).report().runs.empty());
    return said;
  }

  test::TempDir dir_;
  std::string text_ = "a,b\n";
  std::string private_;
  std::string public_;
  std::string schema_;
  std::string ledger_;
};

TEST_F(Slips, ThePrivateFileIsNoPublicOneByAnyNameNorAnyCopy) {
  fs::create_symlink(private_, dir_ / "link.csv");
  fs::create_hard_link(private_, dir_ / "hard.csv");
  const std::vector<std::string> names = {private_, dir_ / "link.csv", dir_ / "hard.csv",
                                          dir_ / "d/../d/private.csv"};
  for (const auto& name : names) {
    EXPECT_TRUE(contains(refusal(run_with(name)), "is the private file itself")) << name;
  }
  const std::vector<std::string> copies = {dir_.write("copy.csv", text_),
                                           dir_.write_gzip("copy.csv.gz", text_)};
  for (const auto& copy : copies) {
    const auto said = refusal(run_with(copy));
    EXPECT_TRUE(contains(plain(said), "holds the same as the private file")) << said;
    EXPECT_TRUE(contains(plain(said), "--private-as-public")) << said;
  }
  SynthRun second = run_with(public_);
  second.settings.public_sources.push_back(dir_ / "copy.csv");
  EXPECT_TRUE(contains(refusal(second), "copy.csv"));
}

TEST_F(Slips, OtherRowsAreNoCopy) {
  SynthRun run = run_with(public_);
  run.settings.mechanism = "independent";
  EXPECT_NO_THROW(synthesize(run));
}

TEST_F(Slips, ASchemaDraftedFromThePrivateFileIsRefused) {
  const auto said = "was drafted from the private file itself";
  for (const auto& source :
       {private_, dir_.write("copy.csv", text_), dir_.write_gzip("copy.csv.gz", text_)}) {
    schema_ = dir_.write("draft.toml", draft_schema({.public_sources = {source}}).toml);
    SynthRun run = run_with(public_);
    EXPECT_TRUE(contains(refusal(run), said)) << source;
    run.settings.public_sources.clear();
    run.settings.mechanism = "independent";
    EXPECT_TRUE(contains(refusal(run), said)) << source;
  }
  schema_ = dir_.write("draft.toml", draft_schema({.public_sources = {public_}}).toml);
  SynthRun run = run_with(public_);
  EXPECT_NO_THROW(synthesize(run));
}

TEST_F(Slips, ANamedSettingOverridesAndTheReleaseSaysSo) {
  SynthRun run = run_with(private_);
  run.settings.private_as_public = true;
  EXPECT_TRUE(contains(error_of<BudgetError>([&] { synthesize(run); }), "protects nobody"));
  EXPECT_TRUE(Ledger::open(ledger_).report().runs.empty());
  run.settings.ledger.clear();
  run.settings.schema = dir_.write("draft.toml", draft_schema({.public_sources = {private_}}).toml);
  const SynthSummary summary = synthesize(run);
  EXPECT_TRUE(summary.release.at("private_as_public").as_bool());
  EXPECT_FALSE(summary.release.at("private").as_bool());
  EXPECT_EQ(summary.release.at("stamp").as_string(), "NOT PRIVATE (private data as public)");
  EXPECT_TRUE(to_text(summary).starts_with("NOT PRIVATE (private data as public)"));
  EXPECT_FALSE(contains(to_text(summary), "in words"));
  // The schema of a release has no comments of a draft.
  const auto schema = test::read_file(run.settings.out + "/schema.toml");
  EXPECT_EQ(schema.find('#'), std::string::npos) << schema;
  // A plain run has no such words.
  SynthRun other = run_with(public_);
  other.force = true;
  EXPECT_EQ(synthesize(other).release.find("private_as_public"), nullptr);
}

// Size and time of a private file, and nothing else of it, are kept while a run goes on.
TEST_F(Slips, ARunGoesOnWithTheFileThatItBeganWith) {
  SynthRun run = run_with(public_);
  run.settings.public_sources.clear();
  run.find = [](const std::string& /*name*/) { return test::scripted_mechanism(); };
  run.settings.parameters = {"steps=4", "fail-after=2"};
  EXPECT_THROW(synthesize(run), SourceError);
  ASSERT_TRUE(fs::exists(dir_ / "release.partial"));
  run.resume = true;
  const auto refused = [&] {
    return plain(error_of<UsageError>([&] { synthesize(run); })) ==
           "The private file has changed since the release began; restore it, or start anew.";
  };
  const auto time = fs::last_write_time(private_);
  fs::last_write_time(private_, time + std::chrono::seconds(1));
  EXPECT_TRUE(refused());
  std::ofstream(private_, std::ios::app) << "x,0\n";
  fs::last_write_time(private_, time);
  EXPECT_TRUE(refused());
  fs::resize_file(private_, text_.size());
  fs::last_write_time(private_, time);
  // It is the file again; the mechanism itself still fails where it is told to.
  EXPECT_THROW(synthesize(run), SourceError);
}

}  // namespace
}  // namespace tandem
