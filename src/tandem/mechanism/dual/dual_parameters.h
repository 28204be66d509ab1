// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many rounds, how sharp and how many draws a budget pays for in DualQuery: T, eta and s.
//
// Round t draws s times with probability ~ exp(eta (t-1)/n score), and round 1 is free. Everything
// is a function of n as replace-one with a row a person sees it: where scores move by a range r
// instead of 2, n stands for 2n/r.
//
//   Gaboardi, Gallego Arias, Hsu, Roth, Wu. Dual Query: Practical Private Query Release for High
//   Dimensional Data. 2014. Theorems 4.1 and 4.2.

#include <cstdint>
#include <optional>

#include "tandem/privacy/curator.h"

namespace tandem {

struct DualParameters {
  std::int64_t rounds = 0;  // T
  double rate = 0.0;        // eta
  std::int64_t draws = 0;   // s
};

// ---- What they cost ----

double dual_rho(const DualParameters& p, double n);
double dual_pure_epsilon(const DualParameters& p, double n);
// Theorem 4.1, and the condition that its proof needs.
double dual_theorem_epsilon(const DualParameters& p, double n, double delta);
bool dual_theorem_holds(const DualParameters& p, double n, double delta);
// Advanced composition of all draws, each at its own epsilon, as the authors' code has it.
double dual_advanced_epsilon(const DualParameters& p, double n, double delta);

// ---- What a budget pays for ----

enum class DualAccounting {
  Filter,   // of the run: zCDP, or a pure epsilon
  Theorem,  // the two that the paper and its code use; they spend less of the same budget
  Advanced
};

struct DualBudget {
  Currency currency = Currency::Zcdp;
  double amount = 0.0;  // of rho or epsilon
  double n = 0.0;
  DualAccounting accounting = DualAccounting::Filter;
  double delta = 0.0;  // of the paper's accountings
  double range = 2.0;  // of the scores: by how much one person moves a difference of two

  // All that is left of a curator's, for a table of so many rows. UsageError where the paper's
  // accountings have no delta to work with.
  static DualBudget of(const Curator& curator, double rows, DualAccounting accounting,
                       double delta);
  double share(const DualParameters& p) const;  // of the budget: above 1 is too much
  double rows() const { return n * range / 2.0; }
};

struct DualWishes {
  std::optional<int> rounds{};
  std::optional<double> rate{};
  std::optional<int> draws{};
};

// The default rule for whatever is not wished: T grows with u^(2/3) and eta falls with u^(1/3),
// where u = n sqrt(rho) / 2700; the draws take what the budget leaves, at least 40, for which the
// rate gives way if it may. With rate and draws wished, as many rounds as the budget pays for.
// TooFewRows where not one draw a round is left, or the theorem's condition fails.
DualParameters choose_dual_parameters(const DualBudget& budget, const DualWishes& wishes);

struct DualTheorem {
  DualParameters parameters;
  double alpha = 0.0;  // with probability 1 - beta no answer is off by more
};

// Theorem 4.2: the least alpha that fits. TooFewRows where none below 1 does, or where the
// condition of the accounting's theorem fails.
DualTheorem theorem_parameters(const DualBudget& budget, double queries, double log_rows_possible,
                               double beta);

}  // namespace tandem
