// SPDX-License-Identifier: Apache-2.0
// Estimates near a prior: a sweep of iterative distribution estimation, and the exact fit.

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "ratios.h"
#include "tandem/base/rng.h"
#include "tandem/model/histogram/entropy_fit.h"
#include "tandem/model/histogram/iterative_estimate.h"
#include "tandem/query/counting.h"
#include "tandem/query/workload.h"

namespace tandem::bench {
namespace {

struct Prior {
  Table rows;
  std::vector<double> p;
  std::vector<PartialWorkload> workloads;
};

// Rows of 24 columns of 2 to 20 values that go together, as many as ACS has different ones, and
// noisy pairs and triples of them.
Prior made(std::size_t rows, std::size_t marginals, std::size_t ways) {
  Rng rng(1);
  std::vector<Attribute> attributes;
  for (int c = 0; c < 24; ++c) {
    attributes.push_back({"c" + std::to_string(c), static_cast<Code>(2 + rng.below(19)), {}});
  }
  Table table{Domain(attributes), rows};
  for (std::size_t r = 0; r < rows; ++r) {
    const double hidden = rng.uniform();
    for (AttributeId id = 0; id < attributes.size(); ++id) {
      const double at = rng.uniform() < 0.6 ? hidden : rng.uniform();
      table.column(id).set(r, static_cast<Code>(at * attributes[id].size));
    }
  }
  Prior out{distinct_rows(table).rows, {}, {}};
  for (std::size_t r = 0; r < out.rows.rows(); ++r) out.p.push_back(0.2 + rng.uniform());
  std::vector<double> truth = out.p;
  double sum = 0.0;
  for (double& weight : truth) sum += weight *= std::exp(rng.uniform());
  for (double& weight : truth) weight /= sum;
  const Workload chosen = Workload::random_k_way(table.domain(), ways, marginals, 1);
  for (const auto& [clique, weight] : chosen.cliques()) {
    auto factor = count_marginals(out.rows, truth, std::span(&clique, 1)).front();
    for (double& share : factor.values) share += 0.002 * (rng.uniform() + rng.uniform() - 1.0);
    out.workloads.emplace_back(out.rows, clique, factor.values);
  }
  return out;
}

void sweep(benchmark::State& state) {
  const Prior prior = made(7244, 200, static_cast<std::size_t>(state.range(0)));
  IterativeOptions options;
  options.sweeps = 60;  // the first thirty without damping
  options.tolerance = 0.0;
  for (auto _ : state) {
    Rng rng(1);
    benchmark::DoNotOptimize(estimate_distribution(prior.p, prior.workloads, options, rng));
  }
  state.counters["per_sweep_ms"] =
      benchmark::Counter(1e-3 * static_cast<double>(options.sweeps * state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(sweep)->Arg(2)->Arg(3)->Unit(benchmark::kMillisecond);

void exact(benchmark::State& state) {
  const Prior prior = made(2000, 50, 2);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        fit_relative_entropy(prior.p, prior.workloads, {.linear_solver = state.range(0) == 1}));
  }
  state.counters["seconds"] =
      benchmark::Counter(static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(exact)->Arg(0)->Arg(1)->Unit(benchmark::kSecond)->Iterations(1);

const Rate kPairs{"a sweep of ide, 7,244 rows, 200 pairs, ms", "sweep/2", "per_sweep_ms", 5.0,
                  true};
const Rate kTriples{"the same, 200 triples, ms", "sweep/3", "per_sweep_ms", 10.0, true};
const Rate kDual{"mre, 2,000 rows, 50 pairs, by the dual alone, s", "exact/0", "seconds", 10.0,
                 true};
const Rate kLinear{"the same with the linear programme, s", "exact/1", "seconds", 10.0, true};

}  // namespace
}  // namespace tandem::bench
