// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/open.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/source/bit_source.h"
#include "tandem/source/parquet.h"

namespace tandem {

namespace {

constexpr std::string_view kAddress = "://";

}  // namespace

std::string shown_source(const std::string& source) {
  const auto scheme = source.find(kAddress);
  if (scheme == std::string::npos) return in_quotes(source);
  const auto start = scheme + kAddress.size();
  // A password may hold any character, so all up to the last @ is cut before options are looked
  // for.
  const auto at = source.rfind('@');
  const bool names_user = at != std::string::npos && at >= start;
  const std::string place = source.substr(names_user ? at + 1 : start);
  return in_quotes(source.substr(0, start) + place.substr(0, place.find('?')));
}

void require_file(const std::string& source) {
  if (is_pairs(source)) {
    throw UsageError(
        fmt::format("{} is a list of pairs, which is read as private data of synth and compare, "
                    "and by evaluate; "
                    "give a table here, .parquet, .csv or .csv.gz.",
                    shown_source(source)));
  }
  if (source.starts_with("duckdb:") || source.find(kAddress) != std::string::npos) {
    throw UsageError(
        fmt::format("{} is of a kind this version can't read; export it as a .csv or .csv.gz file.",
                    shown_source(source)));
  }
}

TextOfSource text_of(const std::string& source, const Schema* schema, RowPolicy policy,
                     const Threads& threads, const std::string& key) {
  require_file(source);
  if (!is_parquet(source)) return {};
  TextFormat format;
  if (policy == RowPolicy::Repair) format.records = Records::Quoted;
  return {.open = parquet_text(source, schema, key, threads), .format = format};
}

CsvTable read_table(const std::string& source, const Schema& schema, const CsvOptions& options) {
  auto text = text_of(source, &schema, options.policy, options.threads, options.key_column);
  if (!text.open) return read_csv(source, schema, options);
  CsvOptions reading = options;
  reading.open = std::move(text.open);
  reading.format = text.format;
  return read_csv(source, schema, reading);
}

void scan_table(const std::string& source, const Schema* schema, const CsvScanOptions& options,
                const OnCsvHeader& on_header, const OnCsvRow& on_row) {
  auto text = text_of(source, schema, RowPolicy::MustFit, Threads{});
  if (!text.open) return scan_csv(source, options, on_header, on_row);
  CsvScanOptions reading = options;
  reading.open = std::move(text.open);
  reading.format = text.format;
  scan_csv(source, reading, on_header, on_row);
}

CsvTable load_table(const std::string& source, const Schema& schema, const CsvOptions& options) {
  CsvTable out = read_table(source, schema, options);
  const std::size_t mended = mend_rows(schema.row_rules(), out.table);
  std::erase_if(out.ignored_columns, [&](const std::string& name) {
    return std::ranges::any_of(schema.relations().derived,
                               [&](const Derived& derived) { return derived.column.name == name; });
  });
  if (options.policy == RowPolicy::MustFit) out.mended = mended;  // of private rows, it is private
  return out;
}

BitTable load_pairs(const std::string& source, const Schema& schema, const PairsOptions& options) {
  if (!is_pairs(source)) {
    throw UsageError(
        fmt::format("{} is no list of pairs; write pairs:FILE.", shown_source(source)));
  }
  if (!schema.rules().empty()) {
    throw SchemaError("The schema has rules, and a list of pairs knows none; leave them out.");
  }
  return read_pairs(source_files(source).front(), schema, options);
}

std::unique_ptr<DataSource> open_pairs(const std::string& source, const Schema& schema,
                                       const PairsOptions& options, const Threads& threads) {
  return bit_source(load_pairs(source, schema, options), threads);
}

}  // namespace tandem
