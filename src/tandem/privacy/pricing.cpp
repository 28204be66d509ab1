// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/pricing.h"

#include "tandem/base/mutant.h"
#include "tandem/privacy/accountant.h"

namespace tandem {

Epsilon selection_epsilon(Currency currency, Cost cost, Selection how) {
  if (mutant(Mutant::CheapFlips)) how = Selection::Exponential;
  const double amount = cost.lower_bound();
  if (currency == Currency::Pure) return Epsilon(amount);
  return how == Selection::Exponential ? exponential_epsilon(Rho(amount))
                                       : permute_and_flip_epsilon(Rho(amount));
}

Rho selection_rho(Epsilon epsilon, Selection how) {
  return how == Selection::Exponential ? exponential_rho(epsilon) : permute_and_flip_rho(epsilon);
}

Epsilon laplace_budget(Currency currency, Cost cost) {
  const double amount = cost.lower_bound();
  return currency == Currency::Pure ? Epsilon(amount) : pure_epsilon(Rho(amount));
}

Cost draw_price(const Filter& filter, Epsilon epsilon) {
  return filter.price(filter.currency() == Currency::Pure ? epsilon.value()
                                                          : exponential_rho(epsilon).value());
}

}  // namespace tandem
