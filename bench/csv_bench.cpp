// SPDX-License-Identifier: Apache-2.0
// CSV files into codes and back: bytes per second, and peak memory against the coded table.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "ratios.h"
#include "tandem/base/rng.h"
#include "tandem/data/binned_codec.h"
#include "tandem/data/csv.h"

namespace {

using namespace tandem;

constexpr std::size_t kRows = 4'000'000;
constexpr int kColumns = 12;

// Decimals in a hundred ranges.
std::unique_ptr<Codec> decimals() {
  Ranges ranges{.starts = {}, .last = 99'999.9};
  ranges.starts.reserve(100);
  for (int i = 0; i < 100; ++i) ranges.starts.push_back(1000.0 * i);
  return binned_codec(number_line(1), std::move(ranges), 1);
}

enum class Kind { Codes, Labels, Mixed };

ColumnSchema column(Kind kind, int c) {
  const Code size = c == 0 ? 90 : static_cast<Code>(2 + c);
  std::vector<std::string> labels;
  for (Code v = 0; v < size; ++v) labels.push_back("category " + std::to_string(v));
  std::unique_ptr<Codec> codec;
  if (kind == Kind::Labels || (kind == Kind::Mixed && c % 3 == 1)) {
    codec = labelled_codec(labels, 0);
  } else if (kind == Kind::Mixed && c % 3 == 2) {
    codec = decimals();
  } else {
    codec = coded_codec(size);
  }
  return {.name = "column" + std::to_string(c), .description = {}, .codec = std::move(codec)};
}

// A generated file, its schema and its table; removed at exit.
struct Sample {
  std::string path;
  Schema schema;
  Table table;
  std::size_t bytes = 0;
  Sample(const std::string& name, Kind kind, std::size_t rows, const TextFormat& format = {}) {
    path = (std::filesystem::temp_directory_path() /
            ("tandem-bench-" + std::to_string(getpid()) + "-" + name))
               .string();
    std::vector<ColumnSchema> columns;
    columns.reserve(kColumns);
    for (int c = 0; c < kColumns; ++c) columns.push_back(column(kind, c));
    schema = Schema(std::move(columns), format);
    table = Table(schema.domain(), rows);
    Rng rng(1);
    for (AttributeId id = 0; id < kColumns; ++id) {
      const Code size = schema.domain()[id].size;
      for (std::size_t r = 0; r < rows; ++r) {
        table.column(id).set(r, static_cast<Code>(rng.below(size)));
      }
    }
    write_csv(path, schema, table, rng);
    bytes = std::filesystem::file_size(path);
  }
  ~Sample() { std::remove(path.c_str()); }
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;
};

const Sample& coded() {
  static const Sample sample("coded.csv", Kind::Codes, kRows);
  return sample;
}

const Sample& labelled() {
  static const Sample sample("labelled.csv", Kind::Labels, kRows / 4);
  return sample;
}

const Sample& mixed() {
  static const Sample sample("mixed.csv", Kind::Mixed, kRows / 4);
  return sample;
}

const Sample& utf16() {
  static const Sample sample("utf16.csv", Kind::Mixed, kRows / 4,
                             {Encoding::Utf16LittleEndian, ';', '"', ','});
  return sample;
}

// Labels in quotes, and a note of some words in each row: what both kinds of records read alike.
// With line feeds in every tenth note only quoted records do.
struct Notes {
  std::string path;
  std::size_t bytes = 0;
  Notes(const Sample& sample, bool line_feeds) {
    path = sample.path + (line_feeds ? "-feeds" : "-notes");
    std::string text = "note";
    for (const auto& column : sample.schema.columns()) text += ",\"" + column.name + "\"";
    text += "\n";
    Rng rng(1);
    for (std::size_t r = 0; r < sample.table.rows(); ++r) {
      text += line_feeds && r % 10 == 0 ? "\"called twice,\nnobody there,\n\"\"later\"\"\""
                                        : "\"called twice, nobody there\"";
      for (AttributeId id = 0; id < kColumns; ++id) {
        text += ",\"";
        sample.schema.columns()[id].codec->decode(sample.table.column(id)[r], rng, text);
        text += '"';
      }
      text += '\n';
    }
    bytes = text.size();
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr || std::fwrite(text.data(), 1, bytes, file) != bytes) std::abort();
    std::fclose(file);
  }
  ~Notes() { std::remove(path.c_str()); }
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;
};

const Notes& notes(bool line_feeds) {
  static const Notes plain(mixed(), false);
  static const Notes feeds(mixed(), true);
  return line_feeds ? feeds : plain;
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

void load_mixed(benchmark::State& state) { load(state, mixed()); }
BENCHMARK(load_mixed)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void load_utf16(benchmark::State& state) { load(state, utf16()); }
BENCHMARK(load_utf16)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void load_private(benchmark::State& state, const std::string& path, std::size_t bytes,
                  const Schema& schema, Records records) {
  CsvOptions options = with_threads(state.range(0));
  options.policy = RowPolicy::Repair;
  options.format = TextFormat{.records = records};
  for (auto _ : state) benchmark::DoNotOptimize(read_csv(path, schema, options));
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes * state.iterations()));
}

