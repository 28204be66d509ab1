// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ledger's chain, read entry by entry against its rules: the terms, the runs and their totals.

#include <map>

#include "tandem/privacy/ledger.h"
#include "tandem/privacy/ledger_entry.h"

namespace tandem {

class Ledger::Book {
 public:
  // Takes the next entry. Returns what is wrong with it, in words that follow "entry N ", or
  // nothing. After a fault the book is of no use.
  //
  // Privacy: entries that pass were written by the ledger's rules, or rewritten as a whole chain by
  // someone who knows them.
  std::optional<std::string> take(const LedgerEntry& entry);

  const LedgerTerms& terms() const { return terms_; }
  const std::string& created() const { return created_; }
  const std::vector<LedgerRun>& runs() const { return runs_; }
  const LedgerRun* find(const std::string& run) const;
  std::int64_t entries() const { return entries_; }
  const std::string& head() const { return head_; }

  // How the runs that have drawn something, or still may, read records. Nothing: there are none.
  std::optional<Records> records() const;

  // Sums over some runs, from which every composition follows: of what each counts for, and of
  // what it reserved, which does not depend on results.
  struct Sums {
    Cost pure;       // epsilon of the pure runs
    Cost rho;        // of all runs
    Cost other_rho;  // of the runs that are not pure
    Cost reserved_pure;
    Cost reserved_other_rho;
    int others = 0;  // runs that are not pure
    void add(const LedgerCharge& charge, const LedgerCharge& reserved);
    // Privacy: a run that drew nothing knew nothing, so it is as if it had never been.
    void settle(const LedgerCharge& reserved, const LedgerCharge& spent);
  };
  const Sums& sums() const { return sums_; }  // of what settled runs spent and open ones reserved
  Sums sums(bool settled) const;              // of one of the two

  // The smallest valid epsilon at the ledger's delta, rounded up; beyond any limit when there is
  // none, which needs delta 0 and a run that is not pure.
  //
  // Privacy: runs with these charges, also interleaved, are together (epsilon, delta)-DP. Sums of
  // pure epsilons: basic composition. Sums of rho: composition of zCDP (Bun, Steinke 2016), then
  // epsilon_of. Mixed: basic composition of the two. The pure and the zCDP sum are also filters:
  // holding them under a limit keeps the promise when amounts are chosen after seeing earlier
  // results (Rogers et al. 2016; Whitehouse et al. 2023), and so does taking the smaller of the
  // two, because the pure one needs no delta. The mixed sum is proved for amounts that do not
  // depend on results, so it counts what runs reserved: what they spend depends on what they saw.
  // docs/ledger.md#amounts-chosen-after-seeing-results says what holds else.
  struct Total {
    Cost epsilon;
    Composition composition = Composition::Pure;
  };
  Total compose(const Sums& sums) const;
  bool fits(const Sums& sums) const;  // compose(sums) is within the limit
  // The smallest total that any version has accepted runs by: up to 0.1, a mixed sum counted
  // settled runs as what they had spent.
  Cost least_ever(const Sums& sums) const;

  // The largest run of each kind that still fits, rounded down.
  //
  // Privacy: follow from public amounts only.
  Cost left_pure() const;
  Cost left_rho() const;

 private:
  std::optional<std::string> take_create(const LedgerEntry& entry);
  std::optional<std::string> take_limit(const LedgerEntry& entry);
  std::optional<std::string> take_reserve(const LedgerEntry& entry);
  std::optional<std::string> take_step(const LedgerEntry& entry, LedgerRun& run);
  std::optional<std::string> take_settle(const LedgerEntry& entry, LedgerRun& run);
  static std::optional<LedgerCharge> charge_of(const LedgerEntry& entry);
  Cost converted(Cost rho) const;
  Total compose_apart(const Sums& sums) const;
  Cost largest_that_fits(Cost low, LedgerCharge (*charge)(Cost)) const;

  LedgerTerms terms_;
  std::string created_;
  std::vector<LedgerRun> runs_;
  std::map<std::string, std::size_t> index_;  // run id to its place in runs_
  Sums sums_;
  std::int64_t entries_ = 0;
  std::string head_{kNoPreviousHash};
};

// What is wrong with terms, if anything: a sentence without its path.
std::optional<std::string> fault_of(const LedgerTerms& terms);

// A run's label in the chain says how it reads records: one that reads them as quoted ends in
// ' (quoted)', and no other does.
std::string label_of(std::string name, Records records);
Records records_of(std::string_view label);

// Whether `spent` is an amount of the same kind as `reserved` and within it.
bool within(const LedgerCharge& spent, const LedgerCharge& reserved);

}  // namespace tandem
