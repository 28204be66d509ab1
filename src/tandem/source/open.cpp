// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/open.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

void require_file(const std::string& source) {
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

}  // namespace tandem
