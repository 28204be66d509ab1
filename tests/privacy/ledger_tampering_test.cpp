// SPDX-License-Identifier: Apache-2.0
// Hands that edit a ledger: what verify() finds, and what it can not.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>

#include "privacy/ledger_support.h"
#include "tandem/privacy/ledger_file.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::fault_in;
using test::open_run;
using test::pure;
using test::sample;
using test::Sql;
using test::TempDir;
using testing::HasSubstr;

TEST(LedgerTampering, AnEditOfAnyColumnOfAnyRowIsFound) {
  const TempDir dir;
  const std::string original = sample(dir);
  const std::string copy = dir / "copy";
  int edits = 0;
  Sql reader(original);
  const auto try_edit = [&](const std::string& table, const std::string& column,
                            const std::string& row, const std::string& value) {
    const std::string where = " WHERE rowid = " + row;
    const std::string same = "SELECT " + column + " IS " + value + " FROM " + table + where;
    if (reader.rows(same)[0][0] == "1") return;
    fs::copy_file(original, copy, fs::copy_options::overwrite_existing);
    const std::string edit = "UPDATE " + table + " SET " + column + " = " + value + where;
    if (!Sql(copy).run(edit)) return;  // SQLite's own constraints refuse it
    ++edits;
    EXPECT_NE(fault_in(copy), "") << edit;
  };
  for (const auto& table : reader.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")) {
    for (const auto& row : reader.rows("SELECT rowid FROM " + table[0])) {
      for (const auto& column :
           reader.rows("SELECT name, type FROM pragma_table_info('" + table[0] + "')")) {
        std::vector<std::string> values = {"''", "'0'", "coalesce(" + column[0] + ", '') || 'x'",
                                           "(SELECT hash FROM entries WHERE seq = 1)", "NULL"};
        if (column[1] == "INTEGER") {
          const std::string number = "coalesce(" + column[0] + ", 0)";
          values = {"0", "-1", number + " + 1", number + " + 1000", "NULL"};
        }
        for (const auto& value : values) try_edit(table[0], column[0], row[0], value);
      }
    }
  }
  EXPECT_GT(edits, 300);
  EXPECT_EQ(fault_in(original), "");
}

TEST(LedgerTampering, RemovedSwappedAddedAndCopiedEntriesAreFound) {
  const TempDir dir;
  const std::string original = sample(dir);
  const std::string copy = dir / "copy";
  const std::string columns =
      "time, kind, dataset, epsilon, delta, neighbors, rows_per_person, run, mechanism, label, "
      "pure, rho, step, digest, hash";
  std::vector<std::string> edits = {
      "DELETE FROM entries",
      "DELETE FROM head",
      "INSERT INTO head VALUES (0, 'x')",
      "INSERT INTO head SELECT * FROM head",
      "INSERT INTO entries (" + columns + ") SELECT " + columns + " FROM entries WHERE seq = 7",
      "INSERT INTO entries (seq, time, kind, hash) VALUES (0, '', '', '')",
      "INSERT INTO entries (seq, time, kind, hash) VALUES (-9223372036854775807, '', '', '')",
      "UPDATE entries SET seq = seq + 1000",
      "DROP INDEX entries_by_run",
      "DROP VIEW runs",
      "DROP TABLE head",
      "CREATE TABLE extra (a)",
      "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
      "ALTER TABLE entries ADD COLUMN extra TEXT",
      "ALTER TABLE entries RENAME COLUMN rho TO rho2",
      "PRAGMA application_id = 1",
      "PRAGMA user_version = 0",
      "PRAGMA user_version = 2",
      "PRAGMA journal_mode = WAL",
  };
  for (int seq = 1; seq <= 7; ++seq) {
    edits.push_back(fmt::format("DELETE FROM entries WHERE seq = {}", seq));
    edits.push_back(fmt::format("DELETE FROM entries WHERE seq >= {}", seq));
    edits.push_back(
        fmt::format("DELETE FROM entries WHERE seq = {0}; UPDATE entries SET seq = "
                    "seq - 1 WHERE seq > {0}; UPDATE head SET seq = seq - 1",
                    seq));
    if (seq == 7) continue;
    edits.push_back(
        fmt::format("UPDATE entries SET seq = -seq WHERE seq IN ({0}, {1}); "
                    "UPDATE entries SET seq = {0} + {1} + seq WHERE seq < 0",
                    seq, seq + 1));
  }
  for (const auto& edit : edits) {
    fs::copy_file(original, copy, fs::copy_options::overwrite_existing);
    ASSERT_TRUE(Sql(copy).run(edit)) << edit;
    EXPECT_NE(fault_in(copy), "") << edit;
    fs::remove(copy + "-wal");
  }
  EXPECT_EQ(fault_in(original), "");
}

