// SPDX-License-Identifier: Apache-2.0
// Reads a generated CSV file of about a gigabyte and says how fast, and with how much memory:
//   build/release/bench/large_csv FOLDER [MEGABYTES] [THREADS]
// Not among the benchmarks that always run: it needs the space and a quiet minute.

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tandem/base/error.h"
#include "tandem/base/rng.h"
#include "tandem/base/text.h"
#include "tandem/data/csv.h"

namespace {

using namespace tandem;

double peak_megabytes() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

double cpu_seconds() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Whole numbers, labels and decimals, twelve columns. The decimals are no column of the schema.
Schema write_file(const std::string& path, double bytes) {
  std::vector<ColumnSchema> columns;
  for (int c = 0; c < 10; ++c) {
    const Code size = c == 0 ? 90 : static_cast<Code>(3 + c * c * c);
    std::vector<std::string> labels;
    for (Code v = 0; v < size; ++v) labels.push_back("value " + std::to_string(v));
    columns.push_back({.name = "c" + std::to_string(c),
                       .description = {},
                       .codec = c % 2 == 0 ? coded_codec(size) : labelled_codec(labels, 0)});
  }
  Schema schema(std::move(columns));
  std::ofstream file(path, std::ios::binary);
  std::string text = "weight";
  for (const auto& column : schema.columns()) text += "," + column.name;
  text += ",income\n";
  Rng rng(1);
  for (double written = 0.0; written < bytes; text.clear()) {
    while (text.size() < 1'000'000) {
      text += fmt::format("{}.{:02}", rng.below(500), rng.below(100));
      for (const auto& column : schema.columns()) {
        text += ',';
        column.codec->decode(static_cast<Code>(rng.below(column.codec->size())), rng, text);
      }
      text += fmt::format(",{}.{:02}\n", rng.below(200'000), rng.below(100));
    }
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    written += static_cast<double>(text.size());
  }
  return schema;
}

void read_file(const std::string& path, const Schema& schema, RowPolicy policy, int threads) {
  CsvOptions options;
  options.policy = policy;
  options.threads = {threads};
  const double peak_before = peak_megabytes();
  const double cpu_before = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  const auto loaded = read_csv(path, schema, options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double cpu = cpu_seconds() - cpu_before;
  const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  fmt::print(
      "{}, {} thread(s): {} rows, {:.0f} MB in {:.1f} s ({:.0f} MB/s), {:.1f} s of CPU ({:.0f} "
      "MB/s); table {}, peak {:.0f} MB (before: {:.0f} MB)\n",
      policy == RowPolicy::Repair ? "private" : "public", threads, with_commas(loaded.table.rows()),
      megabytes, seconds.count(), megabytes / seconds.count(), cpu, megabytes / cpu,
      human_bytes(static_cast<double>(loaded.table.bytes())), peak_megabytes(), peak_before);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: large_csv FOLDER [MEGABYTES] [THREADS]\n");
    return 2;
  }
  const std::string path =
      std::string(argv[1]) + "/tandem-large-" + std::to_string(getpid()) + ".csv";
  const double megabytes = argc > 2 ? std::atof(argv[2]) : 1000.0;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 1;
  try {
    const Schema schema = write_file(path, megabytes * 1e6);
    read_file(path, schema, RowPolicy::Repair, threads);
    read_file(path, schema, RowPolicy::MustFit, threads);
  } catch (const std::exception& error) {
    fmt::print(stderr, "large_csv: {}\n", error.what());
  }
  std::filesystem::remove(path);
  return 0;
}
