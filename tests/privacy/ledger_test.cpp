// SPDX-License-Identifier: Apache-2.0
// What a ledger grants, refuses and remembers. Files, hands and processes have their own.
#include "tandem/privacy/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "privacy/ledger_support.h"
#include "support/errors.h"
#include "tandem/base/digest.h"
#include "tandem/base/error.h"
#include "tandem/privacy/accountant.h"

namespace tandem {
namespace {

using test::open_run;
using test::pure;
using test::TempDir;
using test::terms;
using test::zcdp;
using testing::HasSubstr;

template <class Kind>
std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Kind& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Ledger, KeepsItsTermsAndRunsAcrossOpenings) {
  const TempDir dir;
  LedgerTerms wanted = terms(2.5, 1e-9);
  wanted.unit = {Neighbors::AddRemove, 3};
  std::string run;
  {
    Ledger ledger = Ledger::create(dir / "a.ledger", wanted);
    run = ledger.reserve({"mst", "release", wanted.unit, false}, pure(1.0));
    ledger.record_step(run, 0, sha256_hex("zero"));
    ledger.settle(run, pure(0.5), 1);
  }
  const Ledger ledger = Ledger::open(dir / "a.ledger");
  EXPECT_EQ(ledger.terms().dataset, "people");
  EXPECT_EQ(ledger.terms().epsilon.value(), 2.5);
  EXPECT_EQ(ledger.terms().delta.value(), 1e-9);
  EXPECT_EQ(ledger.terms().unit, wanted.unit);

  const RunState state = ledger.state(run);
  EXPECT_EQ(state.reserved, pure(1.0));
  EXPECT_EQ(state.spent, pure(0.5));
  EXPECT_EQ(state.steps, std::vector{sha256_hex("zero")});

  const LedgerReport report = ledger.report();
  ASSERT_EQ(report.runs.size(), 1U);
  EXPECT_EQ(report.runs[0].id, run);
  EXPECT_EQ(report.runs[0].mechanism, "mst");
  EXPECT_EQ(report.runs[0].label, "release");
  EXPECT_EQ(report.runs[0].steps, 1);
  EXPECT_EQ(report.total.epsilon.value(), 0.5);
  EXPECT_EQ(report.left_pure.value(), 2.0);
  EXPECT_EQ(report.head, ledger.head());
  EXPECT_EQ(report.created.size(), 20U);
  EXPECT_TRUE(ledger.verify().whole());
}

TEST(Ledger, TakesRunsOfOneKindOfRecord) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(4.0, 1e-9));
  const auto reserve = [&](const std::string& label, Records records) {
    return ledger.reserve({"mst", label, PrivacyUnit{}, false, records}, pure(0.1));
  };
  EXPECT_EQ(ledger.report().records, std::nullopt);
  reserve("first", Records::Quoted);
  reserve(std::string(300, 'x'), Records::Quoted);
  reserve("", Records::Quoted);
  EXPECT_EQ(test::error_of<BudgetError>([&] { reserve("second", Records::Lines); }),
            (dir / "a") +
                ": the runs so far read records as quoted, and this run reads them as lines; a "
                "ledger takes one of the two, so state --records quoted, or charge a ledger of its "
                "own.");
  const LedgerReport report = ledger.report();
  ASSERT_EQ(report.runs.size(), 3U);
  EXPECT_EQ(report.runs[0].label, "first (quoted)");
  EXPECT_EQ(report.runs[1].label, std::string(191, 'x') + " (quoted)");
  EXPECT_EQ(report.runs[2].label, "- (quoted)");
  EXPECT_EQ(report.records, Records::Quoted);
  EXPECT_TRUE(ledger.verify().whole());
}

// Ledgers from before there were quoted records hold runs that read lines.
TEST(Ledger, ALabelWithoutTheMarkIsOfLines) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(4.0, 1e-9));
  open_run(ledger, pure(0.1));
  EXPECT_EQ(ledger.report().runs[0].label, "release");
  EXPECT_EQ(ledger.report().records, Records::Lines);
  const std::string before = ledger.head();
  EXPECT_THAT(
      message<BudgetError>([&] {
        ledger.reserve({"mst", "release", PrivacyUnit{}, false, Records::Quoted}, pure(0.1));
      }),
      HasSubstr("read records as lines, and this run reads them as quoted"));
  EXPECT_EQ(ledger.head(), before);
}

