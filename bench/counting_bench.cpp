// SPDX-License-Identifier: Apache-2.0
// Counting marginals: against the authors' code on ADULT, a plain loop, and the memory's bandwidth.

#include <cstdlib>
#include <numeric>
#include <optional>

#include "ratios.h"
#include "tandem/base/rng.h"
#include "tandem/data/csv.h"
#include "tandem/query/counting.h"
#include "tandem/query/workload.h"

namespace {

using namespace tandem;

constexpr std::size_t kRows = 10'000'000;
constexpr std::size_t kColumns = 12;

// Skewed and correlated columns of 2 to 16 values, as real ones are.
const Table& generated() {
  static const Table table = [] {
    std::vector<Attribute> attributes;
    for (std::size_t c = 0; c < kColumns; ++c) {
      attributes.push_back({.name = "c" + std::to_string(c),
                            .size = static_cast<Code>(2 + (c * 5) % 15),
                            .labels = {}});
    }
    Table out(Domain(std::move(attributes)), kRows);
    Rng rng(1);
    std::vector<std::uint8_t> common(kRows);
    for (auto& value : common) value = static_cast<std::uint8_t>(rng.next() >> 58);
    for (AttributeId id = 0; id < kColumns; ++id) {
      const Code size = out.domain()[id].size;
      out.column(id).visit([&](auto codes) {
        using C = typename decltype(codes)::value_type;
        for (std::size_t r = 0; r < kRows; ++r) {
          const std::uint64_t bits = rng.next();
          const auto draw = static_cast<Code>(((bits & 0xffff) * (bits >> 48) >> 16) * size >> 16);
          codes[r] = static_cast<C>((bits >> 20 & 3U) == 0 ? common[r] % size : draw);
        }
      });
    }
    return out;
  }();
  return table;
}

void set_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes * state.iterations()));
}

constexpr std::size_t kPairBytes = kColumns * (kColumns - 1) * kRows;  // two columns a pair

void plain_loop_per_pair(benchmark::State& state) {
  const Table& table = generated();
  for (auto _ : state) {
    for (AttributeId a = 0; a < kColumns; ++a) {
      for (AttributeId b = a + 1; b < kColumns; ++b) {
        const std::size_t size = table.domain()[b].size;
        std::vector<std::uint32_t> counts(table.domain()[a].size * size);
        table.column(a).visit([&](auto left) {
          table.column(b).visit([&](auto right) {
            for (std::size_t r = 0; r < kRows; ++r) ++counts[left[r] * size + right[r]];
          });
        });
        benchmark::DoNotOptimize(counts.data());
      }
    }
  }
  set_bytes(state, kPairBytes);
}
BENCHMARK(plain_loop_per_pair)->Unit(benchmark::kMillisecond)->UseRealTime();

void all_pairs(benchmark::State& state) {
  const Table& table = generated();
  const auto workload = Workload::all_k_way(table.domain(), 2);
  std::vector<Clique> cliques;
  for (const auto& [clique, weight] : workload.cliques()) cliques.push_back(clique);
  const Threads threads{static_cast<int>(state.range(0))};
  for (auto _ : state) benchmark::DoNotOptimize(count_marginals(table, cliques, threads));
  set_bytes(state, kPairBytes);
}
BENCHMARK(all_pairs)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void memory_bandwidth_probe(benchmark::State& state) {
  const std::vector<std::uint64_t> words(kRows * kColumns / 8, 3);
  for (auto _ : state) {
    benchmark::DoNotOptimize(std::accumulate(words.begin(), words.end(), std::uint64_t{0}));
  }
  set_bytes(state, kRows * kColumns);
}
BENCHMARK(memory_bandwidth_probe)->Unit(benchmark::kMillisecond)->UseRealTime();

void adult_575_marginals(benchmark::State& state) {
  const char* root = std::getenv("TANDEM_DATA");
  if (root == nullptr) {
    state.SkipWithError("set TANDEM_DATA to the folder of real data");
    return;
  }
  const std::string folder = std::string(root) + "/jam/adult_pub025/";
  const Schema schema = Schema::read(folder + "domain.json");
  const Table table = read_csv(folder + "priv.csv", schema).table;
  const auto cliques = Workload::all_k_way(schema.domain(), 3).downward_closure();
  const Threads threads{static_cast<int>(state.range(0))};
  for (auto _ : state) benchmark::DoNotOptimize(count_marginals(table, cliques, threads));
}
BENCHMARK(adult_575_marginals)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void weighted_pairs(benchmark::State& state) {
  const Table& table = generated();
  const std::vector<double> weights(table.rows(), 0.5);
  const auto workload = Workload::all_k_way(table.domain(), 2);
  std::vector<Clique> cliques;
  for (const auto& [clique, weight] : workload.cliques()) cliques.push_back(clique);
  for (auto _ : state) benchmark::DoNotOptimize(count_marginals(table, weights, cliques));
}
BENCHMARK(weighted_pairs)->Unit(benchmark::kMillisecond)->UseRealTime();

const bench::Against adult{"ADULT, 575 marginals, one thread, against the authors' 1.6 s", 1.6,
                           "adult_575_marginals/1", 20.0};
const bench::Ratio pairs{"66 pairs of 10M x 12, one thread, against a plain loop per pair",
                         "plain_loop_per_pair", "all_pairs/1", 1.0};
const bench::Ratio pairs_two{"66 pairs of 10M x 12, two threads, against a plain loop per pair",
                             "plain_loop_per_pair", "all_pairs/2", 1.7};
const bench::Share bandwidth{"66 pairs, one thread: column bytes/s as a share of the memory probe",
                             "all_pairs/1", "memory_bandwidth_probe", "bytes_per_second"};
const bench::Share bandwidth_two{
    "66 pairs, two threads: column bytes/s as a share of the memory probe", "all_pairs/2",
    "memory_bandwidth_probe", "bytes_per_second"};

}  // namespace
