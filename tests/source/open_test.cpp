// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/open.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

Schema one_column() { return Schema({{"a", "", coded_codec(3)}}); }

TEST(LoadTable, ReadsCsvPlainAndPacked) {
  const test::TempDir dir;
  for (const auto& path :
       {dir.write("t.csv", "a\n1\n2\n"), dir.write_gzip("t.csv.gz", "a\n1\n2\n")}) {
    EXPECT_EQ(load_table(path, one_column(), {}).table.rows(), 2U);
  }
}

TEST(LoadTable, RefusesKindsItCannotRead) {
  for (const char* source : {"duckdb:f?table=t", "postgresql://u@h/d?table=t",
                             "clickhouse://h:1/d?table=t", "pairs:f.csv", "t.parquet"}) {
    const auto message = test::error_of<UsageError>([&] { load_table(source, one_column(), {}); });
    EXPECT_TRUE(test::contains(message, source));
    EXPECT_TRUE(test::contains(message, ".csv or .csv.gz"));
    const auto scanning = [&] { scan_table(source, {}, {}, {}); };
    EXPECT_EQ(test::error_of<UsageError>(scanning), message);
  }
}

TEST(ScanTable, PassesOverTheRowsOfACsvFile) {
  const test::TempDir dir;
  std::string text;
  scan_table(
      dir.write("t.csv", "a;b\n1;2\n"), {},
      [&](auto names, const auto& format) { text += names[1] + format.delimiter; },
      [&](auto fields, std::size_t line) {
        text += std::string(fields[1]) + std::to_string(line);
      });
  EXPECT_EQ(text, "b;22");
}

}  // namespace
}  // namespace tandem