// A folder's name can't make a run look like one of the other kind.
TEST(Ledger, AFoldersNameIsNoMark) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(4.0, 1e-9));
  ledger.reserve({"mst", "release (quoted)", PrivacyUnit{}, false}, pure(0.1));
  EXPECT_EQ(ledger.report().runs[0].label, "release (quoted) (lines)");
  EXPECT_EQ(ledger.report().records, Records::Lines);
}

TEST(Ledger, TermsThatMakeNoSenseAreRefused) {
  const TempDir dir;
  const auto refused = [&](const LedgerTerms& bad) {
    EXPECT_THROW(Ledger::create(dir / "x", bad), UsageError);
    EXPECT_FALSE(std::filesystem::exists(dir / "x"));
  };
  for (const double epsilon : {0.0, -1.0, 2e6, std::nan(""), HUGE_VAL}) refused(terms(epsilon, 0));
  for (const double delta : {1.0, -1e-9, std::nan("")}) refused(terms(1, delta));
  LedgerTerms wrong = terms(1, 0);
  wrong.unit.rows_per_person = 0;
  refused(wrong);
  for (const std::string& name : {std::string(), std::string("a\nb"), std::string("\xff"),
                                  std::string("a\0b", 3), std::string(201, 'a')}) {
    wrong = terms(1, 0);
    wrong.dataset = name;
    refused(wrong);
  }
}

TEST(Ledger, AllowsExactlyTheLimitAndNotOneGrainMore) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(1.0, 0.0));
  open_run(ledger, pure(0.7));
  const Cost rest = CostForTests::at_least(1.0) - CostForTests::at_least(0.7);
  const Cost grain = CostForTests::from_grains("1");
  EXPECT_THROW(open_run(ledger, {rest + grain, CostForTests::at_least(0.05)}), BudgetError);
  EXPECT_NO_THROW(open_run(ledger, {rest, CostForTests::at_least(0.05)}));
  EXPECT_EQ(ledger.report().total.epsilon.value(), 1.0);
  EXPECT_EQ(ledger.report().left_pure.value(), 0.0);
  EXPECT_THROW(open_run(ledger, {grain, grain}), BudgetError);
  EXPECT_TRUE(ledger.verify().whole());
}

TEST(Ledger, SetsItsLimitAnewForAllToSee) {
  const test::TempDir dir;
  const std::string path = dir / "ledger";
  Ledger ledger = Ledger::create(path, {"people", Epsilon(1.0), Delta(0.0), {}});
  open_run(ledger, pure(0.75));
  EXPECT_THROW(open_run(ledger, pure(0.5)), BudgetError);
  EXPECT_THROW(ledger.set_limit(Epsilon(0.5)), BudgetError);  // below what is held
  EXPECT_THROW(ledger.set_limit(Epsilon(-1.0)), UsageError);
  EXPECT_EQ(Ledger::open(path).report().terms.epsilon, Epsilon(1.0));  // nothing was written
  ledger.set_limit(Epsilon(1.25));
  open_run(ledger, pure(0.5));
  EXPECT_THROW(open_run(ledger, pure(0.25)), BudgetError);
  EXPECT_EQ(Ledger::open(path).report().terms.epsilon, Epsilon(1.25));
  EXPECT_TRUE(Ledger::open(path).verify().whole());
}

TEST(Ledger, ReservesUnderAnIdWrittenDownBefore) {
  const test::TempDir dir;
  Ledger ledger = Ledger::create(dir / "ledger", {"people", Epsilon(1.0), Delta(0.0), {}});
  const std::string run = Ledger::new_run_id();
  const RunInfo info{"independent", "release", {}, false};
  ledger.reserve(run, info, pure(0.75));
  ledger.reserve(run, info, pure(0.75));  // after a crash: left alone
  EXPECT_THROW(ledger.reserve(run, info, pure(0.5)), BudgetError);
  EXPECT_EQ(ledger.report().runs.size(), 1U);
}

TEST(Ledger, AllowsExactlyTheLimitInZcdp) {
  const TempDir dir;
  const Delta delta(1e-9);
  const double limit = epsilon_of(Rho(0.125), delta).value();
  const auto ledger_of = [&](const char* name) {
    return Ledger::create(dir / name, terms(limit, delta.value()));
  };
  Ledger exact = ledger_of("exact");
  open_run(exact, zcdp(0.1));
  EXPECT_NO_THROW(
      open_run(exact, {std::nullopt, CostForTests::at_least(0.125) - CostForTests::at_least(0.1)}));
  EXPECT_EQ(exact.report().total.composition, Composition::Zcdp);
  EXPECT_EQ(exact.report().total.epsilon.value(), limit);

  // The next representable rho whose epsilon is above the limit is refused.
  double above = 0.125;
  while (epsilon_of(Rho(above), delta).value() <= limit) above = std::nextafter(above, 1.0);
  Ledger over = ledger_of("over");
  EXPECT_THROW(open_run(over, zcdp(above)), BudgetError);
}

