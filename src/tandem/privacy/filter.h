// SPDX-License-Identifier: Apache-2.0
#pragma once
// The budget of one run: asked before every draw, it refuses what would overspend.
//
// A filter holds one currency: rho (zCDP) or a pure epsilon. Steps may be chosen adaptively, also
// their number and their cost: the guarantee holds because the filter stops the run, not because a
// plan was followed.

#include <string>
#include <utility>
#include <vector>

#include "tandem/base/units.h"
#include "tandem/privacy/cost.h"

namespace tandem {

struct LedgerCharge;
struct StepRecord;

enum class Currency { Zcdp, Pure };  // amounts of rho, or of epsilon

// One step that spent budget, for the release.
struct Charge {
  std::string what;  // "measure 15 marginals"
  Cost cost;         // in the filter's currency
  Rho rho;           // the same step as zCDP, rounded up
};

class Filter {
 public:
  // Privacy: everything charged is together rho-zCDP (fully adaptive composition: Whitehouse,
  // Ramdas, Rogers, Wu 2023, Theorem 1; for zCDP, Feldman and Zrnic 2021).
  static Filter zcdp(Rho total);
  // Privacy: everything charged is together epsilon-DP (Rogers, Roth, Ullman, Vadhan 2016).
  static Filter pure(Epsilon total);

  Currency currency() const { return currency_; }
  Cost total() const { return total_; }
  Cost spent() const { return spent_; }
  Cost remaining() const { return total_ - spent_ - held_; }
  Rho spent_rho() const;  // of all charges, rounded up

  // Sets a share of what remains aside until it is let go: no step can spend it meanwhile.
  void hold(double share) { held_ = held_ + remaining().split(share).first; }
  Cost let_go() { return std::exchange(held_, Cost()); }

  // An amount of this filter's currency, rounded up.
  Cost price(double amount) const { return Cost::at_least(amount); }

  // Privacy: called before data is touched or noise drawn. An error leaves all as it was.
  void charge(std::string what, Cost cost, Rho rho);

  // A step that an earlier attempt took, from the amounts in its record.
  void charge_again(const StepRecord& recorded);

  const std::vector<Charge>& charges() const { return charges_; }

  // For a ledger: the whole budget, set aside before the run; and what was spent of it.
  LedgerCharge reservation() const;
  LedgerCharge settlement() const;

 private:
  Filter(Currency currency, Cost total) : currency_(currency), total_(total) {}

  Currency currency_;
  Cost total_;
  Cost spent_;
  Cost held_;  // kept for the end of the run
  Cost spent_rho_;
  std::vector<Charge> charges_;
};

}  // namespace tandem
