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
  if (query.clique.empty() && mutant(Mutant::PeekAtTotal)) return {};
  return plan_noise(sensitivity, currency, cost, kind);
}

NoisePlan plan_noise(const QuerySensitivity& sensitivity, Currency currency, Cost cost,
                     NoiseKind kind) {
  if (sensitivity.l1.value() == 0.0) return {};
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

NoisePlan divided(const NoisePlan& plan, std::int64_t weight) {
  if (plan.kind == NoiseKind::None) return plan;
  const double need = std::nextafter(plan.units / static_cast<double>(weight), HUGE_VAL);
  return {plan.kind, plan.kind == NoiseKind::Gaussian
                         ? DiscreteGaussian(Sigma(need)).sigma().value()
                         : DiscreteLaplace(Scale(need)).scale().value()};
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

namespace {

// Saturating is a contraction, so it keeps the sensitivity; 2^61 leaves room for the noise.
std::int64_t saturated(Int128 sum) {
  constexpr Int128 kMost = static_cast<Int128>(1) << 61;
  return static_cast<std::int64_t>(std::clamp(sum, -kMost, kMost));
}

// Every sum on the way is at most the number of rows times the largest coefficient of the product.
std::vector<std::int64_t> exact_product(const LinearMap& map, const Factor& counts) {
  double most = 0.0;
  for (const double count : counts.values) most += count;
  for (const auto& axis : map.axes()) most *= static_cast<double>(axis->largest_entry());
  if (most < 0x1p60) {
    return map.apply_axes(std::vector<std::int64_t>(counts.values.begin(), counts.values.end()));
  }
  check(most < 0x1p120, "a product's coefficients and rows stay within 128 bits");
  std::vector<Int128> wide;
  wide.reserve(counts.values.size());
  for (const double count : counts.values) wide.push_back(static_cast<std::int64_t>(count));
  std::vector<std::int64_t> out;
  for (const Int128 sum : map.apply_axes(std::move(wide))) out.push_back(saturated(sum));
  return out;
}

}  // namespace

std::vector<std::int64_t> exact_answer(const LinearQuery& query, const Factor& counts) {
  if (query.map.is_kronecker()) return exact_product(query.map, counts);
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
    answer[i] = saturated(sum);
  }
  return answer;
}

}  // namespace tandem
