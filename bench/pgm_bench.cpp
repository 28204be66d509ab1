// SPDX-License-Identifier: Apache-2.0
// The building blocks of graphical models on ADULT's domain, against plain versions in the same run
// and against the authors' code (one thread, a machine of the same kind).

#include <cmath>

#include "ratios.h"
#include "tandem/base/rng.h"
#include "tandem/model/pgm/belief_propagation.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/query/cell_map.h"
#include "tandem/query/workload.h"

namespace {

using namespace tandem;

const Domain& adult() {
  static const Domain domain = [] {
    std::vector<Attribute> attributes;
    for (const Code size : {16U, 32U, 9U, 32U, 16U, 7U, 15U, 6U, 5U, 2U, 32U, 32U, 32U, 42U, 2U}) {
      attributes.push_back({"c" + std::to_string(attributes.size()), size, {}});
    }
    return Domain(std::move(attributes));
  }();
  return domain;
}

// What a late round of AIM at a large budget has measured: a tree of 128,968 cells.
const std::vector<Clique>& measured() {
  static const std::vector<Clique> cliques{
      {0, 4, 14}, {5, 7, 9},  {1, 5, 14},  {4, 6, 9},   {2, 6, 14}, {7, 12, 14},
      {6, 7, 8},  {6, 12},    {9, 10, 14}, {1, 7, 14},  {0, 7, 14}, {1, 2},
      {8, 13},    {2, 8, 9},  {9, 12, 14}, {9, 11, 14}, {3, 8},     {2, 7, 14},
      {3, 9, 14}, {5, 8, 14}, {6, 9, 14},  {13, 14},    {3, 7},     {7, 8, 9},
      {4, 9, 14}, {9, 13},    {1, 9, 14},  {2, 9, 14},  {1, 13}};
  return cliques;
}

std::vector<Clique> candidates() { return Workload::all_k_way(adult(), 3).downward_closure(); }

std::vector<Factor> potentials() {
  std::vector<Factor> out;
  Rng rng(1);
  for (const auto& clique : measured()) {
    Factor factor{clique, std::vector<double>(adult().cells(clique))};
    for (double& value : factor.values) value = 3.0 * rng.uniform();
    out.push_back(std::move(factor));
  }
  return out;
}

const GraphicalModel& model() {
  static const GraphicalModel out(adult(), potentials(), 32384.0);
  return out;
}

BeliefPropagation& propagation() {
  static BeliefPropagation out(adult(), make_junction_tree(adult(), measured()), measured());
  return out;
}

void load_potentials(double scale) {
  auto& bp = propagation();
  const auto all = potentials();
  for (std::size_t f = 0; f < all.size(); ++f) {
    bp.order().arrange(all[f].clique, all[f].values, bp.potential(f));
    for (double& value : bp.potential(f)) value *= scale;
  }
}

void from_logarithms(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    load_potentials(1.0);
    state.ResumeTiming();
    benchmark::DoNotOptimize(propagation().set_base());
  }
  state.counters["cells"] = static_cast<double>(propagation().tree().cells);
}
BENCHMARK(from_logarithms)->Unit(benchmark::kMillisecond);

void propagate(benchmark::State& state) {
  load_potentials(1.0);
  propagation().set_base();
  load_potentials(0.1);
  for (auto _ : state) benchmark::DoNotOptimize(propagation().propagate());
}
BENCHMARK(propagate)->Unit(benchmark::kMillisecond);

