// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "privacy/ledger_support.h"
#include "support/scripted_mechanism.h"
#include "tandem/base/digest.h"
#include "tandem/engine/release/release_folder.h"
#include "tandem/engine/synth.h"

namespace tandem {
namespace {

using test::open_run;
using test::pure;
using test::TempDir;
using test::terms;
using test::zcdp;
using testing::HasSubstr;

Ledger busy_ledger(const std::string& path) {
  Ledger ledger = Ledger::create(path, terms(4.0, 1e-9));
  const std::string run = open_run(ledger, pure(1.0));
  ledger.record_step(run, 0, sha256_hex("a"));
  ledger.settle(run, pure(0.25), 1);
  ledger.reserve({"jam-pgm", "caf\xc3\xa9", ledger.terms().unit, false}, zcdp(0.01));
  return ledger;
}

TEST(Budget, ShowsTermsTotalsAndRunsToPeople) {
  const TempDir dir;
  const std::string text = show_budget(busy_ledger(dir / "a"), false);
  EXPECT_THAT(text, HasSubstr("Data set  people, since 20"));
  EXPECT_THAT(text, HasSubstr("Protects  replace-one, 1 row per person\n"));
  EXPECT_THAT(text, HasSubstr("Limit     epsilon 4 at delta 1e-09\n"));
  EXPECT_THAT(text, HasSubstr("Spent     epsilon 0.25 (sum of pure epsilons, delta 0)\n"));
  EXPECT_THAT(text, HasSubstr("Together  epsilon 1.7"));
  EXPECT_THAT(text,
              HasSubstr("  mst        release  settled  epsilon 1, pure  epsilon 0.25, pure\n"));
  // Rho 0.01 by itself, at the ledger's delta.
  EXPECT_THAT(text, HasSubstr("  jam-pgm    caf\xc3\xa9     open     epsilon 0.8102   all, until "
                              "settled\n"));
  EXPECT_THAT(text, HasSubstr("Left      a run of epsilon "));
  EXPECT_THAT(text, testing::Not(HasSubstr("rho")));
}

TEST(Budget, ShowsAnEmptyLedger) {
  const TempDir dir;
  const std::string text = to_text(Ledger::create(dir / "a", terms(1.0, 0.0)).report());
  EXPECT_THAT(text, HasSubstr("Together  nothing\n"));
  EXPECT_THAT(text, HasSubstr("Left      a pure run of epsilon 1\n"));
  EXPECT_THAT(text, HasSubstr("No runs yet."));
}

TEST(Budget, ShowsTheSameToPrograms) {
  const TempDir dir;
  const Ledger ledger = busy_ledger(dir / "a");
  const LedgerReport report = ledger.report();
  const Document shown = Document::parse_json(show_budget(ledger, true), "budget");
  EXPECT_EQ(shown.at("format").as_integer(), 1);
  EXPECT_EQ(shown.at("limit").at("delta").as_number(), 1e-9);
  EXPECT_EQ(shown.at("spent").at("epsilon").as_number(), 0.25);
  EXPECT_EQ(shown.at("total").at("composition").as_string(), "zcdp");
  EXPECT_EQ(shown.at("left").at("rho").as_number(), report.left_rho.value());
  EXPECT_EQ(shown.at("head").as_string(), report.head);
  const auto& runs = shown.at("runs").as_array();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].at("spent").at("pure_epsilon").as_number(), 0.25);
  EXPECT_EQ(runs[1].at("label").as_string(), "caf\xc3\xa9");
  EXPECT_TRUE(runs[1].at("spent").is_null());
  EXPECT_TRUE(runs[1].at("reserved").at("pure_epsilon").is_null());
}

TEST(Budget, SaysWhetherALedgerIsWhole) {
  const TempDir dir;
  const Ledger ledger = busy_ledger(dir / "a");
  const VerifyReport whole = ledger.verify();
  const std::vector<std::string> good = {whole.head};
  const std::vector<std::string> foreign = {sha256_hex("another ledger")};
  EXPECT_TRUE(verify_budget(ledger, good, false).whole);
  EXPECT_FALSE(verify_budget(ledger, foreign, false).whole);
  EXPECT_EQ(to_text(whole), "The ledger is whole: 5 entries, head " + whole.head + ".\n");
  EXPECT_TRUE(to_document(whole).at("whole").as_bool());
  const VerifyReport broken{"entry 3 is not the next step of its run", 2, sha256_hex("x")};
  EXPECT_EQ(to_text(broken), "The ledger is NOT whole: entry 3 is not the next step of its run.\n");
  EXPECT_FALSE(to_document(broken).at("whole").as_bool());
}

