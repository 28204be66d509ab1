// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/answers/consistent_answers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/base/math.h"
#include "tandem/optimize/strategy/non_negative.h"
#include "tandem/optimize/strategy/residual_tables.h"

namespace tandem {
namespace {

constexpr double kTolerance = 0.5;  // rows that a count may be below zero before it is cut
constexpr int kSteps = 500;         // of the search: what is left after them is cut, too

}  // namespace

ConsistentAnswers::ConsistentAnswers(const PlanningProblem& problem, const Strategy& strategy,
                                     const Reconstruction& reconstruction, Consistency kind,
                                     Rng& rng, const Threads& threads)
    : problem_(problem) {
  check(kind != Consistency::None, "consistent answers are asked for");
  for (const auto& item : problem.workload) cliques_.push_back(asked_columns(problem, item));
  cliques_ = maximal(std::move(cliques_));
  const NonNegativeFit fit =
      fit_non_negative(problem, strategy, reconstruction, cliques_, kTolerance, kSteps, threads);
  const double total =
      std::max(0.0, table_from_residuals(reconstruction.profiles(), fit.residuals, {}).front());
  for (const auto& clique : cliques_) {
    threads.check();
    if (kind == Consistency::Integer) {
      counts_.push_back(whole_counts(reconstruction, fit, clique,
                                     static_cast<std::size_t>(std::llround(total)), rng));
      continue;
    }
    auto counts = table_from_residuals(reconstruction.profiles(), fit.residuals, clique);
    counts_.push_back(total > 0.0 ? project_to_simplex(counts, total)
                                  : std::vector<double>(counts.size(), 0.0));
  }
}

std::vector<double> ConsistentAnswers::answer(const ProductQueries& item) const {
  const Clique asked = asked_columns(problem_, item);
  const auto found =
      std::ranges::find_if(cliques_, [&](const Clique& clique) { return clique.contains(asked); });
  check(found != cliques_.end(), "a widest clique holds every item");
  std::vector<double> table = counts_[static_cast<std::size_t>(found - cliques_.begin())];
  std::size_t outer = 1;
  for (const auto id : *found) {
    const std::size_t n = problem_.sizes[id];
    if (asked.contains(id)) {
      outer *= n;
    } else {
      table = sum_along(table, outer, n, table.size() / (outer * n));
    }
  }
  return answer_from(problem_, item, asked, std::move(table));
}

void know_residuals(const PlanningProblem& problem, Strategy& strategy, const Threads& threads) {
  if (strategy.shape == Strategy::Shape::Sets) return;
  check(strategy.maps.size() == 1, "several products have no residual spaces in common");
  strategy.shape = Strategy::Shape::Sets;
  predict(problem, strategy, threads);
}

}  // namespace tandem
