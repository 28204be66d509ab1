// SPDX-License-Identifier: Apache-2.0
// Files that are not ledgers, or no longer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <random>

#include "privacy/ledger_support.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using test::fault_in;
using test::open_run;
using test::pure;
using test::read_file;
using test::sample;
using test::Sql;
using test::TempDir;
using test::terms;
using testing::HasSubstr;

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

}  // namespace
}  // namespace tandem
