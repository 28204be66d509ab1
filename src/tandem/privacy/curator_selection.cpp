// SPDX-License-Identifier: Apache-2.0
// The gate's selections: how scores are evaluated, drawn from and paid for.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "tandem/base/text.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/curator.h"
#include "tandem/privacy/curator_impl.h"
#include "tandem/privacy/pricing.h"
#include "tandem/privacy/requests.h"
#include "tandem/privacy/score_grid.h"
#include "tandem/privacy/selection.h"

namespace tandem {

struct Curator::Selecting {
  Impl& gate;

  template <class Scores>
  ScoreGrid grid_of(const Scores& scores) const {
    if (scores.empty()) throw InternalError("A selection needs at least one candidate.");
    return ScoreGrid::of(scores, gate.domain(), gate.effective_unit());
  }

  // Privacy: one number, so it moves as far in every norm.
  NoisePlan plan(const ScoreGrid& grid, Cost cost) const {
    auto steps = static_cast<double>(grid.sensitivity);
    if (static_cast<std::uint64_t>(steps) < grid.sensitivity) {
      steps = std::nextafter(steps, HUGE_VAL);
    }
    if (mutant(Mutant::ScoreOfOneRow)) steps /= gate.effective_unit().rows_per_person;
    const double squared = std::nextafter(steps * steps, HUGE_VAL);
    return plan_noise({L1Sensitivity(steps), SquaredL2Sensitivity(squared), steps}, gate.currency(),
                      cost, gate.default_noise());
  }

  std::size_t draw_one(std::span<const std::int64_t> values, Rate rate, Selection how) const {
    if (mutant(Mutant::LargestWins)) {
      return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
    }
    if (mutant(Mutant::DoubleSharpness)) rate.num *= 2;
    auto& entropy = *gate.shared->entropy;
    const Threads threads = gate.settings().threads;
    return how == Selection::Exponential ? exponential_draw(values, rate, entropy, threads)
                                         : permute_and_flip_draw(values, rate, entropy, threads);
  }

  // Privacy: scores on the public grid; they stay inside the gate. All counts are loaded at once.
  std::vector<std::int64_t> values_of(std::span<const Candidate> candidates,
                                      const ScoreGrid& grid) {
    std::vector<Clique> cliques;
    for (const auto& candidate : candidates) {
      for (const auto& term : candidate.score.terms()) cliques.push_back(term.reference->clique);
    }
    gate.counts.load(cliques);
    return evaluate(
        candidates, grid, [&](const Clique& c) -> const Factor& { return gate.counts.counts(c); },
        gate.settings().threads);
  }

  // `lists`: the hash of the cells of each. Privacy: counts are taken by what they are counts of,
  // so they are those of the cells asked for; were two lists ever of one hash, a score would be
  // that of another cell, which one row moves as little.
  std::span<const std::int64_t> values_of(std::span<const CellScores> scores, const ScoreGrid& grid,
                                          std::span<const std::uint64_t> lists) {
    auto& chosen = gate.chosen;
    chosen.resize(scores.size());
    const auto known = [&](std::size_t i) {
      const CellScores& cells = scores[i];
      return !cells.among.empty() && cells.query.map.is_identity() && chosen[i].list == lists[i] &&
             chosen[i].counts.size() == cells.among.size() &&
             chosen[i].clique == cells.query.clique;
    };
    std::vector<Clique> cliques;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (!known(i)) cliques.push_back(scores[i].query.clique);
    }
    gate.counts.load(cliques);
    std::vector<std::span<const double>> at_hand;
    at_hand.reserve(scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (known(i)) {
        at_hand.emplace_back(chosen[i].counts);
        continue;
      }
      const Clique& clique = scores[i].query.clique;
      chosen[i] = {clique, lists[i], {}};
      at_hand.push_back(
          counts_to_evaluate(scores[i], gate.counts.counts(clique), chosen[i].counts));
    }
    evaluate(scores, grid, at_hand, gate.settings().threads, gate.scores_room);
    return gate.scores_room;
  }