void private_codes_as_lines(benchmark::State& state) {
  load_private(state, coded().path, coded().bytes, coded().schema, Records::Lines);
}
BENCHMARK(private_codes_as_lines)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void private_codes_as_quoted(benchmark::State& state) {
  load_private(state, coded().path, coded().bytes, coded().schema, Records::Quoted);
}
BENCHMARK(private_codes_as_quoted)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void private_notes_as_lines(benchmark::State& state) {
  load_private(state, notes(false).path, notes(false).bytes, mixed().schema, Records::Lines);
}
BENCHMARK(private_notes_as_lines)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void private_notes_as_quoted(benchmark::State& state) {
  load_private(state, notes(false).path, notes(false).bytes, mixed().schema, Records::Quoted);
}
BENCHMARK(private_notes_as_quoted)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void private_feeds_as_quoted(benchmark::State& state) {
  load_private(state, notes(true).path, notes(true).bytes, mixed().schema, Records::Quoted);
}
BENCHMARK(private_feeds_as_quoted)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

void store(benchmark::State& state, const Sample& sample) {
  const std::string path = sample.path + ".out";
  Rng rng(1);
  for (auto _ : state) write_csv(path, sample.schema, sample.table, rng);
  std::remove(path.c_str());
  state.SetBytesProcessed(static_cast<std::int64_t>(sample.bytes * state.iterations()));
}

void store_coded(benchmark::State& state) { store(state, coded()); }
BENCHMARK(store_coded)->Unit(benchmark::kMillisecond)->UseRealTime();

void store_labelled(benchmark::State& state) { store(state, labelled()); }
BENCHMARK(store_labelled)->Unit(benchmark::kMillisecond)->UseRealTime();

void store_mixed(benchmark::State& state) { store(state, mixed()); }
BENCHMARK(store_mixed)->Unit(benchmark::kMillisecond)->UseRealTime();

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
const bench::Rate mixed_rate{"CSV of codes, labels and decimals, one thread, bytes/s",
                             "load_mixed/1", "bytes_per_second", 100e6};
const bench::Rate utf16_rate{"The same in UTF-16 with decimal commas, one thread, bytes/s",
                             "load_utf16/1", "bytes_per_second", 100e6};
const bench::Rate store_coded_rate{"CSV of codes written, bytes/s", "store_coded",
                                   "bytes_per_second", 100e6};
const bench::Rate store_labelled_rate{"CSV of labels written, bytes/s", "store_labelled",
                                      "bytes_per_second", 100e6};
const bench::Rate store_mixed_rate{"CSV of codes, labels and decimals written, bytes/s",
                                   "store_mixed", "bytes_per_second", 50e6};
const bench::Ratio quoted_codes{"Quoted records against lines, codes, one thread",
                                "private_codes_as_lines/1", "private_codes_as_quoted/1", 0.7};
const bench::Ratio quoted_notes{"Quoted records against lines, all values in quotes, one thread",
                                "private_notes_as_lines/1", "private_notes_as_quoted/1", 0.7};
const bench::Ratio quoted_notes_two{
    "Quoted records against lines, all values in quotes, two threads", "private_notes_as_lines/2",
    "private_notes_as_quoted/2", 0.7};
const bench::Ratio quoted_feeds{"Quoted records with line feeds against lines without, one thread",
                                "private_notes_as_lines/1", "private_feeds_as_quoted/1", 0.7};
const bench::Ratio two{"CSV of codes, two threads against one", "load_coded/1", "load_coded/2",
                       1.5};
const bench::Rate memory{"CSV load: peak memory / coded table (48 MB), two threads",
                         "load_peak_memory", "peak_over_table", 1.6, true};

}  // namespace
