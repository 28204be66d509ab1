// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/answers/planned_marginals.h"

#include <cmath>
#include <utility>

#include "tandem/optimize/strategy/reconstruction.h"

namespace tandem {

PlannedMarginals plan_strategy_for(const Curator& curator, const Domain& domain,
                                   std::span<const WeightedClique> marginals, NoiseKind noise) {
  std::vector<ProductQueries> products;
  for (const auto& [clique, weight] : marginals) {
    products.push_back(
        {clique, std::vector<ColumnQueries>(clique.size(), ColumnQueries{}), weight});
  }
  PlannedMarginals out;
  out.problem = planning_problem_of(domain, curator.unit(), noise, std::move(products));
  out.plan = plan_strategy(out.problem, curator.threads());
  out.stack = stacked(out.problem, out.plan.strategy, curator.threads());
  return out;
}

std::vector<double> errors_of(const Curator& curator, const PlannedMarginals& planned) {
  const Strategy& A = planned.plan.strategy;
  const double s = noise_of(curator, planned.stack, curator.remaining(), planned.problem.noise);
  const double scale = A.sensitivity > 0.0 ? s / A.sensitivity : 0.0;
  std::vector<double> out;
  for (std::size_t t = 0; t < planned.problem.workload.size(); ++t) {
    const auto& item = planned.problem.workload[t];
    const double counts = planned.problem.cells(item.clique) * item.weight * item.weight;
    out.push_back(scale * std::sqrt(A.item_errors[t] / counts));
  }
  return out;
}

AnsweredMarginals answer_by_strategy(Curator& curator, const PlannedMarginals& planned, double n) {
  const auto errors = errors_of(curator, planned);
  AnsweredMarginals out;
  out.measured =
      curator.measure_together(planned.stack.queries, curator.remaining(), planned.problem.noise);
  std::vector<std::vector<double>> values;
  for (const auto& y : out.measured) values.push_back(y.values);
  const Strategy& A = planned.plan.strategy;
  const Reconstruction x(planned.problem, A, knowledge_of(planned.problem, A, curator.threads()),
                         std::move(values), n, curator.threads());
  for (std::size_t t = 0; t < planned.problem.workload.size(); ++t) {
    Measurement estimate;
    estimate.query = {planned.problem.workload[t].clique};
    estimate.values = x.marginal(planned.problem.workload[t].clique);
    estimate.noise = planned.problem.noise;
    estimate.sigma = Sigma(errors[t]);
    out.marginals.push_back(std::move(estimate));
  }
  return out;
}

}  // namespace tandem