  // Privacy: charges first; then scores are evaluated on the public grid and one is drawn. `told`
  // gets its price.
  template <class Scores, class Values>
  std::size_t draw_among(const Scores& scores, const std::string& what, std::string request,
                         Cost cost, Selection how, Step& told, Values&& values) {
    const ScoreGrid grid = grid_of(scores);
    if (cost.is_zero()) {
      throw BudgetError("A selection needs a budget above zero; nothing is left for it.");
    }
    const Epsilon epsilon = selection_epsilon(gate.currency(), cost, how);
    const Rate rate = rate_at_most(grid.rate_for(epsilon.value()));
    // The epsilon too, since the same cost buys another one in another currency.
    request += fmt::format("|{}|{:a}|{}|{}|{}", cost.grains(), epsilon.value(),
                           static_cast<int>(how), grid.shift, grid.sensitivity);
    told.draws = 1;
    told.epsilon = epsilon.value();
    told.cost = cost;
    told.rho = selection_rho(epsilon, how);
    const auto record = gate.charged_step(what, told, request, [&] {
      const std::size_t drawn = draw_one(values(grid), rate, how);
      return std::vector<std::vector<std::int64_t>>{{static_cast<std::int64_t>(drawn)}};
    });
    if (record.results.size() != 1 || record.results[0].size() != 1 || record.results[0][0] < 0) {
      gate.damaged();
    }
    return static_cast<std::size_t>(record.results[0][0]);
  }

  // ---- Cells: those of all scores stand one after the other ----

  std::size_t choices(const CellScores& cells) const {
    return cells.among.empty() ? cells.query.map.outputs(gate.domain().cells(cells.query.clique))
                               : cells.among.size();
  }

  // Where the cells of each begin; at the end, how many there are.
  std::vector<std::size_t> starts_of(std::span<const CellScores> scores) const {
    std::vector<std::size_t> starts = {0};
    for (const auto& cells : scores) starts.push_back(starts.back() + choices(cells));
    return starts;
  }

  CellChoice choice(std::span<const CellScores> scores, std::span<const std::size_t> starts,
                    std::int64_t position) const {
    if (position < 0 || static_cast<std::size_t>(position) >= starts.back()) gate.damaged();
    const auto after = std::ranges::upper_bound(starts, static_cast<std::size_t>(position));
    const auto which = static_cast<std::size_t>(after - starts.begin()) - 1;
    const std::size_t at = static_cast<std::size_t>(position) - starts[which];
    const auto& among = scores[which].among;
    return {which, among.empty() ? at : among[at]};
  }

  // What one draw at this rate costs, as a pure epsilon.
  Epsilon rate_epsilon(std::span<const CellScores> scores, double rate) const {
    if (!(rate > 0.0 && std::isfinite(rate))) throw InternalError("A rate is a positive number.");
    return Epsilon(grid_of(scores).epsilon_for(rate));
  }
};

double Curator::selection_scale(std::span<const Candidate> candidates, Cost cost,
                                Selection how) const {
  const ScoreGrid grid = Selecting{*impl_}.grid_of(candidates);
  const Epsilon epsilon = selection_epsilon(impl_->currency(), cost, how);
  return 2.0 * static_cast<double>(grid.sensitivity) * grid.step() / epsilon.value();
}

std::size_t Curator::select(std::span<const Candidate> candidates, Cost cost, Selection how) {
  std::string request = fmt::format("select:{}", candidates.size());
  for (const auto& candidate : candidates) request += '|' + request_of(candidate);
  Selecting selecting{*impl_};
  Step told{.kind = StepKind::Select, .choices = candidates.size()};
  const std::size_t drawn = selecting.draw_among(
      candidates, fmt::format("select one of {} candidates", with_commas(candidates.size())),
      std::move(request), cost, how, told,
      [&](const ScoreGrid& grid) { return selecting.values_of(candidates, grid); });
  if (drawn >= candidates.size()) impl_->damaged();
  told.chosen = candidates[drawn].clique;
  told.origin = candidates[drawn].origin;
  impl_->tell(std::move(told));
  return drawn;
}

CellChoice Curator::select_cell(std::span<const CellScores> scores, Cost cost, Selection how) {
  Selecting selecting{*impl_};
  const auto starts = selecting.starts_of(scores);
  const auto lists = hash_lists(scores);
  Step told{.kind = StepKind::SelectCell, .choices = starts.back()};
  const std::size_t drawn = selecting.draw_among(
      scores, fmt::format("select one of {} cells", with_commas(starts.back())),
      request_of("select_cell", scores, lists), cost, how, told,
      [&](const ScoreGrid& grid) { return selecting.values_of(scores, grid, lists); });
  const auto choice = selecting.choice(scores, starts, static_cast<std::int64_t>(drawn));
  told.chosen = scores[choice.scores].query.clique;
  told.output = choice.output;
  impl_->tell(std::move(told));
  return choice;
}