// ---- Settling a run that died -------------------------------------------------------------------

class DeadRun : public testing::Test {
 protected:
  DeadRun() {
    std::string rows = "a,b\n";
    for (int r = 0; r < 50; ++r) rows += std::to_string(r % 2) + ',' + std::to_string(r % 3) + '\n';
    run_.settings.private_source = dir_.write("private.csv", rows);
    run_.settings.schema = dir_.write("schema.json", R"({"a": 2, "b": 3})");
    run_.settings.epsilon = 1.0;
    run_.settings.certify_share = 0.0;
    run_.settings.out = dir_ / "release";
    run_.settings.workload = "all-1way";
    run_.settings.ledger = dir_ / "people.ledger";
    run_.find = [](const std::string& /*name*/) { return test::scripted_mechanism(); };
    Ledger::create(run_.settings.ledger, terms(10.0, 1e-9));
    request_.ledger = run_.settings.ledger;
    request_.out = run_.settings.out;
  }

  // Dies after this step, in which the first is free and each of the others costs the same.
  void die_after(std::size_t step) {
    run_.progress = [step](const RunProgress& progress) {
      if (progress.step == step) throw SourceError("killed");
    };
    EXPECT_THROW(synthesize(run_), SourceError);
    run_.progress = nullptr;
  }

  LedgerRun only_run() const { return Ledger::open(request_.ledger).report().runs.at(0); }

  TempDir dir_{test::in_memory()};
  SynthRun run_;
  BudgetRequest request_;
};

TEST_F(DeadRun, IsSettledAtWhatItsTranscriptProves) {
  die_after(5);
  settle_budget(request_);
  const LedgerRun run = only_run();
  ASSERT_TRUE(run.spent);
  // Four of the thirty steps that together cost three quarters.
  EXPECT_NEAR(run.spent->rho.upper_bound() / run.reserved.rho.upper_bound(), 0.75 * 4.0 / 30.0,
              1e-6);
  EXPECT_TRUE(Ledger::open(request_.ledger).verify().whole());
  run_.resume = true;
  EXPECT_THROW(synthesize(run_), UsageError);  // the folder is gone
  run_.resume = false;
  EXPECT_NO_THROW(synthesize(run_));
}

TEST_F(DeadRun, ACopyOfASettledRunGoesNoFurther) {
  die_after(5);
  std::filesystem::copy(dir_ / "release.partial", dir_ / "copy.partial",
                        std::filesystem::copy_options::recursive);
  settle_budget(request_);
  run_.settings.out = dir_ / "copy";
  run_.resume = true;
  EXPECT_THROW(synthesize(run_), BudgetError);
  EXPECT_EQ(only_run().steps, 5);
}

TEST_F(DeadRun, WithoutItsFolderTheReservationStays) {
  die_after(5);
  std::filesystem::remove_all(dir_ / "release.partial");
  EXPECT_THROW(settle_budget(request_), UsageError);
  request_.out.clear();
  EXPECT_THROW(settle_budget(request_), UsageError);
  EXPECT_FALSE(only_run().spent);
}

TEST_F(DeadRun, ATranscriptThatWasTamperedWithIsRefused) {
  die_after(5);
  const std::string path = dir_ / "release.partial/.run/transcript.jsonl";
  const std::string good = test::read_file(path);
  const auto lines = [&](std::size_t count) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < count; ++i) end = good.find('\n', end) + 1;
    return good.substr(0, end);
  };
  std::string cheaper = good;
  const std::size_t cost = cheaper.rfind("\"cost\":\"") + 8;
  cheaper.replace(cost, cheaper.find('"', cost) - cost, "1");
  for (const std::string& bad : {lines(4), lines(0), cheaper}) {
    dir_.write("release.partial/.run/transcript.jsonl", bad);
    EXPECT_THROW(settle_budget(request_), BudgetError);
    EXPECT_FALSE(only_run().spent);
  }
  dir_.write("release.partial/.run/transcript.jsonl", good);
  EXPECT_NO_THROW(settle_budget(request_));
}

TEST_F(DeadRun, IsLeftAloneWhileAProcessWorksOnIt) {
  die_after(5);
  const ReleaseFolder working = ReleaseFolder::resume(request_.out);
  EXPECT_THROW(settle_budget(request_), UsageError);
  EXPECT_FALSE(only_run().spent);
}

}  // namespace
}  // namespace tandem