TEST(Ledger, ARunOfTheWholeLimitFits) {
  const TempDir dir;
  int number = 0;
  for (const double epsilon : {0.0001, 0.1, 0.7, 1.0, 3.0, 1000.0}) {
    for (const double delta : {1e-15, 1e-9, 0.01}) {
      Ledger ledger = Ledger::create(dir / std::to_string(++number), terms(epsilon, delta));
      const Rho rho = rho_of(Epsilon(epsilon), Delta(delta));
      EXPECT_NO_THROW(open_run(ledger, {std::nullopt, CostForTests::at_most(rho.value())}));
    }
  }
}

TEST(Ledger, WhatIsLeftFitsAndNothingMore) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(2.0, 1e-6));
  open_run(ledger, pure(0.25));
  open_run(ledger, zcdp(0.01));
  const LedgerReport report = ledger.report();
  EXPECT_GT(report.left_rho.value(), 0.0);
  EXPECT_THROW(open_run(ledger, zcdp(report.left_rho.value() * (1 + 1e-9))), BudgetError);
  EXPECT_THROW(open_run(ledger, pure(report.left_pure.value() * (1 + 1e-9))), BudgetError);
  EXPECT_NO_THROW(open_run(ledger, zcdp(report.left_rho.value())));
}

TEST(Ledger, ReportsTheSmallestComposition) {
  const TempDir dir;
  const Delta delta(0.01);
  int number = 0;
  const auto total = [&](const std::vector<LedgerCharge>& charges) {
    Ledger ledger = Ledger::create(dir / std::to_string(++number), terms(100.0, delta.value()));
    for (const auto& charge : charges) open_run(ledger, charge);
    EXPECT_EQ(ledger.verify().fault, "");
    return ledger.report().total;
  };
  EXPECT_EQ(total({}).epsilon.value(), 0.0);

  // Two large pure runs: the sum of their epsilons, where zCDP would charge far more.
  const LedgerTotal large = total({pure(1.0), pure(1.0)});
  EXPECT_EQ(large.composition, Composition::Pure);
  EXPECT_EQ(large.epsilon.value(), 2.0);

  // Many small ones: zCDP wins over the sum.
  const LedgerTotal small = total(std::vector<LedgerCharge>(50, pure(0.125)));
  EXPECT_EQ(small.composition, Composition::Zcdp);
  EXPECT_EQ(small.epsilon.value(), epsilon_of(Rho(50 * 0.0078125), delta).value());
  EXPECT_LT(small.epsilon.value(), 50 * 0.125);

  // A pure run beside zCDP ones: its epsilon plus their conversion, rounded up.
  const LedgerTotal mixed = total({pure(1.0), zcdp(0.01), zcdp(0.02)});
  const double expected = 1.0 + epsilon_of(Rho(0.03), delta).value();
  EXPECT_EQ(mixed.composition, Composition::Mixed);
  EXPECT_GE(mixed.epsilon.value(), expected);
  EXPECT_NEAR(mixed.epsilon.value(), expected, 1e-12);

  const LedgerTotal gaussian = total({zcdp(0.5)});
  EXPECT_EQ(gaussian.composition, Composition::Zcdp);
  EXPECT_EQ(gaussian.epsilon.value(), epsilon_of(Rho(0.5), delta).value());
}

TEST(Ledger, WithDeltaZeroAcceptsPureRunsOnly) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(1.0, 0.0));
  EXPECT_THAT(message<BudgetError>([&] { open_run(ledger, zcdp(1e-6)); }),
              HasSubstr("no pure guarantee"));
  EXPECT_NO_THROW(open_run(ledger, pure(1.0)));
  EXPECT_EQ(ledger.report().left_rho.value(), 0.0);
}

TEST(Ledger, RefusesSeededRunsAndOtherPrivacyUnits) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(1.0, 1e-9));
  RunInfo info{"mst", "r", ledger.terms().unit, true};
  EXPECT_THAT(message<BudgetError>([&] { ledger.reserve(info, pure(0.1)); }),
              HasSubstr("seeded run is not private"));
  info.seeded = false;
  info.unit.neighbors = Neighbors::AddRemove;
  EXPECT_THAT(message<BudgetError>([&] { ledger.reserve(info, pure(0.1)); }),
              HasSubstr("protects replace-one with 1 row per person, and this run states "
                        "add-remove with 1 row per person"));
  EXPECT_TRUE(ledger.report().runs.empty());
}

