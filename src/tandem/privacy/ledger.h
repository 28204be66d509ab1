// SPDX-License-Identifier: Apache-2.0
#pragma once
// The durable budget of one private data set: what all its releases together may cost, and what
// they have cost so far. One SQLite file, append-only and hash-chained; docs/ledger.md is its
// promise, its format and its limits.
//
// A run reserves its whole budget before any data is read, records the digest of each result
// before the result is used, and settles at its end, which gives back what it did not spend. A run
// that dies in between stays charged in full. Every change is one transaction that has reached
// the disk when the call returns: two processes can't overspend together.
//
// A ledger holds nothing of the data: amounts, names, times, and digests of results that are
// already private. Whoever may see the releases, and how long they took to make, may see it.
//
// Work: reserve, settle, state, verify and report read the whole chain; record_step reads a few
// rows. A Ledger serves one thread and does not survive fork(); open one in each process.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tandem/base/units.h"
#include "tandem/data/text_format.h"
#include "tandem/privacy/cost.h"
#include "tandem/privacy/privacy_unit.h"

namespace tandem {

// Fixed at creation, but for epsilon, which set_limit can change. delta 0 admits only runs with a
// pure guarantee.
struct LedgerTerms {
  std::string dataset;
  Epsilon epsilon;  // above 0, at most 2^20
  Delta delta;      // from 0, below 1
  PrivacyUnit unit;
};

// What a run costs: its pure epsilon if it has one, and always its rho. An epsilon-DP run has
// rho = epsilon^2/2, or less by a better bound.
struct LedgerCharge {
  std::optional<Cost> pure;
  Cost rho;
  bool operator==(const LedgerCharge&) const = default;
};

struct RunInfo {
  std::string mechanism;
  std::string label;  // the release folder's name, for people; in the file it tells `records` too
  PrivacyUnit unit;
  bool seeded = false;
  Records records = Records::Lines;  // what counts as a row of the private file
};

struct RunState {
  LedgerCharge reserved;
  std::vector<std::string> steps;     // digests, in order
  std::optional<LedgerCharge> spent;  // when settled
};

// How a total was found: the smallest of those that apply.
enum class Composition {
  Pure,  // every run is pure: the sum of their epsilons, delta 0
  Zcdp,  // the sum of all rho, converted at the ledger's delta
  Mixed  // the sum of the pure epsilons, plus the rho of the other runs converted, as reserved
};
std::string_view name_of(Composition composition);

struct LedgerTotal {
  Epsilon epsilon;  // rounded up
  Composition composition = Composition::Pure;
};

struct LedgerRun {
  std::string id;
  std::string time;  // of the reservation: UTC, "2026-01-31T12:00:00Z"
  std::string mechanism;
  std::string label;  // ends in ' (quoted)' where records are quoted
  LedgerCharge reserved;
  std::int64_t steps = 0;
  std::optional<LedgerCharge> spent;  // absent while the run is open, and for good if it died
};

struct LedgerReport {
  LedgerTerms terms;
  std::string created;
  std::string head;
  LedgerTotal spent;               // by settled runs, composed alone
  LedgerTotal reserved;            // by open runs, composed alone
  LedgerTotal total;               // by all: what the limit is held against
  Epsilon left_pure;               // the largest pure run that still fits, rounded down
  Rho left_rho;                    // the largest zCDP run that still fits, rounded down
  std::vector<LedgerRun> runs;     // in order of reservation
  std::optional<Records> records;  // of its runs; none yet: of any
};

struct VerifyReport {
  std::string fault;         // one sentence; empty when the ledger is whole
  std::int64_t entries = 0;  // read until the fault, or in all
  std::string head;          // the hash of the newest entry read
  bool whole() const { return fault.empty(); }
};

class Ledger {
 public:
  static constexpr std::chrono::milliseconds kPatience{10'000};  // for another process's lock

  // Makes the file; UsageError if there is one. A crash leaves nothing, or an empty file.
  //
  // Privacy: from here on, all runs charged to the file are together (epsilon, delta)-DP for
  // `terms.unit`, as long as there is one file: a copy would grant the budget again.
  static Ledger create(const std::string& path, const LedgerTerms& terms,
                       std::chrono::milliseconds patience = kPatience);

  // UsageError for anything that is not a sound ledger file of a known version; the chain itself
  // is checked by verify() and before each reservation. A read-only file can be shown.
  //
  // Privacy: grants nothing.
  static Ledger open(const std::string& path, std::chrono::milliseconds patience = kPatience);

  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  const LedgerTerms& terms() const;

  // Sets an amount aside and returns the run's id, 32 random hexadecimal digits. BudgetError for a
  // seeded run, a privacy unit that does not cover the ledger's, records other than those of the
  // runs before, an amount above what is left, or a chain that is broken.
  //
  // Privacy: when it returns, the smallest valid composition of all charges, this one included, is
  // within the limit (a privacy filter; see Book::compose for the theorems), and the charge is on
  // the disk. Charges add up because neighbouring files are the same for all runs: what one record
  // is, is part of that.
  std::string reserve(const RunInfo& info, const LedgerCharge& charge);

  // The same under an id the caller made and wrote down first, so that a crash between the two
  // loses nothing: a run that is there with the same amount is left alone.
  void reserve(const std::string& run, const RunInfo& info, const LedgerCharge& charge);
  static std::string new_run_id();

  // BudgetError for what reserve() would refuse of a new run as the ledger is now. Nothing is
  // written: another process may take what is left.
  void require_room(const RunInfo& info, const LedgerCharge& charge) const;

  // Sets the total budget anew, for all to see: the change is an entry of the chain. BudgetError
  // below what is held already. Privacy: the promise is that of the largest limit ever in force
  // while runs were reserved; raising it is the steward's decision, not a mechanism's.
  void set_limit(Epsilon epsilon);

  // Commits a drawn result before it is used. Steps are numbered from 0 without gaps; a step that
  // is there with the same digest is left alone. BudgetError for one that is there with another
  // digest, which a copy of the run must have drawn; for a gap; and for a settled run.
  //
  // Privacy: of all copies and restarts of a run, at most one result of each step is ever used, so
  // that the run costs what it reserved, once.
  void record_step(const std::string& run, std::int64_t index, const std::string& digest);

  // Ends a run that has taken `steps` steps and gives back what it did not spend. Once; the same
  // amount again is left alone. BudgetError for more than was reserved, for a pure amount where
  // none was reserved, and for another number of steps than were recorded.
  //
  // Privacy: the caller vouches that the run's filter charged no more than `spent` for these steps.
  // A run that was resumed and stopped earlier than before would settle less than it has drawn; the
  // steps tell. No step can be recorded afterwards.
  void settle(const std::string& run, const LedgerCharge& spent, std::int64_t steps);

  // What a resumed run needs to know.
  //
  // Privacy: reads only what was released or granted; so do the functions below.
  RunState state(const std::string& run) const;

  // The newest entry's hash. A release that cites it lets verify() notice entries cut off later.
  std::string head() const;

  // Recomputes the chain and every rule of the ledger. Each anchor is a hash that must occur.
  VerifyReport verify(std::span<const std::string> anchors = {}) const;

  LedgerReport report() const;

 private:
  class Book;  // the chain, read and understood
  struct Impl;
  explicit Ledger(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem
