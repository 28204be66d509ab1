// SPDX-License-Identifier: Apache-2.0
// Typed cells in memory into codes, against the same rows as a CSV file: 12 columns of numbers,
// labels, dates and flags, three batches of a million rows.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "ratios.h"
#include "support/arrow_tables.h"
#include "tandem/base/rng.h"
#include "tandem/data/cell_texts.h"
#include "tandem/data/csv.h"
#include "tandem/data/growing_table.h"

namespace {

using namespace tandem;

constexpr std::int64_t kBatch = 1'000'000;
constexpr int kBatches = 3;

constexpr const char* kSchema = R"(
[[column]]
name = "age"
kind = "integer"
min = 0
max = 99
[[column]]
name = "hours"
kind = "integer"
min = 0
max = 99
null = true
[[column]]
name = "code"
size = 300
[[column]]
name = "flag"
kind = "boolean"
[[column]]
name = "income"
kind = "real"
min = 0
max = 100000
bins = 100
[[column]]
name = "weight"
kind = "real"
min = 0
max = 1
decimals = 6
bins = 20
[[column]]
name = "day"
kind = "date"
min = "1990-01-01"
max = "2029-12-31"
bins = "month"
[[column]]
name = "sex"
values = ["female", "male"]
[[column]]
name = "region"
values = ["north", "south", "east", "west", "middle"]
[[column]]
name = "trade"
values = ["a trade of some words 0", "a trade of some words 1", "a trade of some words 2", "a trade of some words 3"]
[[column]]
name = "status"
values = ["single", "married", "widowed", "divorced", "unknown"]
other = "others"
[[column]]
name = "year"
kind = "integer"
min = 1900
max = 2025
bins = 25
)";

struct Rows {
  Schema schema = Schema::from_document(Document::parse_toml(kSchema, "the schema"));
  std::vector<test::ArrowColumn> columns;
  std::string path;