TEST(Ledger, TakesRunsThatProtectMoreAndRefusesThoseThatProtectLess) {
  const TempDir dir;
  LedgerTerms two = terms(1.0, 1e-9);
  two.unit = {Neighbors::ReplaceOne, 2};
  Ledger ledger = Ledger::create(dir / "a", two);
  const auto reserve = [&](const PrivacyUnit& unit) {
    ledger.reserve({"mst", "r", unit, false}, pure(0.1));
  };
  EXPECT_NO_THROW(reserve({Neighbors::ReplaceOne, 2}));
  EXPECT_NO_THROW(reserve({Neighbors::ReplaceOne, 3}));
  EXPECT_NO_THROW(reserve({Neighbors::ReplaceOne, 2, true}));
  EXPECT_THROW(reserve({Neighbors::ReplaceOne, 1}), BudgetError);
  EXPECT_THROW(reserve({Neighbors::ReplaceOne, 1, true}), BudgetError);
  EXPECT_THROW(reserve({Neighbors::AddRemove, 2}), BudgetError);
  EXPECT_EQ(ledger.report().runs.size(), 3U);
}

TEST(Ledger, ARefusalSaysWhatIsAskedHeldAllowedAndLeft) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(1.0, 0.0));
  open_run(ledger, pure(0.75));
  EXPECT_EQ(message<BudgetError>([&] { open_run(ledger, pure(0.5)); }),
            (dir / "a") +
                ": this run asks for epsilon 0.5, the runs so far hold 0.75, and the "
                "limit is 1 at delta 0; left is pure epsilon 0.25.");
  // With a delta, the rho that is left and the epsilon that it is worth, too.
  Ledger with_delta = Ledger::create(dir / "b", terms(1.0, 1e-9));
  const std::string text = message<BudgetError>([&] { open_run(with_delta, pure(2.0)); });
  const auto number_behind = [&](const std::string& words) {
    const auto at = text.find(words);
    return at == std::string::npos ? -1.0 : std::stod(text.substr(at + words.size()));
  };
  EXPECT_NEAR(number_behind("left is pure epsilon "), 1.0, 1e-4) << text;
  const double epsilon = number_behind(", or epsilon ");
  EXPECT_GT(epsilon, 0.99) << text;
  EXPECT_LE(epsilon, 1.0) << text;
  const double rho = number_behind("(rho ");
  EXPECT_NEAR(epsilon_of(Rho(rho), Delta(1e-9)).value(), epsilon, 1e-3) << text;
}

TEST(Ledger, AnAmountThatMakesNoSenseIsABrokenPromise) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(1.0, 1e-9));
  EXPECT_THROW(open_run(ledger, {CostForTests::at_least(0.1), Cost()}), InternalError);
  EXPECT_THROW(open_run(ledger, {Cost(), CostForTests::at_least(0.1)}), InternalError);
  EXPECT_THROW(open_run(ledger, zcdp(0x1p40)), BudgetError);
}

TEST(Ledger, NamesOfAnyBytesStayReadable) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(1.0, 0.0));
  for (const std::string& label :
       {std::string(), std::string("a\0b\n\xff", 5), std::string(999, 'x'),
        std::string("caf\xc3\xa9"), std::string("two words ~\n")}) {
    ledger.reserve({"mst", label, ledger.terms().unit, false}, pure(0.1));
  }
  const auto runs = ledger.report().runs;
  EXPECT_EQ(runs[0].label, "-");
  EXPECT_EQ(runs[1].label, "a?b??");
  EXPECT_EQ(runs[2].label, std::string(200, 'x'));
  EXPECT_EQ(runs[3].label, "caf\xc3\xa9");
  EXPECT_EQ(runs[4].label, "two words ~?");
  EXPECT_TRUE(ledger.verify().whole());
}

TEST(Ledger, AnIdMadeBeforehandReservesOnce) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(1.0, 0.0));
  const std::string run = Ledger::new_run_id();
  const RunInfo info{"mst", "r", ledger.terms().unit, false};
  ledger.reserve(run, info, pure(0.75));
  const std::string head = ledger.head();
  EXPECT_NO_THROW(ledger.reserve(run, info, pure(0.75)));
  EXPECT_EQ(ledger.head(), head);
  EXPECT_THROW(ledger.reserve(run, info, pure(0.25)), BudgetError);
  EXPECT_THROW(ledger.reserve("not an id", info, pure(0.25)), InternalError);
  EXPECT_EQ(ledger.report().total.epsilon.value(), 0.75);
  EXPECT_EQ(ledger.verify().fault, "");
}

