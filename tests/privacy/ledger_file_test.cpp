// SPDX-License-Identifier: Apache-2.0
// What can happen to a ledger's file: other processes, sudden death, full disks, foreign bytes and
// hands that edit it.
#include "tandem/privacy/ledger_file.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "privacy/ledger_support.h"
#include "support/processes.h"
#include "tandem/base/digest.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::open_run;
using test::pure;
using test::read_file;
using test::start_child;
using test::TempDir;
using test::terms;
using test::wait_for;
using testing::HasSubstr;

// Raw SQL on a file, as someone at a prompt would type it.
class Sql {
 public:
  explicit Sql(const std::string& path) { sqlite3_open(path.c_str(), &db_); }
  ~Sql() { sqlite3_close(db_); }
  Sql(const Sql&) = delete;
  Sql& operator=(const Sql&) = delete;

  using Rows = std::vector<std::vector<std::string>>;
  // The rows, or nothing when SQLite itself refuses.
  std::optional<Rows> run(const std::string& sql) {
    Rows rows;
    const auto collect = [](void* out, int count, char** values, char**) {
      auto& row = static_cast<Rows*>(out)->emplace_back();
      for (int i = 0; i < count; ++i) row.emplace_back(values[i] == nullptr ? "NULL" : values[i]);
      return 0;
    };
    if (sqlite3_exec(db_, sql.c_str(), collect, &rows, nullptr) != SQLITE_OK) return std::nullopt;
    return rows;
  }
  Rows rows(const std::string& sql) { return run(sql).value(); }

 private:
  sqlite3* db_ = nullptr;
};

// What opening and verifying finds: "" for a whole ledger. Anything but a UsageError escapes.
std::string fault_in(const std::string& path) {
  try {
    return Ledger::open(path).verify().fault;
  } catch (const UsageError& error) {
    return error.what();
  }
}

// A small ledger with an entry of every kind; returns its path.
std::string sample(const TempDir& dir, const std::string& name = "sample") {
  Ledger ledger = Ledger::create(dir / name, terms(4.0, 1e-9));
  const std::string first = open_run(ledger, pure(1.0));
  const std::string second = open_run(ledger, test::zcdp(0.01));
  ledger.record_step(first, 0, sha256_hex("a"));
  ledger.record_step(second, 0, sha256_hex("b"));
  ledger.record_step(first, 1, sha256_hex("c"));
  ledger.settle(first, pure(0.5));
  return dir / name;
}

// ---- Hands that edit ----------------------------------------------------------------------------

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
    EXPECT_THROW(ledger->settle(run, test::zcdp(0.001)), BudgetError);
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

// ---- Files that are not ledgers -----------------------------------------------------------------

TEST(LedgerFileBytes, AnExistingFileIsNeverOverwritten) {
  const TempDir dir;
  const std::string path = dir.write("a", "something dear");
  EXPECT_THROW(Ledger::create(path, terms(1, 0)), UsageError);
  EXPECT_EQ(read_file(path), "something dear");
  const std::string ledger = sample(dir);
  const std::string before = read_file(ledger);
  EXPECT_THROW(Ledger::create(ledger, terms(1, 0)), UsageError);
  EXPECT_EQ(read_file(ledger), before);
  EXPECT_THROW(Ledger::create("", terms(1, 0)), UsageError);
  EXPECT_THROW(Ledger::create(dir / "no/such/folder", terms(1, 0)), SourceError);
}

TEST(LedgerFileBytes, WhatIsNotALedgerIsAUsageError) {
  const TempDir dir;
  const auto refused = [](const std::string& path) {
    EXPECT_THROW(Ledger::open(path), UsageError) << path;
  };
  refused("");
  refused(":memory:");
  refused("file::memory:");
  refused(dir / "missing");
  refused(dir.path().string());
  refused(dir.write("empty", ""));
  refused(dir.write("short", "SQLite format 3"));
  refused(dir.write("text", std::string(5000, 'x')));
  refused(dir.write("magic", std::string("SQLite format 3\0", 16) + std::string(5000, '\xff')));
  Sql(dir / "foreign").run("CREATE TABLE entries (a); INSERT INTO entries VALUES (1)");
  refused(dir / "foreign");
  mkfifo((dir / "pipe").c_str(), 0600);
  refused(dir / "pipe");
}

TEST(LedgerFileBytes, ANewerFormatIsNamed) {
  const TempDir dir;
  const std::string path = sample(dir);
  Sql(path).run("PRAGMA user_version = 7");
  EXPECT_THAT(fault_in(path), HasSubstr("ledger format 7"));
}

TEST(LedgerFileBytes, AStrayWalFileIsNotTakenForContent) {
  const TempDir dir;
  const std::string path = sample(dir);
  dir.write("sample-wal", "left by something else");
  EXPECT_THAT(fault_in(path), HasSubstr("WAL"));
  fs::remove(path + "-wal");
  EXPECT_EQ(fault_in(path), "");
}

