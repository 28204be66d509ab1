// SPDX-License-Identifier: Apache-2.0
// How the time and memory of aim and jam-pgm grow with the largest model and with the number of
// columns, on generated tables: 20,000 rows, columns of 2, 3, 5 and 8 codes in turn, each of which
// goes with the two before it. All three-way marginals, delta 1e-9, replace-one.
//
// Arguments of a run: columns, max-model-mb, epsilon. Its time is one release; `peak_mb` is the
// most memory the process held in it, `cells` those of all candidates. At the end the runs are
// printed as the table of docs/mechanisms/aim.md.

#include <fmt/core.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>

#include "ratios.h"
#include "tandem/base/rng.h"
#include "tandem/mechanism/registry.h"
#include "tandem/model/pgm/graphical_model.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/curator.h"
#include "tandem/privacy/private_data.h"
#include "tandem/source/memory_source.h"

namespace {

using namespace tandem;

constexpr std::size_t kRows = 20'000;

Table generated(std::size_t columns, std::uint64_t seed) {
  constexpr std::uint32_t kSizes[] = {2, 3, 5, 8};
  std::vector<Attribute> attributes;
  for (std::size_t c = 0; c < columns; ++c) {
    attributes.push_back({"c" + std::to_string(c), kSizes[c % 4], {}});
  }
  Table table(Domain(std::move(attributes)), kRows);
  Rng rng(seed);
  for (std::size_t r = 0; r < kRows; ++r) {
    std::uint64_t before = 0;
    std::uint64_t last = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::uint64_t size = kSizes[c % 4];
      const bool follows = rng.uniform() < 0.6;
      const std::uint64_t code = follows ? (before + 3 * last + c) % size : rng.below(size);
      table.column(static_cast<AttributeId>(c)).set(r, static_cast<Code>(code));
      before = last;
      last = code;
    }
  }
  return table;
}

// Linux keeps the most memory that was held since this was last called.
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }
double peak_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1e3;
  }
  return 0.0;
}

// Prints itself when the program ends.
class Growth {
 public:
  ~Growth() {
    if (rows_.empty()) return;
    fmt::print(
        "\n| mechanism | columns | limit | epsilon | candidates | measured | model | time | "
        "CPU | memory |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (const auto& row : rows_) fmt::print("{}\n", row);
  }
  void add(std::string row) { rows_.push_back(std::move(row)); }

 private:
  std::vector<std::string> rows_;
};
Growth& growth() {
  static Growth table;
  return table;
}

void release(benchmark::State& state, const std::string& mechanism) {
  const auto columns = static_cast<std::size_t>(state.range(0));
  const Table table = generated(columns, 1);
  Problem problem{table.domain(), Workload::all_k_way(table.domain(), 3), {}};
  if (mechanism == "jam-pgm") problem.public_data.tables.push_back({"more", generated(columns, 2)});
  const Parameters parameters{{"max-model-mb", std::to_string(state.range(1))}};
  forget_peak();
  double model_mb = 0.0;
  std::size_t measured = 0;
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t start_cpu = std::clock();
  for (auto _ : state) {
    Curator curator(PrivateData(memory_source(table), PrivacyUnit{}),
                    Filter::zcdp(rho_of(Epsilon(static_cast<double>(state.range(2))), Delta(1e-9))),
                    std::make_unique<SeededEntropy>(1), memory_transcript(),
                    {.threads = Threads::all(), .progress = {}});
    Rng rng(1);
    const auto made = find_mechanism(mechanism).run(curator, problem, parameters, rng);
    const auto& model = dynamic_cast<const GraphicalModel&>(*made.model);
    model_mb = static_cast<double>(model_bytes(model.tree().cells)) / 1e6;
    measured = made.measurements.size();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double cpu = static_cast<double>(std::clock() - start_cpu) / CLOCKS_PER_SEC;
  state.counters["peak_mb"] = peak_mb();
  state.counters["model_mb"] = model_mb;
  state.counters["measured"] = static_cast<double>(measured);
  double cells = 0.0;
  const auto closure = problem.workload.downward_closure();
  for (const auto& clique : closure) cells += static_cast<double>(table.domain().cells(clique));
  state.counters["candidates"] = static_cast<double>(closure.size());
  state.counters["cells"] = cells;
  growth().add(fmt::format(
      "| {} | {} | {} MB | {} | {} | {} | {:.2g} MB | {:.1f} s | {:.1f} s | {:.0f} MB |", mechanism,
      columns, state.range(1), state.range(2), closure.size(), measured, model_mb, seconds.count(),
      cpu, peak_mb()));
}

void aim(benchmark::State& state) { release(state, "aim"); }
void jam_pgm(benchmark::State& state) { release(state, "jam-pgm"); }

void sizes(benchmark::internal::Benchmark* all) {
  for (const int columns : {10, 30, 60, 100}) all->Args({columns, 8, 1});
  for (const int mb : {1, 8, 80}) all->Args({30, mb, 10});  // at epsilon 1 no model grows so large
  all->Unit(benchmark::kSecond)
      ->Iterations(1)
      ->Repetitions(1)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
}
BENCHMARK(aim)->Apply(sizes);
BENCHMARK(jam_pgm)->Apply(sizes);

}  // namespace