TEST(LedgerTampering, SaysWhichEntryIsWrong) {
  const TempDir dir;
  const std::string path = sample(dir);
  ASSERT_TRUE(Sql(path).run("UPDATE entries SET rho = '1' WHERE seq = 3"));
  const VerifyReport report = Ledger::open(path).verify();
  EXPECT_THAT(report.fault, HasSubstr("entry 3 does not match its hash"));
  EXPECT_EQ(report.entries, 2);
}

TEST(LedgerTampering, NothingIsGrantedFromABrokenChain) {
  const TempDir dir;
  const std::string path = sample(dir);
  Ledger open_before = Ledger::open(path);
  const std::string run = open_before.report().runs[1].id;
  ASSERT_TRUE(Sql(path).run("UPDATE entries SET rho = '1' WHERE seq = 3"));
  for (Ledger* ledger : {&open_before}) {
    EXPECT_THROW(open_run(*ledger, pure(0.1)), BudgetError);
    EXPECT_THROW(ledger->settle(run, test::zcdp(0.001), 1), BudgetError);
    EXPECT_THROW(ledger->report(), BudgetError);
    EXPECT_THROW(ledger->state(run), BudgetError);
  }
  Ledger open_after = Ledger::open(path);
  EXPECT_THROW(open_run(open_after, pure(0.1)), BudgetError);
}

TEST(LedgerTampering, ACleanCutIsSeenOnlyWithAnAnchor) {
  const TempDir dir;
  const std::string path = sample(dir);
  const std::vector<std::string> cited = {Ledger::open(path).head()};
  ASSERT_TRUE(
      Sql(path).run("DELETE FROM entries WHERE seq = 7; UPDATE head SET seq = 6, hash = "
                    "(SELECT hash FROM entries WHERE seq = 6)"));
  EXPECT_EQ(fault_in(path), "");
  EXPECT_THAT(Ledger::open(path).verify(cited).fault, HasSubstr("is not in the chain"));
}

// Entries with proper hashes that no ledger would write.
TEST(LedgerTampering, ARewrittenChainMustStillObeyTheRules) {
  const TempDir dir;
  const std::string original = sample(dir);
  const Ledger ledger = Ledger::open(original);
  const std::string settled = ledger.report().runs[0].id;
  const std::string open = ledger.report().runs[1].id;
  const std::string fresh(32, 'a');
  const std::string digest = sha256_hex("d");
  const auto entry = [](const char* kind, const std::string& run) {
    LedgerEntry e;
    e.kind = kind;
    e.run = run;
    return e;
  };
  const auto reserve = [&](const std::string& run, const char* rho) {
    LedgerEntry e = entry("reserve", run);
    e.mechanism = "mst";
    e.label = "r";
    e.rho = rho;
    return e;
  };
  const auto step = [&](const std::string& run, std::int64_t index, const std::string& value) {
    LedgerEntry e = entry("step", run);
    e.step = index;
    e.digest = value;
    return e;
  };
  const auto settle = [&](const std::string& run, const char* rho) {
    LedgerEntry e = entry("settle", run);
    e.rho = rho;
    return e;
  };
  std::vector<std::pair<LedgerEntry, std::string>> bad = {
      {entry("gift", open), "unknown kind"},
      {entry("", open), "unknown kind"},
      {entry("create", open), "creates a ledger that exists"},
      {step(fresh, 0, digest), "never reserved"},
      {step(settled, 2, digest), "settled before"},
      {step(open, 0, digest), "not the next step"},
      {step(open, 2, digest), "not the next step"},
      {step(open, 1, "DIGEST"), "does not state its digest"},
      {settle(settled, "1"), "settled before"},
      {settle(fresh, "1"), "never reserved"},
      {settle(open, "99999999999999999999999999999999999"), "more than was reserved"},
      {settle(open, "-1"), "more than was reserved"},
      {reserve(open, "1"), "a run that exists"},
      {reserve("short", "1"), "does not state its run"},
      {reserve(fresh, ""), "does not state its run"},
      {reserve(fresh, "01"), "does not state its run"},
      {reserve(fresh, "1e9"), "does not state its run"},
      {reserve(fresh, "340282366920938463463374607431768211455"), "does not state its run"},
      {reserve(fresh, "1208925819614629174706176000"), "more than the limit"},
  };
  LedgerEntry e = reserve(fresh, "1");
  e.label = "escape \x1b[2J";
  bad.emplace_back(e, "does not state its run");
  e = reserve(fresh, "1");
  e.pure = "0";
  bad.emplace_back(e, "does not state its run");
  e = reserve(fresh, "1");
  e.step = 1;
  bad.emplace_back(e, "fields that its kind does not");
  e = step(open, 1, digest);
  e.rho = "1";
  bad.emplace_back(e, "fields that its kind does not");
  e = settle(open, "1");
  e.dataset = "other";
  bad.emplace_back(e, "fields that its kind does not");

  const std::string copy = dir / "copy";
  for (const auto& [forged, fault] : bad) {
    fs::copy_file(original, copy, fs::copy_options::overwrite_existing);
    {
      LedgerFile file = LedgerFile::open(copy, 1s);
      LedgerFile::Transaction write(file, LedgerFile::Transaction::Write);
      file.append(forged);
      write.commit();
    }
    EXPECT_THAT(fault_in(copy), HasSubstr(fault));
    EXPECT_THAT(fault_in(copy), HasSubstr("entry 8"));
  }
}

