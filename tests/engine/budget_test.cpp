// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "privacy/ledger_support.h"
#include "tandem/base/digest.h"

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
  ledger.settle(run, pure(0.25));
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
  EXPECT_THAT(text, HasSubstr("Together  epsilon 1.06"));
  EXPECT_THAT(text, HasSubstr("  mst        release  settled  epsilon 1  epsilon 0.25\n"));
  EXPECT_THAT(text,
              HasSubstr("  jam-pgm    caf\xc3\xa9     open     rho 0.01   all, until settled\n"));
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
  EXPECT_EQ(shown.at("total").at("composition").as_string(), "mixed");
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

}  // namespace
}  // namespace tandem