TEST(Ledger, StepsGoOneByOneAndAreDrawnOnce) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(1.0, 0.0));
  const std::string run = open_run(ledger, pure(0.5));
  const std::string a = sha256_hex("a");
  const std::string b = sha256_hex("b");
  EXPECT_THROW(ledger.record_step(run, 1, a), BudgetError);  // a gap
  ledger.record_step(run, 0, a);
  ledger.record_step(run, 1, b);
  const std::string head = ledger.head();

  // A resumed run replays what it has; a copy that drew something else is found out.
  ledger.record_step(run, 0, a);
  ledger.record_step(run, 1, b);
  EXPECT_EQ(ledger.head(), head);
  EXPECT_THAT(message<BudgetError>([&] { ledger.record_step(run, 1, a); }),
              HasSubstr("another copy of this run has drawn step 1"));
  EXPECT_THROW(ledger.record_step(run, 3, a), BudgetError);
  EXPECT_EQ(ledger.state(run).steps, (std::vector{a, b}));

  EXPECT_THROW(ledger.record_step(std::string(32, '0'), 0, a), BudgetError);
  EXPECT_THROW(ledger.record_step("it's; no run", 0, a), BudgetError);
  EXPECT_THROW(ledger.record_step(run, 2, "not a digest"), InternalError);
  EXPECT_THROW(ledger.record_step(run, -1, a), InternalError);

  ledger.settle(run, pure(0.5), 2);
  EXPECT_NO_THROW(ledger.record_step(run, 1, b));  // still there
  EXPECT_THAT(message<BudgetError>([&] { ledger.record_step(run, 2, a); }), HasSubstr("settled"));
}

TEST(Ledger, TwoCopiesOfARunCanNotBothGoOn) {
  const TempDir dir;
  Ledger first = Ledger::create(dir / "a", terms(1.0, 0.0));
  const std::string run = open_run(first, pure(0.5));
  first.record_step(run, 0, sha256_hex("shared"));
  Ledger second = Ledger::open(dir / "a");
  second.record_step(run, 0, sha256_hex("shared"));
  second.record_step(run, 1, sha256_hex("drawn by the second copy"));
  EXPECT_THROW(first.record_step(run, 1, sha256_hex("drawn by the first copy")), BudgetError);
}

TEST(Ledger, SettlingGivesBackWhatWasNotSpentOnce) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(1.0, 0.0));
  const std::string run = open_run(ledger, pure(1.0));
  EXPECT_THROW(open_run(ledger, pure(0.5)), BudgetError);
  EXPECT_THROW(ledger.settle(run, pure(1.5), 0), BudgetError);  // more than reserved
  EXPECT_THROW(ledger.settle(run, zcdp(0.1), 0), BudgetError);  // another kind
  EXPECT_THROW(ledger.settle("nobody", pure(0.1), 0), BudgetError);
  ledger.settle(run, pure(0.5), 0);
  const std::string head = ledger.head();
  EXPECT_NO_THROW(ledger.settle(run, pure(0.5), 0));
  EXPECT_EQ(ledger.head(), head);
  EXPECT_THROW(ledger.settle(run, pure(0.25), 0), BudgetError);
  EXPECT_NO_THROW(open_run(ledger, pure(0.5)));
  EXPECT_TRUE(ledger.verify().whole());
}

TEST(Ledger, ARunSettlesTheStepsThatItHasDrawn) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(1.0, 0.0));
  const std::string run = open_run(ledger, pure(1.0));
  ledger.record_step(run, 0, sha256_hex("a"));
  ledger.record_step(run, 1, sha256_hex("b"));
  EXPECT_THAT(message<BudgetError>([&] { ledger.settle(run, pure(0.25), 1); }),
              HasSubstr("has drawn 2 steps and would settle 1"));
  EXPECT_THROW(ledger.settle(run, pure(0.25), 3), BudgetError);
  EXPECT_NO_THROW(ledger.settle(run, pure(0.5), 2));
}

