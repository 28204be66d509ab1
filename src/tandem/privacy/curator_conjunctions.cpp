// SPDX-License-Identifier: Apache-2.0
// The gate's conjunctions: drawn by how many rows fulfil them, or counted with noise.
#include <fmt/core.h>

#include <cmath>
#include <string>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/text.h"
#include "tandem/privacy/conjunction_draw.h"
#include "tandem/privacy/curator.h"
#include "tandem/privacy/curator_impl.h"
#include "tandem/privacy/score_units.h"
#include "tandem/privacy/selection.h"

namespace tandem {
namespace {

using namespace score_units;

// Privacy: every count moves by at most m, and all of them may: one row may fulfil all conjunctions
// while the row it replaces fulfils none.
QuerySensitivity sensitivity_of(const ConjunctionSet& conjunctions, const PrivacyUnit& unit) {
  const auto rows = static_cast<double>(unit.rows_per_person);
  const auto all = mutant(Mutant::OneConjunction) ? 1.0 : static_cast<double>(conjunctions.size());
  return {L1Sensitivity(rows * all), SquaredL2Sensitivity(rows * rows * all), rows};
}

}  // namespace

double range_of_scores(const PrivacyUnit& unit) {
  const double rows = unit.rows_per_person;
  const bool one_way = unit.neighbors == Neighbors::AddRemove || mutant(Mutant::MonotoneReplace);
  if (mutant(Mutant::RangeTwice)) return one_way ? 2.0 * rows : 4.0 * rows;
  return one_way ? rows : 2.0 * rows;
}

ConjunctionDraw conjunction_draw(const PrivacyUnit& unit, double rate) {
  if (!(rate > 0.0 && std::isfinite(rate))) throw InternalError("A rate is a positive number.");
  const double sharper = mutant(Mutant::SharperConjunctions) ? 1.01 : 1.0;
  const double upward = mutant(Mutant::ConjunctionsRoundedDown) ? 0.0 : HUGE_VAL;
  return {rate_at_most(sharper * rate * kUnitOfConjunctions),
          Epsilon(std::nextafter(rate * range_of_scores(unit), upward))};
}

Cost Curator::cost_for_conjunctions(double rate) const {
  return draw_price(impl_->filter, conjunction_draw(impl_->effective_unit(), rate).epsilon);
}

std::vector<ConjunctionChoice> Curator::sample_conjunctions(const ConjunctionScores& scores,
                                                            double rate, std::size_t draws) {
  const std::size_t size = scores.conjunctions.size();
  check(scores.references.size() == size && scores.negated_references.size() == size,
        "each conjunction and each negation has a reference");
  if (draws == 0) return {};
  const auto [rate_of_units, epsilon] = conjunction_draw(impl_->effective_unit(), rate);
  const auto times = static_cast<double>(draws);
  const double rho_times = mutant(Mutant::OneConjunctionsRho) ? 1.0 : times;
  const Step told{
      .kind = StepKind::DrawConjunctions,
      .choices = 2 * size,
      .draws = draws,
      .epsilon = epsilon.value(),
      .cost = draw_price(impl_->filter, epsilon) * times,
      .rho = Rho(std::nextafter(exponential_rho(epsilon).value() * rho_times, HUGE_VAL))};
  const std::string request =
      fmt::format("sample_conjunctions|{}|{:a}|{:a}|{}", scores.conjunctions.digest(), rate,
                  epsilon.value(), draws);
  const std::string what = fmt::format("draw {} conjunctions", with_commas(draws));
  const auto record = impl_->charged_step(what, told, request, [&] {
    const auto counts = impl_->counts.counts(scores.conjunctions);
    const auto rows = static_cast<std::int64_t>(impl_->counts.counts(Clique()).values.front());
    auto& values = impl_->scores_room;
    values.resize(2 * size);
    for (std::size_t i = 0; i < size; ++i) {
      const std::int64_t failing =
          mutant(Mutant::NegationLosesRows) ? -counts[i] : rows - counts[i];
      values[i] =
          count_on_grid(static_cast<double>(counts[i])) - reference_on_grid(scores.references[i]);
      values[size + i] = (failing < 0 ? -count_on_grid(static_cast<double>(-failing))
                                      : count_on_grid(static_cast<double>(failing))) -
                         reference_on_grid(scores.negated_references[i]);
    }
    const ExponentialTable table(values, rate_of_units, impl_->settings().threads);
    std::vector<std::size_t> drawn(draws);
    table.draw_many(drawn, *impl_->shared->entropy);
    return std::vector<std::vector<std::int64_t>>{{drawn.begin(), drawn.end()}};
  });
  if (record.results.size() != 1 || record.results[0].size() != draws) impl_->damaged();
  std::vector<ConjunctionChoice> choices;
  choices.reserve(draws);
  for (const auto position : record.results[0]) {
    const auto at = static_cast<std::size_t>(position);
    if (position < 0 || at >= 2 * size) impl_->damaged();
    choices.push_back({at % size, at >= size});
  }
  impl_->tell(told);
  return choices;
}

Sigma Curator::conjunction_noise(const ConjunctionSet& conjunctions, Cost cost,
                                 NoiseKind noise) const {
  const auto sensitivity = sensitivity_of(conjunctions, impl_->effective_unit());
  return Sigma(standard_deviation(plan_noise(sensitivity, currency(), cost, noise), 1.0));
}

NoisyCounts Curator::measure_conjunctions(const ConjunctionSet& conjunctions, Cost cost,
                                          NoiseKind noise) {
  const auto sensitivity = sensitivity_of(conjunctions, impl_->effective_unit());
  const NoisePlan plan = plan_noise(sensitivity, currency(), cost, noise);
  NoisyCounts out{.values = {}, .noise = plan.kind, .sigma = Sigma(standard_deviation(plan, 1.0))};
  const Step told{.kind = StepKind::MeasureConjunctions,
                  .measured = {{Clique(), conjunctions.size(), out.sigma.value()}},
                  .noise = plan.kind,
                  .choices = conjunctions.size(),
                  .cost = cost,
                  .rho = impl_->measuring_rho(cost, noise)};
  const std::string request =
      fmt::format("measure_conjunctions|{}|{}|{}|{:a}", conjunctions.digest(), cost.grains(),
                  static_cast<int>(plan.kind), plan.units);
  const std::string what = fmt::format("measure {} conjunctions", with_commas(conjunctions.size()));
  const auto record = impl_->charged_step(what, told, request, [&] {
    const auto counts = impl_->counts.counts(conjunctions);
    std::vector<std::int64_t> values(counts.begin(), counts.end());
    add_noise(plan, values, *impl_->shared->entropy);
    return std::vector<std::vector<std::int64_t>>{std::move(values)};
  });
  if (record.results.size() != 1 || record.results[0].size() != conjunctions.size()) {
    impl_->damaged();
  }
  out.values.assign(record.results[0].begin(), record.results[0].end());
  impl_->tell(told);
  return out;
}

}  // namespace tandem