TEST(LedgerFileBytes, EveryTruncationIsFound) {
  const TempDir dir;
  const std::string path = sample(dir);
  const std::string whole = read_file(path);
  for (std::size_t size = 0; size < whole.size(); size += 512) {
    EXPECT_NE(fault_in(dir.write("cut", whole.substr(0, size))), "") << size;
    EXPECT_NE(fault_in(dir.write("cut", whole.substr(0, size + 1))), "") << size + 1;
    EXPECT_NE(
        fault_in(dir.write("cut", whole.substr(0, size) + std::string(whole.size() - size, '\0'))),
        "")
        << size;
  }
  EXPECT_NE(fault_in(dir.write("cut", whole + std::string(4096, '\0'))), "");
}

TEST(LedgerFileBytes, FlippedBitsNeverChangeWhatIsCharged) {
  const TempDir dir;
  const std::string path = sample(dir);
  const std::string whole = read_file(path);
  std::mt19937 random(7);
  int unnoticed = 0;
  for (int i = 0; i < 400; ++i) {
    std::string bytes = whole;
    const std::size_t at = random() % bytes.size();
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
    const std::string copy = dir.write("flipped", bytes);
    if (!fault_in(copy).empty()) continue;
    ++unnoticed;  // a byte that holds nothing: unused space of a page, a counter of SQLite's
    const LedgerReport report = Ledger::open(copy).report();
    ASSERT_EQ(report.runs.size(), 2U);
    EXPECT_EQ(report.runs[0].spent, pure(0.5));
    EXPECT_EQ(report.runs[1].reserved, test::zcdp(0.01));
  }
  EXPECT_LT(unnoticed, 400);
}

TEST(LedgerFileBytes, ASymbolicLinkLeadsToTheLedger) {
  const TempDir dir;
  sample(dir);
  fs::create_symlink("sample", dir / "link");
  Ledger ledger = Ledger::open(dir / "link");
  open_run(ledger, pure(0.1));
  EXPECT_EQ(Ledger::open(dir / "sample").report().runs.size(), 3U);
}

TEST(LedgerFileBytes, BetweenCallsTheLedgerIsOneFile) {
  const TempDir dir;
  Ledger ledger = Ledger::open(sample(dir));
  open_run(ledger, pure(0.1));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(dir.path())) ++files;
  EXPECT_EQ(files, 1U);
  fs::copy_file(dir / "sample", dir / "copy");  // while it is open
  EXPECT_EQ(fault_in(dir / "copy"), "");
  EXPECT_EQ(Ledger::open(dir / "copy").report().runs.size(), 3U);
}

// ---- Other processes, death, and disks ----------------------------------------------------------

TEST(LedgerProcesses, TwoThatWouldOverspendTogetherCanNot) {
  const TempDir dir;
  for (int round = 0; round < 20; ++round) {
    const std::string path = dir / std::to_string(round);
    Ledger::create(path, terms(1.0, 0.0));
    int gate[2];
    ASSERT_EQ(pipe(gate), 0);
    const auto ask = [&] {
      close(gate[1]);
      Ledger ledger = Ledger::open(path);
      char byte = 0;
      if (read(gate[0], &byte, 1) != 0) return 98;  // both start when the parent closes the pipe
      try {
        open_run(ledger, pure(0.625));
        return 0;
      } catch (const BudgetError&) {
        return 3;
      }
    };
    const std::array children = {start_child(ask), start_child(ask)};
    std::this_thread::sleep_for(5ms);
    close(gate[1]);
    close(gate[0]);
    std::array codes = {wait_for(children[0]), wait_for(children[1])};
    std::ranges::sort(codes);
    EXPECT_EQ(codes, (std::array{0, 3}));
    const Ledger ledger = Ledger::open(path);
    EXPECT_EQ(ledger.verify().fault, "");
    EXPECT_EQ(ledger.report().runs.size(), 1U);
  }
}

