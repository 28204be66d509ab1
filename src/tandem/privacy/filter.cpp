// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/filter.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/mutant.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/ledger.h"
#include "tandem/privacy/transcript.h"

namespace tandem {

Filter Filter::zcdp(Rho total) { return {Currency::Zcdp, Cost::at_most(total.value())}; }

Filter Filter::pure(Epsilon total) { return {Currency::Pure, Cost::at_most(total.value())}; }

Rho Filter::spent_rho() const { return Rho(spent_rho_.upper_bound()); }

void Filter::charge(std::string what, Cost cost, Rho rho) {
  if (mutant(Mutant::ChargeNothing)) return;
  if (mutant(Mutant::ChargeHalf)) cost = cost / 2.0;
  if (cost > remaining()) {
    throw BudgetError(
        fmt::format("The step '{}' costs {:.6g} and {:.6g} of this run's budget is "
                    "left; it was not taken.",
                    what, cost.upper_bound(), remaining().lower_bound()));
  }
  const Cost spent = spent_ + cost;
  const Cost spent_rho = spent_rho_ + Cost::at_least(rho.value());
  charges_.push_back({std::move(what), cost, rho});
  spent_ = spent;  // nothing throws from here on
  spent_rho_ = spent_rho;
}

void Filter::charge_again(const StepRecord& recorded) {
  const auto amount = [](const std::string& grains) {
    constexpr std::size_t kMostDigits = 37;  // hold 2^120 and fit 128 bits
    if (grains.empty() || grains.size() > kMostDigits ||
        grains.find_first_not_of("0123456789") != std::string::npos) {
      throw UsageError("A recorded step states no amount of budget; its transcript is damaged.");
    }
    return Cost::from_grains(grains);
  };
  charge("an earlier step", amount(recorded.cost), Rho(amount(recorded.rho).upper_bound()));
}

LedgerCharge Filter::reservation() const {
  if (currency_ == Currency::Zcdp) return {std::nullopt, total_};
  const double less = mutant(Mutant::PureReservesLess) ? 0.25 : 1.0;
  return {total_, Cost::at_least(less * pure_rho(Epsilon(total_.upper_bound())).value())};
}

LedgerCharge Filter::settlement() const {
  if (currency_ == Currency::Zcdp) return {std::nullopt, spent_};
  const Cost rho = mutant(Mutant::PureSettlesHalf) ? spent_rho_ / 2.0 : spent_rho_;
  return {spent_, std::min(rho, reservation().rho)};
}

}  // namespace tandem
