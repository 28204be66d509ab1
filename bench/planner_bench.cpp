// SPDX-License-Identifier: Apache-2.0
// How long planning takes, and the expected error of what is planned
// (docs/decisions/0012-planners.md). Counters: the unit root mean squared error, and the share of
// the squared error that rounding to few bits costs.

#include <functional>

#include "ratios.h"
#include "tandem/base/rng.h"
#include "tandem/optimize/strategy/marginals_planner.h"
#include "tandem/optimize/strategy/product_planner.h"
#include "tandem/optimize/strategy/residual_planner.h"

namespace {

using namespace tandem;
using Kind = ColumnQueries::Kind;

PlanningProblem marginals(std::vector<std::size_t> sizes, std::size_t k, NoiseKind noise) {
  PlanningProblem out;
  out.noise = noise;
  std::vector<AttributeId> ids;
  const std::function<void(std::size_t)> choose = [&](std::size_t from) {
    if (ids.size() == k) {
      out.workload.push_back({Clique(ids), std::vector<ColumnQueries>(k), 1.0});
      return;
    }
    for (std::size_t i = from; i < sizes.size(); ++i) {
      ids.push_back(static_cast<AttributeId>(i));
      choose(i + 1);
      ids.pop_back();
    }
  };
  choose(0);
  out.sizes = std::move(sizes);
  return out;
}

PlanningProblem adult(NoiseKind noise) {
  return marginals({2, 2, 5, 6, 7, 9, 15, 16, 42, 16, 6, 10, 10}, 3, noise);
}

std::vector<std::size_t> many_sizes(std::size_t columns) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < columns; ++i) out.push_back(2 + i * 7 % 19);
  return out;
}

PlanningProblem hundred_columns(NoiseKind noise) { return marginals(many_sizes(100), 2, noise); }

PlanningProblem many_triples(NoiseKind noise) {
  auto out = marginals(many_sizes(67), 3, noise);
  Rng rng(3);
  rng.shuffle(std::span(out.workload));
  out.workload.resize(4096);
  return out;
}

PlanningProblem ranges(std::size_t columns, NoiseKind noise) {
  PlanningProblem out;
  out.noise = noise;
  out.sizes.assign(columns, 256);
  const std::vector<ColumnQueries> factors(columns, {Kind::Ranges, {}});
  out.workload.push_back({columns == 1 ? Clique{0} : Clique{0, 1}, factors, 1.0});
  return out;
}

using Plan = Strategy (*)(const PlanningProblem&, const Threads&);

void run(benchmark::State& state, const PlanningProblem& problem, Plan plan) {
  for (auto _ : state) {
    const Strategy strategy = plan(problem, Threads::all());
    state.counters["rmse"] = unit_rmse(problem, strategy);
    state.counters["rounding"] = strategy.squared_error / strategy.planned_squared_error - 1.0;
  }
}

PlanningProblem replacing(PlanningProblem problem) {
  problem.unit = {true, true, 1};
  return problem;
}

constexpr auto kGaussian = NoiseKind::Gaussian;
constexpr auto kLaplace = NoiseKind::Laplace;

void adult_residual(benchmark::State& s) { run(s, adult(kGaussian), plan_residuals); }
void adult_residual_replace(benchmark::State& s) {
  run(s, replacing(adult(kGaussian)), plan_residuals);
}
void adult_marginals(benchmark::State& s) { run(s, adult(kGaussian), plan_marginals); }
void adult_marginals_laplace(benchmark::State& s) { run(s, adult(kLaplace), plan_marginals); }
void adult_product_laplace(benchmark::State& s) { run(s, adult(kLaplace), plan_product); }
void line_laplace(benchmark::State& s) { run(s, ranges(1, kLaplace), plan_product); }
void line_gaussian(benchmark::State& s) { run(s, ranges(1, kGaussian), plan_product); }
void line_residual(benchmark::State& s) { run(s, ranges(1, kGaussian), plan_residuals); }
void plane_laplace(benchmark::State& s) { run(s, ranges(2, kLaplace), plan_product); }
void plane_gaussian(benchmark::State& s) { run(s, ranges(2, kGaussian), plan_product); }
void pairs_residual(benchmark::State& s) { run(s, hundred_columns(kGaussian), plan_residuals); }
void pairs_residual_replace(benchmark::State& s) {
  run(s, replacing(hundred_columns(kGaussian)), plan_residuals);
}
void pairs_marginals(benchmark::State& s) { run(s, hundred_columns(kGaussian), plan_marginals); }
void triples_residual(benchmark::State& s) { run(s, many_triples(kGaussian), plan_residuals); }
void triples_residual_replace(benchmark::State& s) {
  run(s, replacing(many_triples(kGaussian)), plan_residuals);
}
void triples_marginals(benchmark::State& s) { run(s, many_triples(kGaussian), plan_marginals); }
void triples_marginals_laplace(benchmark::State& s) {
  run(s, many_triples(kLaplace), plan_marginals);
}

#define PLANNER(name) BENCHMARK(name)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1)
PLANNER(adult_residual);
PLANNER(adult_residual_replace);
PLANNER(adult_marginals);
PLANNER(adult_marginals_laplace);
PLANNER(adult_product_laplace);
PLANNER(line_laplace);
PLANNER(line_gaussian);
PLANNER(line_residual);
PLANNER(plane_laplace);
PLANNER(plane_gaussian);
PLANNER(pairs_residual);
PLANNER(pairs_residual_replace);
PLANNER(pairs_marginals);
PLANNER(triples_residual);
PLANNER(triples_residual_replace);
PLANNER(triples_marginals);
PLANNER(triples_marginals_laplace);

const bench::Rate adult_error{"ADULT 3-way, residuals: unit rmse", "adult_residual", "rmse", 10.76,
                              true};
const bench::Rate laplace_error{"ADULT 3-way, marginals with Laplace noise: unit rmse",
                                "adult_marginals_laplace", "rmse", 158.0, true};
const bench::Rate line_error{"ranges on 256 values, Laplace: unit rmse", "line_laplace", "rmse",
                             5.74, true};
const bench::Rate plane_error{"ranges on 256 x 256, Laplace: unit rmse", "plane_laplace", "rmse",
                              33.0, true};
const bench::Against pairs_time{"100 columns, all pairs, against 5 s", 5.0, "pairs_residual", 1.0};
const bench::Against triples_time{"67 columns, 4,096 triples, against 10 s", 10.0,
                                  "triples_marginals", 1.0};
const bench::Against plane_time{"ranges on 256 x 256, against 30 s", 30.0, "plane_laplace", 1.0};

}  // namespace