TEST(LedgerTampering, AnEntryHasNoFieldThatItsKindDoesNot) {
  const TempDir dir;
  const std::string original = sample(dir);
  const std::string open = Ledger::open(original).report().runs[1].id;
  const std::map<std::string, std::function<void(LedgerEntry&)>> fields = {
      {"dataset", [](LedgerEntry& e) { e.dataset = "people"; }},
      {"epsilon", [](LedgerEntry& e) { e.epsilon = "1"; }},
      {"delta", [](LedgerEntry& e) { e.delta = "1e-09"; }},
      {"neighbors", [](LedgerEntry& e) { e.neighbors = "replace-one"; }},
      {"rows_per_person", [](LedgerEntry& e) { e.rows_per_person = 1; }},
      {"mechanism", [](LedgerEntry& e) { e.mechanism = "mst"; }},
      {"label", [](LedgerEntry& e) { e.label = "r"; }},
      {"pure", [](LedgerEntry& e) { e.pure = "1"; }},
      {"rho", [](LedgerEntry& e) { e.rho = "1"; }},
      {"step", [](LedgerEntry& e) { e.step = 1; }},
      {"digest", [](LedgerEntry& e) { e.digest = sha256_hex("d"); }}};
  const std::map<std::string, std::vector<std::string>> kinds = {
      {"reserve", {"mechanism", "label", "pure", "rho"}},
      {"step", {"step", "digest"}},
      {"settle", {"pure", "rho"}}};
  const std::string copy = dir / "copy";
  for (const auto& [kind, own] : kinds) {
    for (const auto& [strange, set_strange] : fields) {
      if (std::ranges::find(own, strange) != own.end()) continue;
      LedgerEntry e;
      e.kind = kind;
      e.run = kind == "reserve" ? std::string(32, 'a') : open;
      for (const auto& field : own) {
        if (field != "pure") fields.at(field)(e);
      }
      fs::copy_file(original, copy, fs::copy_options::overwrite_existing);
      const auto append = [&] {
        LedgerFile file = LedgerFile::open(copy, 1s);
        LedgerFile::Transaction write(file, LedgerFile::Transaction::Write);
        file.append(e);
        write.commit();
      };
      append();
      EXPECT_EQ(fault_in(copy), "") << kind << " without " << strange;
      fs::copy_file(original, copy, fs::copy_options::overwrite_existing);
      set_strange(e);
      append();
      EXPECT_THAT(fault_in(copy), HasSubstr("fields that its kind does not")) << kind << strange;
    }
  }
}