Sigma Curator::score_noise(const Score& score, Cost cost) const {
  const Candidate asked{{}, Origin::Private, score};
  const ScoreGrid grid = Selecting{*impl_}.grid_of(std::span(&asked, 1));
  return Sigma(standard_deviation(Selecting{*impl_}.plan(grid, cost), grid.step()));
}

NoisyScore Curator::measure_score(const Score& score, Cost cost) {
  Selecting selecting{*impl_};
  const Candidate asked{{}, Origin::Private, score};
  const ScoreGrid grid = selecting.grid_of(std::span(&asked, 1));
  const NoisePlan plan = selecting.plan(grid, cost);
  const std::string request =
      fmt::format("measure_score|{}|{}|{}|{:a}|{}|{}", request_of(asked),
                  mutant(Mutant::ForgetCostOfScore) ? "" : cost.grains(),
                  static_cast<int>(plan.kind), plan.units, grid.shift, grid.sensitivity);
  const auto draw = [&] {
    auto values = selecting.values_of(std::span(&asked, 1), grid);
    add_noise(plan, values, *impl_->shared->entropy);
    return std::vector<std::vector<std::int64_t>>{std::move(values)};
  };
  NoisyScore out{.noise = plan.kind, .sigma = Sigma(standard_deviation(plan, grid.step()))};
  Step told{.kind = StepKind::MeasureScore,
            .measured = {{Clique(), 1, out.sigma.value()}},
            .noise = plan.kind};
  if (plan.kind != NoiseKind::None) {
    told.cost = cost;
    told.rho = plan.kind == NoiseKind::Gaussian ? Rho(cost.upper_bound())
                                                : pure_rho(laplace_budget(impl_->currency(), cost));
  }
  const auto record = plan.kind == NoiseKind::None
                          ? impl_->free_step(request, draw)
                          : impl_->charged_step("measure a score", told, request, draw);
  if (record.results.size() != 1 || record.results[0].size() != 1) impl_->damaged();
  out.value = static_cast<double>(record.results[0][0]) * grid.step();
  impl_->tell(std::move(told));
  return out;
}

Cost Curator::cost_for_rate(std::span<const CellScores> scores, double rate) const {
  return draw_price(impl_->filter, Selecting{*impl_}.rate_epsilon(scores, rate));
}

std::vector<CellChoice> Curator::sample_cells(std::span<const CellScores> scores, double rate,
                                              std::size_t draws) {
  if (draws == 0) return {};
  Selecting selecting{*impl_};
  const Epsilon epsilon = selecting.rate_epsilon(scores, rate);
  const ScoreGrid grid = selecting.grid_of(scores);
  const Rate rate_of_steps = rate_at_most(rate * grid.step());
  const auto times = mutant(Mutant::OneDrawPaid) ? 1.0 : static_cast<double>(draws);
  const auto starts = selecting.starts_of(scores);
  const auto lists = hash_lists(scores);
  const std::string request =
      request_of("sample_cells", scores, lists) +
      fmt::format("|{:a}|{}|{}|{}", rate, draws, grid.shift, grid.sensitivity);
  const double rho_times = mutant(Mutant::OneDrawsRho) ? 1.0 : times;
  const Step told{
      .kind = StepKind::DrawCells,
      .choices = starts.back(),
      .draws = draws,
      .epsilon = epsilon.value(),
      .cost = draw_price(impl_->filter, epsilon) * times,  // exact: `draws` is a whole number
      .rho = Rho(std::nextafter(exponential_rho(epsilon).value() * rho_times, HUGE_VAL))};
  const std::string what = fmt::format("draw {} cells", with_commas(draws));
  const auto record = impl_->charged_step(what, told, request, [&] {
    const auto values = selecting.values_of(scores, grid, lists);
    Rate sharpness = rate_of_steps;
    if (mutant(Mutant::DoubleSharpness)) sharpness.num *= 2;
    const ExponentialTable table(values, sharpness, impl_->settings().threads);
    std::vector<std::size_t> drawn(draws);
    table.draw_many(drawn, *impl_->shared->entropy);
    return std::vector<std::vector<std::int64_t>>{{drawn.begin(), drawn.end()}};
  });
  if (record.results.size() != 1 || record.results[0].size() != draws) impl_->damaged();
  std::vector<CellChoice> choices;
  choices.reserve(draws);
  for (const auto position : record.results[0]) {
    choices.push_back(selecting.choice(scores, starts, position));
  }
  impl_->tell(told);
  return choices;
}

}  // namespace tandem
