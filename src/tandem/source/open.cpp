// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/open.h"

#include <fmt/core.h>

#include <array>
#include <string_view>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

namespace {

void refuse_unread(const std::string& source) {
  static constexpr std::array<std::string_view, 4> kUnread = {"duckdb:", "postgresql://",
                                                              "clickhouse://", "pairs:"};
  bool unread = source.ends_with(".parquet");
  for (const auto scheme : kUnread) unread = unread || source.starts_with(scheme);
  if (unread) {
    throw UsageError(
        fmt::format("{} is of a kind this version can't read; export it as a .csv or .csv.gz file.",
                    in_quotes(source)));
  }
}

}  // namespace

CsvTable load_table(const std::string& source, const Schema& schema, const CsvOptions& options) {
  refuse_unread(source);
  return read_csv(source, schema, options);
}

void scan_table(const std::string& source, const CsvScanOptions& options,
                const OnCsvHeader& on_header, const OnCsvRow& on_row) {
  refuse_unread(source);
  scan_csv(source, options, on_header, on_row);
}

}  // namespace tandem