TEST(LedgerTampering, ManyHugeAmountsAreAFaultNotAnOverflow) {
  const TempDir dir;
  LedgerEntry create;
  create.kind = "create";
  create.dataset = "people";
  create.epsilon = "1";
  create.delta = "1e-09";
  create.neighbors = "replace-one";
  create.rows_per_person = 1;
  {
    LedgerFile file = LedgerFile::create(dir / "a", create, 1s);
    LedgerFile::Transaction write(file, LedgerFile::Transaction::Write);
    for (int i = 0; i < 300; ++i) {
      LedgerEntry e;
      e.kind = "reserve";
      e.run = sha256_hex(std::to_string(i)).substr(0, 32);
      e.mechanism = e.label = "x";
      e.rho = "1329227995784915872903807060280344576";  // 2^120 grains
      file.append(e);
    }
    write.commit();
  }
  EXPECT_THAT(fault_in(dir / "a"), HasSubstr("an impossible amount"));
}

// Up to version 0.1 a run that had settled counted as what it had spent, beside pure runs, too.
TEST(LedgerTampering, WhatAnEarlierVersionAcceptedIsNoFault) {
  const TempDir dir;
  const auto fault = [&](const std::string& name, double spent, double pure_epsilon) {
    LedgerEntry create;
    create.kind = "create";
    create.dataset = "people";
    create.epsilon = "1";
    create.delta = "0.01";
    create.neighbors = "replace-one";
    create.rows_per_person = 1;
    LedgerFile file = LedgerFile::create(dir / name, create, 1s);
    {
      LedgerFile::Transaction write(file, LedgerFile::Transaction::Write);
      LedgerEntry e;
      e.kind = "reserve";
      e.run = std::string(32, 'a');
      e.mechanism = e.label = "x";
      e.rho = test::zcdp(0.04).rho.grains();  // worth an epsilon of 0.8
      file.append(e);
      e = {};
      e.kind = "settle";
      e.run = std::string(32, 'a');
      e.rho = test::zcdp(spent).rho.grains();
      file.append(e);
      e = {};
      e.kind = "reserve";
      e.run = std::string(32, 'b');
      e.mechanism = e.label = "x";
      e.pure = pure(pure_epsilon).pure->grains();
      e.rho = pure(pure_epsilon).rho.grains();
      file.append(e);
      write.commit();
    }
    return fault_in(dir / name);
  };
  EXPECT_EQ(fault("a", 0.0001, 0.7), "");
  EXPECT_THAT(fault("b", 0.01, 0.95), HasSubstr("more than the limit"));
  EXPECT_THAT(fault("c", 0.03, 0.7), HasSubstr("more than the limit"));
}

TEST(LedgerTampering, TermsThatMakeNoSenseAreFoundAtOpening) {
  const TempDir dir;
  int number = 0;
  const auto with = [&](const std::function<void(LedgerEntry&)>& change) {
    LedgerEntry e;
    e.kind = "create";
    e.dataset = "people";
    e.epsilon = "1";
    e.delta = "1e-09";
    e.neighbors = "replace-one";
    e.rows_per_person = 1;
    change(e);
    const std::string path = dir / std::to_string(++number);
    LedgerFile::create(path, e, 1s);
    return fault_in(path);
  };
  EXPECT_EQ(with([](LedgerEntry&) {}), "");
  EXPECT_NE(with([](LedgerEntry& e) { e.kind = "reserve"; }), "");
  EXPECT_NE(with([](LedgerEntry& e) { e.kind = "step"; }), "");
  EXPECT_NE(with([](LedgerEntry& e) { e.dataset = "a\nb"; }), "");
  EXPECT_NE(with([](LedgerEntry& e) { e.dataset.reset(); }), "");
  EXPECT_NE(with([](LedgerEntry& e) { e.epsilon = "inf"; }), "");
  EXPECT_NE(with([](LedgerEntry& e) { e.epsilon = "0"; }), "");
  EXPECT_NE(with([](LedgerEntry& e) { e.delta = "2"; }), "");
  EXPECT_NE(with([](LedgerEntry& e) { e.neighbors = "both"; }), "");
  EXPECT_NE(with([](LedgerEntry& e) { e.rows_per_person = 0; }), "");
  EXPECT_NE(with([](LedgerEntry& e) { e.rows_per_person = 1LL << 40; }), "");
  EXPECT_NE(with([](LedgerEntry& e) { e.run = "x"; }), "");
}

}  // namespace
}  // namespace tandem
