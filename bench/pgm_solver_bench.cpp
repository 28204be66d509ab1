// SPDX-License-Identifier: Apache-2.0
// How far each way of estimating a graphical model gets with how much work, on noisy marginals of
// ADULT (docs/decisions/0008-pgm-solver.md). Counters: propagations, and how far the loss is above
// the best that any way found.

#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include "ratios.h"
#include "tandem/base/rng.h"
#include "tandem/data/csv.h"
#include "tandem/model/pgm/estimate_pgm.h"
#include "tandem/model/pgm/pgm_dual.h"
#include "tandem/query/counting.h"

namespace {

using namespace tandem;

// Cliques that AIM's scores pick on this table, with the noise of epsilon 0.1, 1 and 10 and delta
// 1e-9 over as many rounds.
struct Case {
  double sigma;
  std::vector<Clique> cliques;
};
const Case& case_of(std::int64_t tenths) {
  static const std::map<std::int64_t, Case> cases{
      {1, {383.0, {{5, 7}, {7, 9}, {7, 14}, {5, 14}, {9, 14}}}},
      {10,
       {57.8,
        {{5, 7, 9},
         {0, 4},
         {7, 14},
         {1, 5},
         {0, 14},
         {2, 6},
         {10, 14},
         {9, 12},
         {6, 9},
         {8, 9},
         {1, 7},
         {0, 6},
         {2, 9},
         {11, 14},
         {8, 13},
         {1, 14},
         {7, 8},
         {6, 14}}}},
      {100,
       {8.74, {{0, 4, 14},  {5, 7, 9},   {1, 5, 14}, {4, 6, 9},  {2, 6, 14}, {7, 12, 14}, {6, 7, 8},
               {6, 12},     {9, 10, 14}, {1, 7, 14}, {0, 7, 14}, {1, 2},     {8, 13},     {2, 8, 9},
               {9, 12, 14}, {9, 11, 14}, {3, 8},     {2, 7, 14}, {3, 9, 14}, {5, 8, 14}}}}};
  return cases.at(tenths);
}

struct Noisy {
  Domain domain;
  double total = 0.0;
  std::vector<Measurement> measurements;
};

std::optional<Noisy> problem(std::int64_t tenths) {
  const char* root = std::getenv("TANDEM_DATA");
  if (root == nullptr) return std::nullopt;
  const std::string folder = std::string(root) + "/jam/adult_pub025/";
  const Schema schema = Schema::read(folder + "domain.json");
  const Table table = read_csv(folder + "priv.csv", schema).table;
  const Case& chosen = case_of(tenths);
  auto cliques = chosen.cliques;
  for (AttributeId id = 0; id < schema.domain().size(); ++id) cliques.push_back(Clique{id});
  Noisy out{schema.domain(), static_cast<double>(table.rows()), {}};
  Rng rng(7);
  for (const auto& marginal : count_marginals(table, cliques)) {
    Measurement m;
    m.query.clique = marginal.clique;
    m.values = marginal.values;
    m.noise = NoiseKind::Gaussian;
    m.sigma = Sigma(chosen.sigma);
    for (double& value : m.values) {  // Box and Muller 1958
      value += chosen.sigma * std::sqrt(-2.0 * std::log(1.0 - rng.uniform())) *
               std::cos(6.283185307179586 * rng.uniform());
    }
    out.measurements.push_back(std::move(m));
  }
  return out;
}

double best_loss(std::int64_t tenths) {
  static std::map<std::int64_t, double> known;
  if (!known.contains(tenths)) {
    const auto p = problem(tenths);
    known[tenths] = estimate_pgm(p->domain, p->measurements, p->total, {},
                                 {.tolerance = 1e-8, .max_propagations = 60'000})
                        .loss;
  }
  return known[tenths];
}

void tell(benchmark::State& state, double loss, int propagations) {
  state.counters["above"] = loss - best_loss(state.range(0));
  state.counters["propagations"] = propagations;
}

void proximal(benchmark::State& state) {
  const auto p = problem(state.range(0));
  if (!p) {
    state.SkipWithError("set TANDEM_DATA to the folder of real data");
    return;
  }
  for (auto _ : state) {
    const double tolerance = std::pow(10.0, -static_cast<double>(state.range(1)));
    const auto fit = estimate_pgm(p->domain, p->measurements, p->total, {},
                                  {.tolerance = tolerance, .max_propagations = 20'000});
    tell(state, fit.loss, fit.propagations);
  }
}
BENCHMARK(proximal)
    ->ArgsProduct({{1, 10, 100}, {2, 3, 4}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

// Entropic mirror descent, p <- p exp(-a grad f(p)), the step a halved until the loss falls. With
// momentum: the same from an extrapolated point, started over whenever the loss rises.
void descend(benchmark::State& state, bool momentum) {
  const auto p = problem(state.range(0));
  if (!p) {
    state.SkipWithError("set TANDEM_DATA to the folder of real data");
    return;
  }
  const auto limit = static_cast<int>(state.range(1));
  for (auto _ : state) {
    PgmDual dual(p->domain, p->measurements, p->total, {});
    dual.set_base({});
    const std::size_t n = dual.dimension();
    std::vector<double> x(n, 0.0), at(n, 0.0), next(n), downhill(n), gradient(n);
    dual.set_strength(1.0);
    dual.stationary(downhill);  // -grad f
    double loss = dual.loss();
    double loss_at = loss;
    double step = 1e-9;
    double inertia = 1.0;
    int used = 0;
    while (used < limit) {
      for (std::size_t i = 0; i < n; ++i) next[i] = at[i] + step * downhill[i];
      ++used;
      const bool finite = std::isfinite(dual.evaluate(next, gradient));
      if (!finite || dual.loss() > loss_at) {
        step *= 0.5;
        if (at != x) {
          at = x;
          loss_at = loss;
          inertia = 1.0;
          ++used;
          dual.evaluate(at, gradient);
          dual.stationary(downhill);
        }
        continue;
      }
      step *= 1.2;
      const double before = inertia;
      inertia = momentum ? 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * before * before)) : 1.0;
      const double beta = dual.loss() < loss && momentum ? (before - 1.0) / inertia : 0.0;
      for (std::size_t i = 0; i < n; ++i) at[i] = next[i] + beta * (next[i] - x[i]);
      loss = dual.loss();
      x = next;
      if (beta > 0.0) {
        ++used;
        if (!std::isfinite(dual.evaluate(at, gradient))) {
          at = x;
          dual.evaluate(at, gradient);
        }
      }
      loss_at = dual.loss();
      dual.stationary(downhill);
    }
    tell(state, loss, used);
  }
}
void mirror_descent(benchmark::State& state) { descend(state, false); }
void accelerated(benchmark::State& state) { descend(state, true); }
BENCHMARK(mirror_descent)
    ->ArgsProduct({{1, 10, 100}, {100, 1000, 4000}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK(accelerated)
    ->ArgsProduct({{1, 10, 100}, {100, 1000, 4000}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

const bench::Rate gets_there{"proximal, epsilon 10, tolerance 1e-4: loss above the best",
                             "proximal/100/4", "above", 1.0, true};

}  // namespace
