// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ledger's SQLite file: transactions that reach the disk, rows in and out, no meaning.
//
// Rollback journal, not WAL: between transactions the ledger is exactly one file, so that a copy
// or a backup of it is whole, where WAL would leave the newest runs in a second file and a copy
// without it would hand their budget out again. synchronous=EXTRA: when a commit returns, the
// data, and the journal's removal from the folder, are on the disk.
//
// Privacy: every function here moves rows and claims nothing; ledger.h has the promises.
//
// Errors: SourceError when the file is locked, read-only or the disk fails; UsageError when the
// content is not a ledger or damaged.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/privacy/ledger_entry.h"

namespace tandem {

class LedgerFile {
 public:
  // Makes the file with its first entry, whose number and hash are filled in here.
  static LedgerFile create(const std::string& path, const LedgerEntry& first,
                           std::chrono::milliseconds patience);
  static LedgerFile open(const std::string& path, std::chrono::milliseconds patience);
  LedgerFile(LedgerFile&&) noexcept;
  LedgerFile& operator=(LedgerFile&&) noexcept;
  ~LedgerFile();

  const std::string& path() const;

  // One consistent view (Read), or the only writer (Write) until committed; undone otherwise.
  class Transaction {
   public:
    enum Kind { Read, Write };
    Transaction(const LedgerFile& file, Kind kind);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

   private:
    const LedgerFile& file_;
    bool open_ = true;
  };

  // Header, schema, B-trees and size, read whole: UsageError that says what is not sound.
  void check_structure() const;

  // Every entry in order, until `visit` returns false.
  void each(const std::function<bool(const LedgerEntry&)>& visit) const;

  // The row kept beside the entries: how many there are and the newest hash.
  struct Head {
    std::int64_t seq = 0;
    std::string hash;
    bool operator==(const Head&) const = default;
  };
  Head head() const;
  Head newest() const;  // the same, from the entries themselves

  // Of one run, by an index: a few rows whatever the ledger's size.
  struct Progress {
    bool reserved = false;
    bool settled = false;
    std::int64_t steps = 0;
  };
  Progress progress(const std::string& run) const;
  std::optional<std::string> digest(const std::string& run, std::int64_t step) const;
  std::vector<std::string> digests(const std::string& run) const;

  // Adds an entry after the head, which moves, and returns it with its number, time and hash.
  LedgerEntry append(LedgerEntry entry);

 private:
  struct Impl;
  explicit LedgerFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem
