// SPDX-License-Identifier: Apache-2.0
// Rounds of multiplicative weights: select the worst of all cells, measure it, update the answers.
//
// ADULT itself where TANDEM_DATA holds it. Other tables are generated: like ADULT, with 13 columns
// of its sizes but less skewed, so that the public rows are in three times as many cells; and like
// the American Community Survey (67 columns). Every benchmark is a whole run, the gate's counting
// and all setup included; per_round divides by its rounds.
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "ratios.h"
#include "tandem/data/csv.h"
#include "tandem/data/schema.h"
#include "tandem/mechanism/registry.h"
#include "tandem/mechanism/weights/multiplicative_weights.h"
#include "tandem/privacy/accountant.h"
#include "tandem/privacy/private_data.h"
#include "tandem/query/counting.h"
#include "tandem/source/memory_source.h"

namespace tandem::bench {
namespace {

Domain domain_of(const std::vector<Code>& sizes) {
  std::vector<Attribute> attributes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    attributes.push_back({"c" + std::to_string(i), sizes[i], {}});
  }
  return Domain(std::move(attributes));
}

Domain adult_domain() { return domain_of({2, 2, 5, 6, 7, 9, 15, 16, 42, 16, 6, 10, 10}); }

Domain acs_domain() {
  std::vector<Code> sizes(67, 2);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i % 2 == 0) sizes[i] = 3 + static_cast<Code>(i % 5);
    if (i % 9 == 0) sizes[i] = 10 + static_cast<Code>(i % 13);
  }
  return domain_of(sizes);
}

// Skewed columns, each of which depends on the one before; `tilt` makes public data different.
Table rows_of(const Domain& domain, std::size_t rows, double tilt, std::uint64_t seed) {
  Table table(domain, rows);
  Rng rng(seed);
  for (std::size_t r = 0; r < rows; ++r) {
    double last = rng.uniform();
    for (AttributeId id = 0; id < domain.size(); ++id) {
      const double mixed = rng.uniform() < 0.6 ? last : rng.uniform();
      last = std::pow(mixed, 1.0 + tilt * rng.uniform());
      const double skewed = last * last * static_cast<double>(domain[id].size);
      table.column(id).set(r, std::min(static_cast<Code>(skewed), domain[id].size - 1));
    }
  }
  return table;
}

struct World {
  Table table;
  Problem problem;
};

// The MW-Pub paper's split, with the public sample of bias -0.1.
std::optional<World> adult() {
  const char* root = std::getenv("TANDEM_DATA");
  if (root == nullptr) return std::nullopt;
  const std::string folder = std::string(root) + "/adult/mw-pub-split/";
  const Schema schema = Schema::read(folder + "domain.json");
  const Domain& domain = schema.domain();
  return World{read_csv(folder + "priv.csv", schema).table,
               {domain,
                Workload::all_k_way(domain, 3),
                {{{"public", read_csv(folder + "pub_bias-0.1.csv", schema).table}}}}};
}

