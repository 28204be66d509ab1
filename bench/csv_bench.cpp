// SPDX-License-Identifier: Apache-2.0
// Loading CSV files into codes: bytes per second, and peak memory against the coded table.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "ratios.h"
#include "tandem/base/rng.h"
#include "tandem/data/csv.h"

namespace {

using namespace tandem;

constexpr std::size_t kRows = 4'000'000;
constexpr int kColumns = 12;

// A generated file and its schema; removed at exit.
struct Sample {
  std::string path;
  Schema schema;
  std::size_t bytes = 0;
  Sample(const std::string& name, bool labels) {
    path = (std::filesystem::temp_directory_path() /
            ("tandem-bench-" + std::to_string(getpid()) + "-" + name))
               .string();
    std::vector<ColumnSchema> columns;
    std::vector<std::vector<std::string>> values(kColumns);
    for (int c = 0; c < kColumns; ++c) {
      const Code size = c == 0 ? 90 : static_cast<Code>(2 + c);
      for (Code v = 0; v < size; ++v) {
        values[c].push_back(labels ? "category " + std::to_string(v) : std::to_string(v));
      }
      columns.push_back({.name = "column" + std::to_string(c),
                         .description = {},
                         .codec = labels ? labelled_codec(values[c], 0) : coded_codec(size)});
    }
    schema = Schema(std::move(columns));
    std::FILE* file = std::fopen(path.c_str(), "wb");
    std::string text;
    for (int c = 0; c < kColumns; ++c) text += (c > 0 ? "," : "") + schema.columns()[c].name;
    text += '\n';
    Rng rng(1);
    for (std::size_t r = 0; r < kRows / (labels ? 4 : 1); ++r) {
      for (int c = 0; c < kColumns; ++c) {
        if (c > 0) text += ',';
        text += values[c][rng.below(values[c].size())];
      }
      text += '\n';
      if (text.size() > 1'000'000) {
        bytes += std::fwrite(text.data(), 1, text.size(), file);
        text.clear();
      }
    }
    bytes += std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
  ~Sample() { std::remove(path.c_str()); }
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;
};

const Sample& coded() {
  static const Sample sample("coded.csv", false);
  return sample;
}

const Sample& labelled() {
  static const Sample sample("labelled.csv", true);
  return sample;
}

CsvOptions with_threads(std::int64_t threads) {
  CsvOptions options;
  options.threads = {static_cast<int>(threads)};
  return options;
}

void load(benchmark::State& state, const Sample& sample) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(read_csv(sample.path, sample.schema, with_threads(state.range(0))));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(sample.bytes * state.iterations()));
}

void load_coded(benchmark::State& state) { load(state, coded()); }
BENCHMARK(load_coded)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void load_labelled(benchmark::State& state) { load(state, labelled()); }
BENCHMARK(load_labelled)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

std::size_t peak_of_child(bool read) {
  int pipes[2];
  if (pipe(pipes) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    if (read) benchmark::DoNotOptimize(read_csv(coded().path, coded().schema, with_threads(2)));
    struct rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    const auto peak = static_cast<std::size_t>(usage.ru_maxrss) * 1024;
    if (write(pipes[1], &peak, sizeof peak) < 0) _exit(1);
    _exit(0);
  }
  std::size_t peak = 0;
  if (::read(pipes[0], &peak, sizeof peak) < 0) peak = 0;
  close(pipes[0]);
  close(pipes[1]);
  waitpid(child, nullptr, 0);
  return peak;
}

void load_peak_memory(benchmark::State& state) {
  const double table = static_cast<double>(kRows) * kColumns;  // one byte a code
  double ratio = 0.0;
  coded();
  for (auto _ : state) {
    const auto loading = static_cast<double>(peak_of_child(true));
    ratio = (loading - static_cast<double>(peak_of_child(false))) / table;
  }
  state.counters["peak_over_table"] = ratio;
}
BENCHMARK(load_peak_memory)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

const bench::Rate coded_rate{"CSV of codes, one thread, bytes/s", "load_coded/1",
                             "bytes_per_second", 100e6};
const bench::Rate labelled_rate{"CSV of labels, one thread, bytes/s", "load_labelled/1",
                                "bytes_per_second", 100e6};
const bench::Ratio two{"CSV of codes, two threads against one", "load_coded/1", "load_coded/2",
                       1.5};
const bench::Rate memory{"CSV load: peak memory / coded table (48 MB), two threads",
                         "load_peak_memory", "peak_over_table", 2.0, true};

}  // namespace
