// SPDX-License-Identifier: Apache-2.0
// Other processes, sudden death, and disks that are full or can not be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <thread>

#include "privacy/ledger_support.h"
#include "support/processes.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::fault_in;
using test::open_run;
using test::pure;
using test::sample;
using test::Sql;
using test::start_child;
using test::TempDir;
using test::terms;
using test::wait_for;
using testing::HasSubstr;

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
    ledger.settle(run, pure(0.25), 3);
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
    // Death comes after a few words and at any moment of the next, however fast the disk is.
    const auto hear = [&] {
      Word word;
      if (read(words[0], &word, sizeof word) != sizeof word) return false;
      told[std::string(word.run.begin(), word.run.end())].push_back(word);
      return true;
    };
    for (std::uint32_t patience = random() % 8; patience > 0; --patience) ASSERT_TRUE(hear());
    std::this_thread::sleep_for(
        std::chrono::microseconds(random() % (round % 2 == 0 ? 2000 : 20000)));
    kill(child, SIGKILL);
    EXPECT_EQ(wait_for(child), 128 + SIGKILL);
    while (hear()) {
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
    EXPECT_THAT(complaint([&] { ledger.settle(run, test::zcdp(0.001), 1); }),
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
