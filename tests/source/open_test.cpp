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
                             "clickhouse://h:1/d?table=t", "pairs:f.csv"}) {
    const auto message = test::error_of<UsageError>([&] { load_table(source, one_column(), {}); });
    EXPECT_TRUE(test::contains(message, shown_source(source)));
    EXPECT_TRUE(test::contains(message, ".csv or .csv.gz"));
  }
}

TEST(ShownSource, HasNoPassword) {
  for (const char* source :
       {"postgresql://steward:hunter2@db/health?table=t&password=hunter2",
        "postgresql://steward:hun/ter2?hunter2@hunter2@db/health", "s3://key:hunter2@db/health"}) {
    const auto shown = shown_source(source);
    EXPECT_FALSE(test::contains(shown, "ter2")) << shown;
    EXPECT_TRUE(test::contains(shown, "://db/health'")) << shown;
    EXPECT_FALSE(test::contains(
        test::error_of<UsageError>([&] { load_table(source, one_column(), {}); }), "ter2"));
  }
  EXPECT_EQ(shown_source("who@home?.csv"), "'who@home?.csv'");
}

TEST(LoadPairs, ReadsWhatIsWrittenAsPairs) {
  const test::TempDir dir;
  const Schema schema = Schema({{"a", "", coded_codec(2)}});
  const auto path = dir.write("p.csv", "user,item\nu,a\nv,\n");
  EXPECT_TRUE(is_pairs("pairs:" + path));
  EXPECT_FALSE(is_pairs(path));
  EXPECT_EQ(load_pairs("pairs:" + path, schema, {}).rows(), 2U);
  EXPECT_TRUE(test::contains(test::error_of<UsageError>([&] { load_pairs(path, schema, {}); }),
                             "write pairs:FILE"));
}

TEST(LoadPairs, RefusesRules) {
  const Schema schema = Schema::from_document(
      Document::parse_toml("[[column]]\nname = 'a'\nsize = 2\n[[column]]\nname = 'b'\nsize = 2\n"
                           "[[rule]]\nif = 'a = 1'\nthen = 'b = 1'\n",
                           "s.toml"));
  EXPECT_TRUE(test::contains(
      test::error_of<SchemaError>([&] { load_pairs("pairs:none.csv", schema, {}); }), "rules"));
}

}  // namespace
}  // namespace tandem
