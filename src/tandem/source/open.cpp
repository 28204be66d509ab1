// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/open.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/source/bit_source.h"

namespace tandem {

namespace {

constexpr std::string_view kPairs = "pairs:";

}  // namespace

void require_file(const std::string& source) {
  if (source.ends_with(".parquet")) {
    throw UsageError(fmt::format(
        "{} is Parquet, which this command can't read; in Python, tandem.synthesize({}, "
        "...) can, or export it as a .csv or .csv.gz file.",
        in_quotes(source), in_quotes(source)));
  }
  static constexpr std::array<std::string_view, 3> kUnread = {"duckdb:", "postgresql://",
                                                              "clickhouse://"};
  if (is_pairs(source)) {
    throw UsageError(
        fmt::format("{} is a list of pairs, which is read as private data of synth and compare, "
                    "and by evaluate; "
                    "give a table here, .csv or .csv.gz.",
                    in_quotes(source)));
  }
  bool unread = false;
  for (const auto scheme : kUnread) unread = unread || source.starts_with(scheme);
  if (unread) {
    throw UsageError(
        fmt::format("{} is of a kind this version can't read; export it as a .csv or .csv.gz file.",
                    in_quotes(source)));
  }
}

CsvTable load_table(const std::string& source, const Schema& schema, const CsvOptions& options) {
  require_file(source);
  CsvTable out = read_csv(source, schema, options);
  const std::size_t mended = mend_rows(schema.row_rules(), out.table);
  std::erase_if(out.ignored_columns, [&](const std::string& name) {
    return std::ranges::any_of(schema.relations().derived,
                               [&](const Derived& derived) { return derived.column.name == name; });
  });
  if (options.policy == RowPolicy::MustFit) out.mended = mended;  // of private rows, it is private
  return out;
}

bool is_pairs(const std::string& source) { return source.starts_with(kPairs); }

BitTable load_pairs(const std::string& source, const Schema& schema, const PairsOptions& options) {
  if (!is_pairs(source)) {
    throw UsageError(fmt::format("{} is no list of pairs; write pairs:FILE.", in_quotes(source)));
  }
  if (!schema.rules().empty()) {
    throw SchemaError("The schema has rules, and a list of pairs knows none; leave them out.");
  }
  return read_pairs(file_of(source), schema, options);
}

std::unique_ptr<DataSource> open_pairs(const std::string& source, const Schema& schema,
                                       const PairsOptions& options, const Threads& threads) {
  return bit_source(load_pairs(source, schema, options), threads);
}

std::string file_of(const std::string& source) {
  return is_pairs(source) ? source.substr(kPairs.size()) : source;
}

}  // namespace tandem