// Messages in logarithms, cell by cell.
void plain_propagation(benchmark::State& state) {
  const auto& tree = propagation().tree();
  const auto all = potentials();
  for (auto _ : state) {
    std::vector<Factor> belief;
    for (const auto& clique : tree.cliques) {
      belief.push_back({clique, std::vector<double>(adult().cells(clique), 0.0)});
    }
    const auto add = [&](std::size_t c, const Factor& small, double sign) {
      for_each_cell(adult(), belief[c].clique, small.clique, [&](std::size_t l, std::size_t s) {
        belief[c].values[l] += sign * small.values[s];
      });
    };
    const auto log_sum = [&](std::size_t c, const Clique& onto) {
      Factor out{onto, std::vector<double>(adult().cells(onto), 0.0)};
      double largest = belief[c].values.front();
      for (const double value : belief[c].values) largest = std::max(largest, value);
      for_each_cell(adult(), belief[c].clique, onto, [&](std::size_t l, std::size_t s) {
        out.values[s] += std::exp(belief[c].values[l] - largest);
      });
      for (double& value : out.values) value = largest + std::log(value);
      return out;
    };
    for (const auto& potential : all) add(tree.find(potential.clique), potential, 1.0);
    std::vector<Factor> up(tree.cliques.size());
    for (std::size_t c = tree.cliques.size(); c-- > 1;) {
      up[c] = log_sum(c, tree.separators[c]);
      add(tree.parent[c], up[c], 1.0);
    }
    for (std::size_t c = 1; c < tree.cliques.size(); ++c) {
      add(c, log_sum(tree.parent[c], tree.separators[c]), 1.0);
      add(c, up[c], -1.0);
    }
    benchmark::DoNotOptimize(belief.data());
  }
}
BENCHMARK(plain_propagation)->Unit(benchmark::kMillisecond);

void score_together(benchmark::State& state) {
  const auto cliques = candidates();
  for (auto _ : state) benchmark::DoNotOptimize(model().project_all(cliques));
}
BENCHMARK(score_together)->Unit(benchmark::kMillisecond);

void score_one_by_one(benchmark::State& state) {
  const auto cliques = candidates();
  for (auto _ : state) {
    for (const auto& clique : cliques) benchmark::DoNotOptimize(model().project(clique));
  }
}
BENCHMARK(score_one_by_one)->Unit(benchmark::kMillisecond);

void size_filter(benchmark::State& state) {
  const auto cliques = candidates();
  for (auto _ : state) {
    const ModelSizer sizer(adult(), measured());
    for (const auto& clique : cliques) benchmark::DoNotOptimize(sizer.bytes_with(clique));
  }
}
BENCHMARK(size_filter)->Unit(benchmark::kMillisecond);

void size_from_scratch(benchmark::State& state) {
  const auto cliques = candidates();
  auto all = measured();
  for (auto _ : state) {
    for (const auto& clique : cliques) {
      all.push_back(clique);
      benchmark::DoNotOptimize(make_junction_tree(adult(), all));
      all.pop_back();
    }
  }
}
BENCHMARK(size_from_scratch)->Unit(benchmark::kMillisecond);

void sample_by_rounding(benchmark::State& state) {
  Rng rng(1);
  for (auto _ : state) benchmark::DoNotOptimize(model().sample(32'384, rng));
}
BENCHMARK(sample_by_rounding)->Unit(benchmark::kMillisecond);

const bench::Against bp{"belief propagation, 128,968 cells, against the authors' 4.7 ms", 4.7e-3,
                        "propagate", 10.0};
const bench::Ratio bp_plain{"belief propagation, against cell by cell in logarithms",
                            "plain_propagation", "propagate", 10.0};
const bench::Against logs{"the same from any logarithms, against 4.7 ms", 4.7e-3, "from_logarithms",
                          10.0};
const bench::Against scoring{"575 candidate marginals, against the authors' 42 s", 42.0,
                             "score_together", 100.0};
const bench::Ratio scoring_plain{"575 candidate marginals, against one by one", "score_one_by_one",
                                 "score_together", 1.0};
const bench::Against filter{"sizes of 575 candidates, against the authors' 1.0 s", 1.0,
                            "size_filter", 50.0};
const bench::Ratio filter_plain{"sizes of 575 candidates, against trees from scratch",
                                "size_from_scratch", "size_filter", 1.0};
const bench::Against sampling{"32,384 rows, against the authors' 4.0 s", 4.0, "sample_by_rounding",
                              20.0};

}  // namespace
