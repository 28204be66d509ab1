// SPDX-License-Identifier: Apache-2.0
// What a run waits for its ledger, with every byte on the disk before a call returns. Set TMPDIR to
// time another disk.
#include <benchmark/benchmark.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "ratios.h"
#include "tandem/base/digest.h"
#include "tandem/privacy/ledger.h"

namespace tandem::bench {
namespace {

using Clock = std::chrono::steady_clock;

class TempLedger {
 public:
  TempLedger()
      : path_((std::filesystem::temp_directory_path() /
               ("tandem-bench-" + std::to_string(Clock::now().time_since_epoch().count())))
                  .string()),
        ledger(Ledger::create(path_, {"people", Epsilon(1.0), Delta(1e-9), PrivacyUnit{}})) {}
  ~TempLedger() { std::filesystem::remove(path_); }
  TempLedger(const TempLedger&) = delete;
  TempLedger& operator=(const TempLedger&) = delete;

  std::string reserve() { return ledger.reserve({"mst", "r", PrivacyUnit{}, false}, {}); }

 private:
  std::string path_;

 public:
  Ledger ledger;
};

void count_ms(benchmark::State& state, Clock::duration spent) {
  state.counters["ms"] = std::chrono::duration<double, std::milli>(spent).count() /
                         static_cast<double>(state.iterations());
}

void reserve(benchmark::State& state) {
  TempLedger temp;
  for (int i = 0; i < 100; ++i) temp.reserve();
  const auto start = Clock::now();
  for (auto _ : state) benchmark::DoNotOptimize(temp.reserve());
  count_ms(state, Clock::now() - start);
}
BENCHMARK(reserve)->Iterations(30);

void record_step(benchmark::State& state) {
  TempLedger temp;
  const std::string run = temp.reserve();
  std::int64_t step = 0;
  const auto start = Clock::now();
  for (auto _ : state) {
    temp.ledger.record_step(run, step, sha256_hex(std::to_string(step)));
    ++step;
  }
  count_ms(state, Clock::now() - start);
}
BENCHMARK(record_step)->Iterations(200);

void verify(benchmark::State& state) {
  TempLedger temp;
  const std::string run = temp.reserve();
  for (int step = 0; step < 1000; ++step) temp.ledger.record_step(run, step, sha256_hex(""));
  const auto start = Clock::now();
  for (auto _ : state) benchmark::DoNotOptimize(temp.ledger.verify());
  count_ms(state, Clock::now() - start);
}
BENCHMARK(verify)->Iterations(10);

const Rate kReserve{"reserve from a ledger of 100 runs, ms", "reserve", "ms", 20.0, true};
const Rate kStep{"record a step, ms", "record_step", "ms", 20.0, true};
const Rate kVerify{"verify 1,000 steps, ms", "verify", "ms", 100.0, true};

}  // namespace
}  // namespace tandem::bench