World adult_like(std::size_t support) {
  const Domain domain = adult_domain();
  return {
      rows_of(domain, 43'944, 0.0, 1),
      {domain, Workload::all_k_way(domain, 3), {{{"public", rows_of(domain, support, 0.3, 2)}}}}};
}

Curator curator_of(const Table& table, int threads) {
  const double n = static_cast<double>(table.rows());
  return {PrivateData(memory_source(table), PrivacyUnit{}),
          Filter::zcdp(rho_of(Epsilon(1.0), Delta(1.0 / (n * n)))),
          std::make_unique<SystemEntropy>(),
          memory_transcript(),
          {.threads = {threads}, .progress = {}}};
}

void per_round(benchmark::State& state, int rounds) {
  state.counters["per_round_ms"] =
      benchmark::Counter(1e-3 * rounds * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void run_mw_pub(benchmark::State& state, const World& world, int rounds, int threads,
                const Parameters& more = {}) {
  Parameters parameters = {{"rounds", std::to_string(rounds)}};
  parameters.insert(parameters.end(), more.begin(), more.end());
  for (auto _ : state) {
    Curator curator = curator_of(world.table, threads);
    Rng rng(1);
    benchmark::DoNotOptimize(find_mechanism("mw-pub").run(curator, world.problem, parameters, rng));
  }
  per_round(state, rounds);
}

constexpr int kRounds = 100;

void mw_pub_adult(benchmark::State& state) {
  const auto world = adult();
  if (!world) {
    state.SkipWithError("set TANDEM_DATA to the folder of real data");
    return;
  }
  run_mw_pub(state, *world, static_cast<int>(state.range(0)), 1);
}
BENCHMARK(mw_pub_adult)->Arg(100)->Arg(200)->Unit(benchmark::kMillisecond);

void mw_pub(benchmark::State& state) { run_mw_pub(state, adult_like(4881), kRounds, 1); }
void mw_pub_all_cells(benchmark::State& state) {
  run_mw_pub(state, adult_like(4881), kRounds, 1, {{"candidates", "all"}});
}

// The same rounds with every marginal counted over the whole support each time.
void plain(benchmark::State& state) {
  const World world = adult_like(4881);
  std::vector<Clique> cliques;
  for (const auto& [clique, weight] : world.problem.workload.cliques()) cliques.push_back(clique);
  for (auto _ : state) {
    Curator curator = curator_of(world.table, 1);
    const double n = static_cast<double>(world.table.rows());
    SupportHistogram A(public_rows(world.problem.public_data), n);
    const auto [to_select, to_measure] = (curator.remaining() / kRounds).split(0.8);
    for (int t = 0; t < kRounds; ++t) {
      auto answers = count_marginals(A.rows(), A.weights(), cliques);
      std::vector<CellScores> errors;
      for (auto& factor : answers) {
        for (double& value : factor.values) value *= A.unit();
        errors.push_back({.query = {factor.clique}, .reference = factor.values});
      }
      const CellChoice q = curator.select_cell(errors, to_select);
      const Cell cell{cliques[q.scores], q.output};
      const LinearQuery query{cell.clique,
                              LinearMap::rows({{{cell.index, 1}}}, A.domain().cells(cell.clique))};
      const double a = curator.measure(query, to_measure).values.front();
      const auto rows = A.rows_in(cell);
      A.reweight(rows, (std::clamp(a, 0.0, n) - A.count(rows)) / (2.0 * n));
    }
    benchmark::DoNotOptimize(A.project({}));
  }
  per_round(state, kRounds);
}
BENCHMARK(mw_pub)->Unit(benchmark::kMillisecond);
BENCHMARK(mw_pub_all_cells)->Unit(benchmark::kMillisecond);
BENCHMARK(plain)->Unit(benchmark::kMillisecond);

// The whole domain of seven columns: 336,000 rows, 14,955 cells.
void mwem(benchmark::State& state) {
  const Domain domain = domain_of({16, 7, 15, 5, 2, 2, 10});
  const Table table = rows_of(domain, 48'842, 0.0, 1);
  const Problem problem{domain, Workload::all_k_way(domain, 3), {}};
  for (auto _ : state) {
    Curator curator = curator_of(table, 1);
    Rng rng(1);
    benchmark::DoNotOptimize(
        find_mechanism("mwem").run(curator, problem, {{"rounds", "100"}}, rng));
  }
  per_round(state, kRounds);
}
BENCHMARK(mwem)->Unit(benchmark::kMillisecond);

// How the time grows: with the support, the marginals and the rounds.
void support(benchmark::State& state) {
  run_mw_pub(state, adult_like(static_cast<std::size_t>(state.range(0))), 50, 1);
}
BENCHMARK(support)
    ->Arg(1000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond)
    ->Repetitions(2);

World acs_like(std::size_t marginals) {
  const Domain domain = acs_domain();
  return {rows_of(domain, 100'000, 0.0, 1),
          {domain,
           Workload::random_k_way(domain, 3, marginals, 1),
           {{{"public", rows_of(domain, 100'000, 0.3, 2)}}}}};
}
void marginals(benchmark::State& state) {
  run_mw_pub(state, acs_like(static_cast<std::size_t>(state.range(0))), 10, 2);
}
BENCHMARK(marginals)
    ->Arg(256)
    ->Arg(1024)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond)
    ->Repetitions(1)
    ->UseRealTime();

void rounds(benchmark::State& state) {
  run_mw_pub(state, adult_like(4881), static_cast<int>(state.range(0)), 1);
}
BENCHMARK(rounds)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond)->Repetitions(2);

// 67 columns, 4096 marginals, 100,000 rows of support, 300 rounds.
void acs(benchmark::State& state) {
  run_mw_pub(state, acs_like(4096), 300, 2);
  state.counters["seconds"] =
      benchmark::Counter(static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(acs)->Unit(benchmark::kSecond)->Repetitions(1)->Iterations(1)->UseRealTime();

const Ratio kPlain{"a round, against every marginal counted anew", "plain", "mw_pub", 5.0};
const Rate kAdult100{"MW-Pub round on ADULT, T 100, one thread, ms (24 by the authors)",
                     "mw_pub_adult/100", "per_round_ms", 1.2, true};
const Rate kAdult200{"MW-Pub round on ADULT, T 200, one thread, ms (24 by the authors)",
                     "mw_pub_adult/200", "per_round_ms", 1.2, true};
const Rate kRound{"MW-Pub round, ADULT-like with 164,000 cells to choose, T 100, ms", "mw_pub",
                  "per_round_ms", 1.2, true};
const Rate kAllCells{"the same, selecting from all 334,128 cells, ms", "mw_pub_all_cells",
                     "per_round_ms", 1.2, true};
const Rate kMwem{"MWEM round, 336,000 rows, one thread, ms (115 by the authors)", "mwem",
                 "per_round_ms", 5.75, true};
const Rate kAcs{"67 columns, 4096 marginals, 100,000 rows, 300 rounds, 2 threads, s", "acs",
                "seconds", 120.0, true};

}  // namespace
}  // namespace tandem::bench
