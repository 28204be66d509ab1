// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/least_l1.h"

#include <algorithm>

#ifdef TANDEM_HAS_CLP
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#endif

namespace tandem {

#ifdef TANDEM_HAS_CLP

namespace {

// Entries times pivots, about a minute: a limit on work and not on time, so that a run is the same
// on every machine.
constexpr double kMostWork = 2e10;

// Ends the solver when the work is to stop. An exception must not pass through CLP.
class StopWhenAsked final : public ClpEventHandler {
 public:
  explicit StopWhenAsked(const Threads& threads) : threads_(threads) {}
  int event(Event which) override {
    if (which != endOfIteration) return -1;
    return threads_.cancel.requested() ? 5 : -1;
  }
  ClpEventHandler* clone() const override { return new StopWhenAsked(threads_); }

 private:
  Threads threads_;
};

}  // namespace

bool has_linear_solver() { return true; }

// The dual of the problem: max t - v'y~ over |v| <= 1 with t <= (W'v)_i for every row i. It has a
// constraint for each row and all its variables but t are in a box, so that a basis is small and
// the start is feasible.
std::optional<double> least_l1(const LeastL1Problem& problem, const Threads& threads) {
  std::vector<int> start = {0};
  std::vector<int> column;
  std::vector<double> element;
  std::size_t cells = 0;
  std::vector<std::size_t> first;
  for (const auto& block : problem.blocks) {
    first.push_back(cells);
    cells += block.answers.size();
  }
  const auto t = static_cast<int>(cells);
  for (std::size_t r = 0; r < problem.rows; ++r) {
    for (std::size_t s = 0; s < problem.blocks.size(); ++s) {
      const std::size_t j = problem.blocks[s].cell[r];
      if (j >= problem.blocks[s].answers.size()) continue;
      column.push_back(static_cast<int>(first[s] + j));
      element.push_back(1.0);
    }
    column.push_back(t);
    element.push_back(-1.0);
    start.push_back(static_cast<int>(column.size()));
  }
  std::vector<double> lower(cells + 1, -1.0);
  std::vector<double> upper(cells + 1, 1.0);
  std::vector<double> cost(cells + 1, 0.0);
  lower[cells] = -COIN_DBL_MAX;
  upper[cells] = COIN_DBL_MAX;
  cost[cells] = -1.0;
  for (std::size_t s = 0; s < problem.blocks.size(); ++s) {
    const auto answers = problem.blocks[s].answers;
    for (std::size_t j = 0; j < answers.size(); ++j) cost[first[s] + j] = answers[j];
  }
  const std::vector<double> row_lower(problem.rows, 0.0);
  const std::vector<double> row_upper(problem.rows, COIN_DBL_MAX);
  const CoinPackedMatrix matrix(false, t + 1, static_cast<int>(problem.rows),
                                static_cast<int>(column.size()), element.data(), column.data(),
                                start.data(), nullptr);
  ClpSimplex solver;
  solver.setLogLevel(0);
  StopWhenAsked stop(threads);
  solver.passInEventHandler(&stop);
  solver.setMaximumIterations(
      static_cast<int>(std::clamp(kMostWork / static_cast<double>(column.size()), 1.0, 1e8)));
  solver.loadProblem(matrix, lower.data(), upper.data(), cost.data(), row_lower.data(),
                     row_upper.data());
  solver.primal();
  threads.check();
  if (!solver.isProvenOptimal()) return std::nullopt;
  return -solver.objectiveValue();
}

#else

bool has_linear_solver() { return false; }

std::optional<double> least_l1(const LeastL1Problem& /*problem*/, const Threads& /*threads*/) {
  return std::nullopt;
}

#endif

}  // namespace tandem
