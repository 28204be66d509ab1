// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/noise_plan.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tandem/base/check.h"
#include "tandem/base/int128.h"
#include "tandem/base/mutant.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/discrete_gaussian.h"
#include "tandem/privacy/discrete_laplace.h"
#include "tandem/privacy/pricing.h"

namespace tandem {

NoisePlan plan_noise(const LinearQuery& query, const QuerySensitivity& sensitivity,
                     Currency currency, Cost cost, NoiseKind kind) {
  const bool exact_total = query.clique.empty() && mutant(Mutant::PeekAtTotal);
  if (sensitivity.l1.value() == 0.0 || exact_total) return {};
  if (cost.is_zero()) {
    throw BudgetError("A measurement needs a budget above zero; nothing is left for it.");
  }
  NoisePlan plan{.kind = kind, .units = 0.0};
  if (kind == NoiseKind::Gaussian) {
    check(currency == Currency::Zcdp, "Gaussian noise is paid for in rho");
    const Sigma need = gaussian_sigma(sensitivity.squared_l2, Rho(cost.lower_bound()));
    plan.units = DiscreteGaussian(need).sigma().value();
  } else {
    check(kind == NoiseKind::Laplace, "noise is Gaussian or Laplace");
    const L1Sensitivity moved(mutant(Mutant::LaplaceByL2)
                                  ? std::sqrt(sensitivity.squared_l2.value())
                                  : sensitivity.l1.value());
    const Scale need = laplace_scale(moved, laplace_budget(currency, cost));
    plan.units = DiscreteLaplace(need).scale().value();
  }
  if (mutant(Mutant::RoundSigmaDown)) plan.units *= 0.9;
  return plan;
}

double standard_deviation(const NoisePlan& plan, double unit) {
  switch (plan.kind) {
    case NoiseKind::None:
      return 0.0;
    case NoiseKind::Gaussian:
      return plan.units * unit;
    case NoiseKind::Laplace:
      // The variance 2 t / (1 - t)^2 with t = exp(-1/b) is below that of continuous noise, 2 b^2.
      return std::numbers::sqrt2 * plan.units * unit;
  }
  throw InternalError("Noise is of an unknown kind.");
}

void add_noise(const NoisePlan& plan, std::span<std::int64_t> values, EntropySource& entropy) {
  if (plan.kind == NoiseKind::None || mutant(Mutant::NoNoise)) return;
  std::vector<std::int64_t> noise(values.size());
  if (plan.kind == NoiseKind::Gaussian) {
    DiscreteGaussian(Sigma(plan.units)).fill(noise, entropy);
  } else {
    DiscreteLaplace(Scale(plan.units)).fill(noise, entropy);
  }
  if (mutant(Mutant::SharedNoise)) std::ranges::fill(noise, noise.front());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += noise[i];
}

std::vector<std::int64_t> exact_answer(const LinearQuery& query, const Factor& counts) {
  const std::size_t outputs = query.map.outputs(counts.values.size());
  std::vector<std::int64_t> answer(outputs);
  for (std::size_t i = 0; i < outputs; ++i) {
    if (query.map.is_identity()) {
      answer[i] = static_cast<std::int64_t>(counts.values[i]);
      continue;
    }
    Int128 sum = 0;
    for (const auto& [column, coefficient] : query.map.row(i)) {
      sum += static_cast<Int128>(coefficient) * static_cast<std::int64_t>(counts.values[column]);
    }
    // Saturating is a contraction, so it keeps the sensitivity; 2^61 leaves room for the noise.
    constexpr Int128 kMost = static_cast<Int128>(1) << 61;
    answer[i] = static_cast<std::int64_t>(std::clamp(sum, -kMost, kMost));
  }
  return answer;
}

}  // namespace tandem