TEST(Ledger, AMixOfKindsCountsWhatWasReserved) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(4.0, 1e-9));
  ledger.settle(open_run(ledger, pure(1.5)), pure(0.01), 0);
  const std::string other = open_run(ledger, zcdp(0.001));
  const double converted = epsilon_of(Rho(0.001), Delta(1e-9)).value();
  // As zCDP, what was not spent is given back; in a mix it is not.
  EXPECT_EQ(ledger.report().total.composition, Composition::Zcdp);
  EXPECT_LT(ledger.report().total.epsilon.value(), 0.01 + converted + 0.1);
  open_run(ledger, pure(2.0));
  EXPECT_EQ(ledger.report().total.composition, Composition::Mixed);
  EXPECT_NEAR(ledger.report().total.epsilon.value(), 3.5 + converted, 1e-9);
  EXPECT_THROW(open_run(ledger, pure(0.5)), BudgetError);
  EXPECT_TRUE(ledger.verify().whole());
}

TEST(Ledger, ARunThatNeverSettlesStaysCharged) {
  const TempDir dir;
  {
    Ledger ledger = Ledger::create(dir / "a", terms(1.0, 0.0));
    open_run(ledger, pure(0.75));
  }
  Ledger ledger = Ledger::open(dir / "a");
  const LedgerReport report = ledger.report();
  EXPECT_EQ(report.spent.epsilon.value(), 0.0);
  EXPECT_EQ(report.reserved.epsilon.value(), 0.75);
  EXPECT_EQ(report.total.epsilon.value(), 0.75);
  EXPECT_THROW(open_run(ledger, pure(0.5)), BudgetError);
}

TEST(Ledger, TotalsOfSettledAndOpenRunsAreShownApart) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(4.0, 1e-9));
  ledger.settle(open_run(ledger, pure(1.0)), pure(0.5), 0);
  open_run(ledger, zcdp(0.01));
  const LedgerReport report = ledger.report();
  EXPECT_EQ(report.spent.epsilon.value(), 0.5);
  EXPECT_EQ(report.spent.composition, Composition::Pure);
  EXPECT_EQ(report.reserved.epsilon.value(), epsilon_of(Rho(0.01), Delta(1e-9)).value());
  EXPECT_EQ(report.reserved.composition, Composition::Zcdp);
  EXPECT_EQ(report.total.composition, Composition::Mixed);
}

TEST(Ledger, ARunThatSpentNothingCostsNothing) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(1.0, 1e-9));
  ledger.settle(open_run(ledger, zcdp(0.001)), {std::nullopt, Cost()}, 0);
  EXPECT_EQ(ledger.report().total.epsilon.value(), 0.0);
  EXPECT_NO_THROW(open_run(ledger, pure(1.0)));
}

TEST(Ledger, AnAnchorMustOccurInTheChain) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(1.0, 0.0));
  std::vector<std::string> anchors = {ledger.head()};
  open_run(ledger, pure(0.5));
  anchors.push_back(ledger.head());
  EXPECT_TRUE(ledger.verify(anchors).whole());
  anchors.push_back(sha256_hex("of another ledger"));
  EXPECT_THAT(ledger.verify(anchors).fault, HasSubstr("is not in the chain"));
  EXPECT_EQ(ledger.verify(anchors).entries, 2);
}

TEST(Ledger, RandomBusinessNeverExceedsTheLimit) {
  const TempDir dir;
  Ledger ledger = Ledger::create(dir / "a", terms(3.0, 1e-6));
  std::uint64_t random = 12345;
  const auto below = [&](std::uint64_t n) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    return (random >> 33) % n;
  };
  std::vector<std::pair<std::string, LedgerCharge>> open;
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    if (!open.empty() && below(2) == 0) {
      const auto at = open.begin() + static_cast<std::ptrdiff_t>(below(open.size()));
      const double share = static_cast<double>(below(5)) / 4.0;
      LedgerCharge spent{std::nullopt, at->second.rho * share};
      if (at->second.pure) spent.pure = *at->second.pure * share;
      ledger.settle(at->first, spent, 0);
      open.erase(at);
    } else {
      const double amount = static_cast<double>(1 + below(100)) / 200.0;
      const LedgerCharge charge = below(2) == 0 ? pure(amount) : zcdp(amount / 20.0);
      try {
        open.emplace_back(open_run(ledger, charge), charge);
      } catch (const BudgetError&) {
        ++refused;
      }
    }
    if (i % 10 == 0) {
      ASSERT_LE(ledger.report().total.epsilon.value(), 3.0);
    }
  }
  EXPECT_GT(refused, 5);
  EXPECT_EQ(ledger.verify().fault, "");
}

}  // namespace
}  // namespace tandem