TEST(LedgerProcesses, ManyThatReserveAtOnceAllGetTheirTurn) {
  const TempDir dir;
  const std::string path = dir / "a";
  Ledger::create(path, terms(1.0, 0.0));
  std::vector<pid_t> children;
  children.reserve(6);
  for (int i = 0; i < 6; ++i) {
    children.push_back(start_child([&] {
      Ledger ledger = Ledger::open(path);
      for (int k = 0; k < 4; ++k) {
        const std::string run = open_run(ledger, pure(1.0 / 32));
        ledger.record_step(run, 0, sha256_hex(run));
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  const Ledger ledger = Ledger::open(path);
  EXPECT_EQ(ledger.verify().fault, "");
  EXPECT_EQ(ledger.report().total.epsilon.value(), 24.0 / 32);
}

// What a child tells its parent: '.' intends to settle, the others have happened.
struct Word {
  char what = 0;  // r reserved, s step recorded, . about to settle, S settled
  std::array<char, 32> run{};
  std::int64_t steps = 0;
};

int do_business(const std::string& path, int words) {
  Ledger ledger = Ledger::open(path);
  const auto say = [&](char what, const std::string& run, std::int64_t steps = 0) {
    Word word{what, {}, steps};
    std::copy_n(run.begin(), 32, word.run.begin());
    if (write(words, &word, sizeof word) != sizeof word) _exit(97);
  };
  for (;;) {
    const std::string run = open_run(ledger, pure(0.5));
    say('r', run);
    for (int step = 0; step < 3; ++step) {
      ledger.record_step(run, step, sha256_hex(run + std::to_string(step)));
      say('s', run, step + 1);
    }
    say('.', run);
    ledger.settle(run, pure(0.25));
    say('S', run);
  }
}

TEST(LedgerProcesses, SuddenDeathLosesNothingThatWasAcknowledged) {
  const TempDir dir;
  const std::string path = dir / "a";
  Ledger::create(path, terms(1 << 20, 0.0));
  std::mt19937 random(42);
  std::map<std::string, std::vector<Word>> told;
  std::size_t entries = 1;
  for (int round = 0; round < 60; ++round) {
    int words[2];
    ASSERT_EQ(pipe(words), 0);
    const pid_t child = start_child([&] {
      close(words[0]);
      return do_business(path, words[1]);
    });
    close(words[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(2000 + random() % 40000));
    kill(child, SIGKILL);
    EXPECT_EQ(wait_for(child), 128 + SIGKILL);
    Word word;
    while (read(words[0], &word, sizeof word) == sizeof word) {
      told[std::string(word.run.begin(), word.run.end())].push_back(word);
    }
    close(words[0]);

    const Ledger ledger = Ledger::open(path);
    const VerifyReport verdict = ledger.verify();
    ASSERT_EQ(verdict.fault, "") << "round " << round;
    ASSERT_GE(static_cast<std::size_t>(verdict.entries), entries);
    entries = static_cast<std::size_t>(verdict.entries);
  }

  const LedgerReport report = Ledger::open(path).report();
  std::map<std::string, LedgerRun> runs;
  for (const auto& run : report.runs) runs.emplace(run.id, run);
  double acknowledged = 0.0;
  for (const auto& [id, history] : told) {
    ASSERT_TRUE(runs.contains(id));
    double charged = 0.5;
    for (const Word& word : history) {
      EXPECT_GE(runs.at(id).steps, word.steps);
      if (word.what == '.') charged = 0.25;
      if (word.what == 'S') {
        EXPECT_EQ(runs.at(id).spent, pure(0.25));
      }
    }
    acknowledged += charged;
  }
  EXPECT_GE(report.total.epsilon.value(), acknowledged);
  EXPECT_GT(told.size(), 10U);
}

TEST(LedgerProcesses, DeathDuringCreationLeavesNoLedgerThatLooksWhole) {
  const TempDir dir;
  std::mt19937 random(1);
  int whole = 0;
  for (int round = 0; round < 40; ++round) {
    const std::string path = dir / std::to_string(round);
    const pid_t child = start_child([&] {
      Ledger::create(path, terms(1.0, 0.0));
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
    kill(child, SIGKILL);
    wait_for(child);
    if (!fs::exists(path) || !fault_in(path).empty()) continue;
    ++whole;
    Ledger ledger = Ledger::open(path);
    EXPECT_EQ(ledger.terms().epsilon.value(), 1.0);
    EXPECT_NO_THROW(open_run(ledger, pure(1.0)));
  }
  RecordProperty("whole", whole);
}

TEST(LedgerProcesses, ALockedLedgerIsAClearErrorAfterAWhile) {
  const TempDir dir;
  const std::string path = sample(dir);
  Ledger ledger = Ledger::open(path, 50ms);
  const std::string run = ledger.report().runs[1].id;
  const auto complaint = [](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const SourceError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  const auto while_locked = [&](const char* lock, const std::function<void()>& test) {
    int ready[2];
    int done[2];
    ASSERT_EQ(pipe(ready) + pipe(done), 0);
    const pid_t child = start_child([&] {
      close(ready[0]);
      close(done[1]);
      Sql sql(path);
      if (!sql.run(lock)) return 1;
      char byte = 0;
      if (write(ready[1], &byte, 1) != 1) return 2;
      return static_cast<int>(read(done[0], &byte, 1));  // 0 when the parent closes its end
    });
    close(ready[1]);
    close(done[0]);
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    test();
    close(done[1]);
    close(ready[0]);
    EXPECT_EQ(wait_for(child), 0);
  };
  while_locked("BEGIN IMMEDIATE", [&] {
    EXPECT_THAT(complaint([&] { open_run(ledger, pure(0.1)); }),
                HasSubstr("locked by another process"));
    EXPECT_THAT(complaint([&] { ledger.record_step(run, 1, sha256_hex("x")); }),
                HasSubstr("locked by another process"));
    EXPECT_THAT(complaint([&] { ledger.settle(run, test::zcdp(0.001)); }),
                HasSubstr("locked by another process"));
    EXPECT_EQ(ledger.report().runs.size(), 2U);  // reading goes on
  });
  while_locked("BEGIN EXCLUSIVE", [&] {
    EXPECT_THAT(complaint([&] { ledger.report(); }), HasSubstr("locked by another process"));
    EXPECT_THAT(complaint([&] { ledger.verify(); }), HasSubstr("locked by another process"));
    EXPECT_THAT(complaint([&] { Ledger::open(path, 50ms); }),
                HasSubstr("locked by another process"));
  });
  // A reader that stays lets nobody commit, and nothing is half done.
  while_locked("BEGIN; SELECT * FROM entries; SELECT count(*) FROM head", [&] {
    EXPECT_THAT(complaint([&] { open_run(ledger, pure(0.1)); }),
                HasSubstr("locked by another process"));
  });
  EXPECT_EQ(ledger.verify().fault, "");
  EXPECT_NO_THROW(open_run(ledger, pure(0.1)));
}

TEST(LedgerProcesses, AFullDiskIsAnErrorAndTheOldContentStays) {
  const TempDir dir;
  const std::string path = sample(dir);
  int counts[2];
  ASSERT_EQ(pipe(counts), 0);
  const pid_t child = start_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlim_t size = fs::file_size(path);
    const rlimit limit{size, size};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    Ledger ledger = Ledger::open(path);
    for (int granted = 0; granted < 1000; ++granted) {
      if (write(counts[1], &granted, sizeof granted) != sizeof granted) return 2;
      try {
        open_run(ledger, pure(0.001));
      } catch (const SourceError&) {
        return ledger.verify().whole() ? 0 : 3;
      }
    }
    return 4;
  });
  close(counts[1]);
  int granted = -1;
  while (read(counts[0], &granted, sizeof granted) == sizeof granted) {
  }
  close(counts[0]);
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_EQ(fault_in(path), "");
  EXPECT_EQ(Ledger::open(path).report().runs.size(), 2U + static_cast<std::size_t>(granted));
}

TEST(LedgerProcesses, AFullDiskLeavesNoHalfMadeLedger) {
  const TempDir dir;
  const pid_t child = start_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{8192, 8192};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    try {
      Ledger::create(dir / "a", terms(1, 0));
    } catch (const SourceError&) {
      return 0;
    }
    return 2;
  });
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

TEST(LedgerProcesses, AReadOnlyLedgerCanBeShownButNotCharged) {
  const TempDir dir;
  const std::string path = sample(dir);
  fs::permissions(path, fs::perms::owner_read | fs::perms::others_read);
  fs::permissions(dir.path(), fs::perms::owner_read | fs::perms::owner_exec |
                                  fs::perms::others_read | fs::perms::others_exec);
  const pid_t child = start_child([&] {
    // Permissions do not bind root: become nobody.
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 77;
    Ledger ledger = Ledger::open(path);
    if (!ledger.verify().whole() || ledger.report().runs.size() != 2) return 1;
    try {
      open_run(ledger, pure(0.1));
    } catch (const SourceError&) {
      return 0;
    }
    return 2;
  });
  const int code = wait_for(child);
  fs::permissions(dir.path(), fs::perms::owner_all);
  if (code == 77) GTEST_SKIP() << "root that can't become another user";
  EXPECT_EQ(code, 0);
}

TEST(LedgerProcesses, AFolderThatCanNotBeWrittenIsAnError) {
  const TempDir dir;
  const std::string path = sample(dir);
  fs::permissions(path, fs::perms::all);
  fs::permissions(dir.path(), fs::perms::owner_read | fs::perms::owner_exec |
                                  fs::perms::others_read | fs::perms::others_exec);
  const pid_t child = start_child([&] {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 77;
    try {
      Ledger::create(dir / "new", terms(1, 0));
      return 1;
    } catch (const SourceError&) {
    }
    Ledger ledger = Ledger::open(path);
    try {
      open_run(ledger, pure(0.1));
      return 2;
    } catch (const SourceError&) {
      return 0;
    }
  });
  const int code = wait_for(child);
  fs::permissions(dir.path(), fs::perms::owner_all);
  if (code == 77) GTEST_SKIP() << "root that can't become another user";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace tandem
