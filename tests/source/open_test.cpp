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
  }
}

}  // namespace
}  // namespace tandem