  Rows() {
    Rng rng(1);
    std::vector<std::int64_t> age;
    std::vector<double> hours;
    std::vector<bool> known;
    std::vector<std::int16_t> code;
    std::vector<bool> flag;
    std::vector<double> income;
    std::vector<double> weight;
    std::vector<std::int32_t> day;
    std::vector<std::int8_t> sex;
    std::vector<std::string> region;
    std::vector<std::string> trade;
    std::vector<std::string> status;
    std::vector<std::int64_t> year;
    const std::vector<std::string> regions = {"north", "south", "east", "west", "middle"};
    const std::vector<std::string> statuses = {"single",   "married", "widowed",
                                               "divorced", "unknown", "of another kind"};
    std::string csv = "age,hours,code,flag,income,weight,day,sex,region,trade,status,year\n";
    const CellTexts dates(schema.columns()[6]);
    const std::size_t header = csv.size();
    for (std::int64_t r = 0; r < kBatch; ++r) {
      age.push_back(static_cast<std::int64_t>(rng.below(100)));
      hours.push_back(static_cast<double>(rng.below(60)));
      known.push_back(rng.below(10) != 0);
      code.push_back(static_cast<std::int16_t>(rng.below(300)));
      flag.push_back(rng.below(2) == 1);
      income.push_back(static_cast<double>(rng.below(10'000'000)) / 100.0);
      weight.push_back(rng.uniform());
      day.push_back(static_cast<std::int32_t>(7305 + rng.below(14'000)));
      sex.push_back(static_cast<std::int8_t>(rng.below(2)));
      region.push_back(regions[rng.below(regions.size())]);
      trade.push_back("a trade of some words " + std::to_string(rng.below(4)));
      status.push_back(statuses[rng.below(statuses.size())]);
      year.push_back(static_cast<std::int64_t>(1900 + rng.below(126)));
      csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", age.back(),
                         known.back() ? fmt::format("{}", hours.back()) : "", code.back(),
                         flag.back() ? "true" : "false", shortest_text(income.back()),
                         shortest_text(weight.back()),
                         dates.of(MomentCell{std::int64_t{day.back()} * 86400, 0, false}),
                         sex.back() == 0 ? "female" : "male", region.back(), trade.back(),
                         status.back(), year.back());
    }
    auto sexes = test::numbers_column("sex", "c", sex);
    sexes.dictionary =
        std::make_shared<test::ArrowColumn>(test::texts_column("", "u", {"female", "male"}));
    columns = {test::numbers_column("age", "l", age),
               test::numbers_column("hours", "g", hours, known),
               test::numbers_column("code", "s", code),
               test::bools_column("flag", flag),
               test::numbers_column("income", "g", income),
               test::numbers_column("weight", "g", weight),
               test::numbers_column("day", "tdD", day),
               sexes,
               test::texts_column("region", "u", region),
               test::texts_column("trade", "U", trade),
               test::texts_column("status", "vu", status),
               test::numbers_column("year", "l", year)};
    path = (std::filesystem::temp_directory_path() /
            ("tandem-bench-" + std::to_string(getpid()) + "-cells.csv"))
               .string();
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) std::abort();
    std::fwrite(csv.data(), 1, header, file);
    for (int i = 0; i < kBatches; ++i) {
      std::fwrite(csv.data() + header, 1, csv.size() - header, file);
    }
    std::fclose(file);
  }
  ~Rows() { std::remove(path.c_str()); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
};

const Rows& rows() {
  static const Rows made;
  return made;
}

Table from_csv() {
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  return read_csv(rows().path, rows().schema, options).table;
}

Table from_cells() {
  RowEncoder encoder(rows().schema, "");
  ArrowSchema types_made = test::schema_of(rows().columns);
  ArrowArray batch_made = test::array_of(rows().columns);
  const OwnedSchema types(&types_made);
  const OwnedArray batch(&batch_made);
  GrowingTable table(rows().schema.domain());
  for (int i = 0; i < kBatches; ++i) {
    table.reserve(kBatch, kBatch * kBatches);
    table.append(encoder.encode(*batch, *types).table);
  }
  return table.take();
}

void check_same() {
  if (!(from_csv() == from_cells())) {
    std::fputs("The codes of cells and of texts differ.\n", stderr);
    std::abort();
  }
}

void rows_from_csv(benchmark::State& state) {
  rows();
  for (auto _ : state) benchmark::DoNotOptimize(from_csv());
  state.SetItemsProcessed(kBatch * kBatches * state.iterations());
}
BENCHMARK(rows_from_csv)->Unit(benchmark::kMillisecond)->Iterations(1);

void rows_from_cells(benchmark::State& state) {
  rows();
  for (auto _ : state) benchmark::DoNotOptimize(from_cells());
  state.SetItemsProcessed(kBatch * kBatches * state.iterations());
}
BENCHMARK(rows_from_cells)->Unit(benchmark::kMillisecond)->Iterations(1);

void one_column(benchmark::State& state) {
  const auto& column = rows().columns[static_cast<std::size_t>(state.range(0))];
  const Schema schema({rows().schema.columns()[static_cast<std::size_t>(state.range(0))]});
  RowEncoder encoder(schema, "");
  ArrowSchema types_made = test::schema_of(std::vector<test::ArrowColumn>{column});
  ArrowArray batch_made = test::array_of(std::vector<test::ArrowColumn>{column});
  const OwnedSchema types(&types_made);
  const OwnedArray batch(&batch_made);
  for (auto _ : state) benchmark::DoNotOptimize(encoder.encode(*batch, *types));
  state.SetLabel(column.name + " " + column.format);
  state.SetItemsProcessed(kBatch * state.iterations());
}
BENCHMARK(one_column)->DenseRange(0, 11)->Unit(benchmark::kMillisecond)->Iterations(1);

void same_codes(benchmark::State& state) {
  for (auto _ : state) check_same();
}
BENCHMARK(same_codes)->Unit(benchmark::kMillisecond)->Iterations(1);

const bench::Ratio cells_against_csv{"3M rows of 12 typed columns against a CSV file, one thread",
                                     "rows_from_csv", "rows_from_cells", 2.0};

}  // namespace
