// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/dual/dual_parameters.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/mechanism/rounds/common.h"
#include "tandem/privacy/accountant.h"

namespace tandem {
namespace {

constexpr double kScale = 2700.0;  // the u of ADULT at epsilon 1 and delta .001 is about 2.4
constexpr double kRounds = 70.0;   // at u = 1
constexpr double kRate = 1.2;      // at u = 1
constexpr double kDrawsPerRound = 88.0 / 70.0;
constexpr std::int64_t kLeastRounds = 8;
constexpr std::int64_t kLeastDraws = 40;
constexpr std::int64_t kMostRounds = 100'000;
constexpr std::int64_t kMostDraws = 10'000'000;
constexpr double kRoundedUp = 1.0 + 1e-9;  // prices are rounded up, step by step

double sum_of_squares(double rounds) {  // of t - 1
  return rounds * (rounds - 1.0) * (2.0 * rounds - 1.0) / 6.0;
}

// The largest whole number up to `most` for which `fits` holds, which holds up to some point.
template <class F>
std::int64_t largest(std::int64_t most, const F& fits) {
  std::int64_t low = 0;
  std::int64_t high = most + 1;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

double largest_rate(const DualBudget& budget, DualParameters p) {
  double low = 0.0;
  double high = 1e6;
  for (int i = 0; i < 200; ++i) {
    p.rate = 0.5 * (low + high);
    (budget.share(p) <= 1.0 ? low : high) = p.rate;
  }
  return low;
}

// As the rule has it: eta falls with the root of T, and s grows with T.
double rule_rate(double rounds) { return kRate * std::sqrt(kRounds / rounds); }

std::int64_t rule_rounds(const DualBudget& budget) {
  if (budget.currency == Currency::Zcdp) {
    const double u = budget.n * std::sqrt(budget.amount) / kScale;
    const double rounds = std::nearbyint(kRounds * std::pow(u, 2.0 / 3.0));
    return static_cast<std::int64_t>(std::clamp(rounds, double{kLeastRounds}, double{kMostRounds}));
  }
  return std::max(kLeastRounds, largest(kMostRounds, [&](std::int64_t rounds) {
                    const auto T = static_cast<double>(rounds);
                    return budget.share({rounds, rule_rate(T),
                                         static_cast<std::int64_t>(kDrawsPerRound * T)}) <= 1.0;
                  }));
}

std::string rows_in_words(const DualBudget& budget) {
  return with_commas(static_cast<std::uint64_t>(std::llround(budget.rows())));
}

[[noreturn]] void fail_without_draws(const DualBudget& budget, const DualParameters& p) {
  throw TooFewRows(fmt::format(
      "dual-query: {} rounds at rate {:.4g} leave less than one draw a round of this budget and "
      "{} rows; choose fewer " TANDEM_SETTING("param.rounds") " or a lower " TANDEM_SETTING(
          "param.rate") ".",
      with_commas(static_cast<std::uint64_t>(p.rounds)), p.rate, rows_in_words(budget)));
}

// Of the proof of Theorem 4.1, where that is what the budget is counted by.
void require_condition(const DualBudget& budget, const DualParameters& p) {
  if (budget.accounting != DualAccounting::Theorem ||
      dual_theorem_holds(p, budget.n, budget.delta)) {
    return;
  }
  throw TooFewRows(fmt::format(
      "dual-query: {} rounds of {} draws at rate {:.4g} break the condition sqrt(sT) (e^(2 eta "
      "T/n) - 1) <= sqrt(2 ln(1/delta)) that the theorem's proof needs at {} rows; "
      "choose " TANDEM_SETTING("param.accounting") " zcdp, or a smaller " TANDEM_SETTING(
          "epsilon") ".",
      with_commas(static_cast<std::uint64_t>(p.rounds)),
      with_commas(static_cast<std::uint64_t>(p.draws)), p.rate, rows_in_words(budget)));
}

}  // namespace

double dual_rho(const DualParameters& p, double n) {
  const auto T = static_cast<double>(p.rounds);
  return static_cast<double>(p.draws) * p.rate * p.rate * sum_of_squares(T) / (2.0 * n * n);
}

double dual_pure_epsilon(const DualParameters& p, double n) {
  const auto T = static_cast<double>(p.rounds);
  return static_cast<double>(p.draws) * p.rate * T * (T - 1.0) / n;
}

double dual_theorem_epsilon(const DualParameters& p, double n, double delta) {
  const auto T = static_cast<double>(p.rounds);
  const auto s = static_cast<double>(p.draws);
  return 4.0 * p.rate * T * std::sqrt(2.0 * s * T * std::log(1.0 / delta)) / n;
}

bool dual_theorem_holds(const DualParameters& p, double n, double delta) {
  const auto T = static_cast<double>(p.rounds);
  const auto s = static_cast<double>(p.draws);
  return std::sqrt(s * T) * std::expm1(2.0 * p.rate * T / n) <=
         std::sqrt(2.0 * std::log(1.0 / delta));
}

double dual_advanced_epsilon(const DualParameters& p, double n, double delta) {
  double squares = 0.0;
  double drift = 0.0;
  for (std::int64_t t = 2; t <= p.rounds; ++t) {
    const double e_t = 2.0 * p.rate * static_cast<double>(t - 1) / n;
    squares += e_t * e_t;
    drift += e_t * std::expm1(e_t);
  }
  const auto s = static_cast<double>(p.draws);
  return std::sqrt(2.0 * std::log(1.0 / delta) * s * squares) + s * drift;
}

DualBudget DualBudget::of(const Curator& curator, double rows, DualAccounting accounting,
                          double delta) {
  const bool pure = curator.currency() == Currency::Pure;
  if (pure && accounting != DualAccounting::Filter) {
    throw UsageError(
        TANDEM_SETTING("param.accounting") " theorem and advanced need a delta; give a "
        TANDEM_SETTING("delta") " above 0, or leave the accounting out.");
  }
  const double amount = curator.remaining().lower_bound();
  if (accounting != DualAccounting::Filter &&
      !(epsilon_of(Rho(amount), Delta(delta)).value() > 0.0)) {
    throw UsageError(fmt::format(
        TANDEM_SETTING(
            "param.accounting-delta") " is {:g}, at which the budget is worth an epsilon "
                                      "of 0; choose a smaller one.",
        delta));
  }
  // What the gate charges for a draw says by how much one person moves scores.
  const double price = curator.cost_for_conjunctions(1.0 / rows).upper_bound();
  const double range = pure ? price : std::sqrt(8.0 * price);
  return {curator.currency(), amount, 2.0 / range, accounting, delta, range * rows};
}

double DualBudget::share(const DualParameters& p) const {
  if (accounting == DualAccounting::Filter) {
    const double cost = currency == Currency::Pure ? dual_pure_epsilon(p, n) : dual_rho(p, n);
    return kRoundedUp * cost / amount;
  }
  const double epsilon = epsilon_of(Rho(amount), Delta(delta)).value();
  return (accounting == DualAccounting::Theorem ? dual_theorem_epsilon(p, n, delta)
                                                : dual_advanced_epsilon(p, n, delta)) /
         epsilon;
}

DualParameters choose_dual_parameters(const DualBudget& budget, const DualWishes& wishes) {
  DualParameters p;
  if (wishes.rounds) {
    p.rounds = *wishes.rounds;
  } else if (wishes.rate && wishes.draws) {
    p.rounds =
        std::max<std::int64_t>(2, largest(kMostRounds, [&](std::int64_t rounds) {
                                 return budget.share({rounds, *wishes.rate, *wishes.draws}) <= 1.0;
                               }));
  } else {
    p.rounds = rule_rounds(budget);
  }
  p.draws = wishes.draws.value_or(0);
  if (!wishes.rate && wishes.draws) {
    p.rate = largest_rate(budget, p);
  } else {
    p.rate = wishes.rate ? *wishes.rate : rule_rate(static_cast<double>(p.rounds));
    const auto fits = [&](std::int64_t draws) {
      return budget.share({p.rounds, p.rate, draws}) <= 1.0;
    };
    if (wishes.draws && !fits(*wishes.draws)) {
      throw TooFewRows(fmt::format(
          "dual-query: {} rounds of {} draws at rate {:.4g} take {:.3g} times the budget of {} "
          "rows; leave one of " TANDEM_SETTING("param.rounds") ", " TANDEM_SETTING(
              "param.draws") " and " TANDEM_SETTING("param.rate") " out.",
          with_commas(static_cast<std::uint64_t>(p.rounds)),
          with_commas(static_cast<std::uint64_t>(p.draws)), p.rate, budget.share(p),
          rows_in_words(budget)));
    }
    if (!wishes.draws) p.draws = largest(kMostDraws, fits);
    if (!wishes.rate && p.draws < kLeastDraws) {
      p.draws = kLeastDraws;
      p.rate = largest_rate(budget, p);
    }
  }
  if (p.draws < 1 || !(p.rate > 0.0)) fail_without_draws(budget, p);
  require_condition(budget, p);
  return p;
}

DualTheorem theorem_parameters(const DualBudget& budget, double queries, double log_rows_possible,
                               double beta) {
  const auto at = [&](double alpha) {
    const double T = std::ceil(16.0 * std::log(2.0 * queries) / (alpha * alpha));
    const double s =
        std::ceil(48.0 * (log_rows_possible + std::log(2.0 * T / beta)) / (alpha * alpha));
    return DualParameters{std::max<std::int64_t>(2, static_cast<std::int64_t>(std::min(T, 1e9))),
                          alpha / 4.0, static_cast<std::int64_t>(std::min(s, 1e15))};
  };
  const auto fits = [&](double alpha) {
    const auto p = at(alpha);
    return p.rounds <= kMostRounds && p.draws <= kMostDraws && budget.share(p) <= 1.0;
  };
  if (!fits(1.0)) {
    throw TooFewRows(
        fmt::format("dual-query: the theorem promises no error below 1 for this budget and {} "
                    "rows; leave " TANDEM_SETTING("param.parameters") " at its default.",
                    rows_in_words(budget)));
  }
  double low = 0.0;
  double high = 1.0;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (middle > 0.0 && fits(middle) ? high : low) = middle;
  }
  require_condition(budget, at(high));
  return {at(high), high};
}

}  // namespace tandem
