// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/duckdb.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "support/errors.h"
#include "support/files.h"
#include "support/parquet.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;
using test::Variable;

TEST(DuckDb, AMissingLibraryIsSaidWithWhatToDo) {
  const Variable none("TANDEM_DUCKDB", nullptr);
  if (test::has_duckdb()) GTEST_SKIP() << "the system has DuckDB's library";
  EXPECT_EQ(error_of<UsageError>([] { DuckDb database(1); }),
            "Parquet is read through DuckDB's library, and this machine has none: 'pip install "
            "duckdb' has it in its module (scripts/duckdb.sh shows how it is found); name it in "
            "TANDEM_DUCKDB, or read Parquet in Python, with tandem.synthesize.");
}

// Whoever may set it would run code beside private rows.
TEST(DuckDb, NoPathOfTheLoaderIsAsked) {
  const Variable none("TANDEM_DUCKDB", nullptr);
  if (test::has_duckdb()) GTEST_SKIP() << "the system has DuckDB's library";
  const test::TempDir dir;
  dir.write("libduckdb.so", "no library");
  const Variable path("LD_LIBRARY_PATH", (dir / "").c_str());
  EXPECT_TRUE(contains(error_of<UsageError>([] { DuckDb database(1); }), "this machine has none"));
}

TEST(DuckDb, AnotherLibraryThanTheOneThatWasMeantIsRefusedUnopened) {
  const test::TempDir dir;
  const std::string path = dir.write("libduckdb.so", "no library");
  const Variable stated("TANDEM_DUCKDB", path.c_str());
  const Variable digest("TANDEM_DUCKDB_SHA256", std::string(64, 'a').c_str());
  EXPECT_EQ(error_of<UsageError>([] { DuckDb database(1); }),
            path + " is not the library whose SHA-256 TANDEM_DUCKDB_SHA256 states; name that one.");
}

TEST(DuckDb, AModuleOfPythonNeedsPythonsLibrary) {
  const test::TempDir dir;
  const std::string path = dir.write("_duckdb.cpython-399-any.so", "no library");
  const Variable stated("TANDEM_DUCKDB", path.c_str());
  const auto message = error_of<UsageError>([] { DuckDb database(1); });
  EXPECT_TRUE(contains(message, "libpython3.99.so.1.0"));
}

TEST(DuckDb, ALibraryThatIsNoneIsSaid) {
  const test::TempDir dir;
  for (const auto& name :
       {dir / "libduckdb.so", dir.write("text.so", "no library"), dir / "libz.so.1"}) {
    const Variable stated("TANDEM_DUCKDB", name.c_str());
    const auto message = error_of<UsageError>([] { DuckDb database(1); });
    EXPECT_TRUE(message.starts_with(name + " is no DuckDB library that can be used; ")) << message;
    EXPECT_TRUE(contains(message, "tandem.synthesize"));
  }
}

TEST(DuckDb, GivesRowsAsArrow) {
  TANDEM_NEEDS_DUCKDB();
  DuckDb database(2);
  OwnedStream rows = database.query("SELECT * FROM range(5000)");
  ASSERT_FALSE(rows.empty());
  std::int64_t count = 0;
  for (OwnedArray batch; next_of(rows, batch) && !batch.empty();) count += (*batch).length;
  EXPECT_EQ(count, 5000);
}

TEST(DuckDb, WhatItRefusesIsNoStream) {
  TANDEM_NEEDS_DUCKDB();
  DuckDb database(1);
  EXPECT_TRUE(database.query("SELECT nothing FROM nowhere").empty());
  EXPECT_TRUE(database.query("no SQL").empty());
  EXPECT_FALSE(database.run("SELECT 1 / CAST('x' AS INTEGER)"));
  EXPECT_TRUE(database.run("SELECT 1"));
}

TEST(DuckDb, ARowThatCannotBeMadeEndsTheStream) {
  TANDEM_NEEDS_DUCKDB();
  DuckDb database(1);
  OwnedStream rows =
      database.query("SELECT CAST(if(range = 60000, 'x', '1') AS INTEGER) FROM range(100000)");
  bool broken = rows.empty();
  for (OwnedArray batch; !broken;) {
    broken = !next_of(rows, batch);
    if (batch.empty()) break;
  }
  EXPECT_TRUE(broken);
}

TEST(DuckDb, AStreamThatFailsOrThrowsIsNotAtItsEnd) {
  static int calls = 0;
  calls = 0;
  ArrowArrayStream made{};
  made.get_next = [](ArrowArrayStream*, ArrowArray* to) {
    *to = ArrowArray{};
    if (++calls == 1) throw std::runtime_error("through the C door");
    return calls == 2 ? 5 : 0;
  };
  made.release = [](ArrowArrayStream* self) { self->release = nullptr; };
  OwnedStream rows(&made);
  OwnedArray batch;
  EXPECT_FALSE(next_of(rows, batch));
  EXPECT_FALSE(next_of(rows, batch));
  EXPECT_TRUE(next_of(rows, batch));
  EXPECT_TRUE(batch.empty());
}

TEST(DuckDb, HasNoDiskAndNoExtensions) {
  TANDEM_NEEDS_DUCKDB();
  DuckDb database(1);
  for (const char* sql : {"SELECT error('x') WHERE current_setting('temp_directory') <> ''",
                          "SELECT error('x') WHERE current_setting('autoload_known_extensions')",
                          "SELECT error('x') WHERE current_setting('autoinstall_known_extensions')",
                          "SELECT error('x') WHERE current_setting('TimeZone') <> 'UTC'",
                          "SELECT error('x') WHERE current_setting('threads') <> 1"}) {
    EXPECT_TRUE(database.run(sql)) << sql;
  }
}

}  // namespace
}  // namespace tandem
