// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/parquet.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "support/parquet.h"
#include "tandem/source/open.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::error_of;
using test::read_file;
using test::TempDir;
using test::write_parquet;

constexpr double kAny = std::numeric_limits<double>::infinity();
const char* const kDamaged =
    "can't be read as Parquet; it is damaged, cut short, or something else.";

Schema schema() {
  return Schema::from_document(Document::parse_toml(R"(
[csv]
records = "quoted"
[[column]]
name = "whole"
kind = "integer"
min = 0
max = 94
bins = 20
null = true
[[column]]
name = "amount"
kind = "real"
min = 0.0
max = 1000.0
bins = 30
decimals = 2
null = true
[[column]]
name = "price"
kind = "real"
min = -5.0
max = 100.0
bins = 10
decimals = 2
null = true
[[column]]
name = "day"
kind = "date"
pattern = "%d.%m.%Y"
min = "01.01.2000"
max = "31.12.2020"
bins = "year"
null = true
[[column]]
name = "moment"
kind = "date"
pattern = "%Y-%m-%d %H:%M"
min = "2000-01-01 00:00"
max = "2000-12-31 23:59"
bins = "month"
[[column]]
name = "yes"
kind = "boolean"
values = ["no", "yes"]
null = true
[[column]]
name = "word"
values = ["plain", "it's \"q\"", "a,b", "two\nlines", "Łódź ☃"]
null = true
)",
                                                    "schema.toml"));
}

// Rows of every type that a schema can describe, with nulls.
std::string rows_in_sql(int first, int last) {
  return "SELECT if(i % 7 = 0, NULL, i % 95) AS whole, if(i % 5 = 0, NULL, (i * 37 % 4000) / 4.0) "
         "AS amount, CAST((i * 13 % 9000) / 100.0 - 4 AS DECIMAL(9, 2)) AS price, DATE "
         "'2000-01-01' + CAST(i * 11 % 7000 AS INTEGER) AS day, TIMESTAMP '2000-01-01 00:00:30' + "
         "INTERVAL 1 MINUTE * (i * 977 % 500000) AS moment, if(i % 11 = 0, NULL, i % 3 = 0) AS "
         "yes, ['plain', 'it''s \"q\"', 'a,b', 'two' || chr(10) || 'lines', 'Łódź ☃', NULL][i % 6 "
         "+ 1] AS word, i % 400 AS who, [i] AS list FROM range(" +
         std::to_string(first) + ", " + std::to_string(last) + ") t(i)";
}

// The same as a CSV file has them.
std::string csv_in_sql(int first, int last) {
  return "SELECT whole, amount, price, strftime(day, '%d.%m.%Y') AS day, strftime(moment, "
         "'%Y-%m-%d %H:%M') AS moment, CASE yes WHEN true THEN 'yes' WHEN false THEN 'no' END AS "
         "yes, word, who FROM (" +
         rows_in_sql(first, last) + ")";
}

void write_csv_file(const std::string& path, const std::string& query) {
  DuckDb database(1);
  ASSERT_TRUE(database.run("COPY (" + query + ") TO '" + path + "' (FORMAT csv, HEADER)"));
}

Table read_private_csv(const std::string& path) {
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  return read_csv(path, schema(), options).table;
}

std::vector<std::string> columns_of_schema() {
  std::vector<std::string> out;
  const Schema s = schema();
  for (const auto& attribute : s.domain().attributes()) out.push_back(attribute.name);
  return out;
}

void expect_same(const Table& found, const Table& wanted) {
  ASSERT_EQ(found.rows(), wanted.rows());
  for (AttributeId id = 0; id < wanted.domain().size(); ++id) {
    EXPECT_EQ(found.column(id), wanted.column(id)) << wanted.domain()[id].name;
  }
}

Table held(const std::string& source) {
  const Schema s = schema();
  const RowReading reading{.schema = s, .person = {}};
  auto rows = hold_rows(ParquetTable(source).rows_of(columns_of_schema()), reading, kAny);
  EXPECT_TRUE(rows);
  return std::move(*rows);
}

// ---- Without a library ----

TEST(Parquet, WhatIsNotParquetIsSaidBeforeTheLibraryIsAsked) {
  const test::Variable broken("TANDEM_DUCKDB", "/no/such/libduckdb.so");
  const TempDir dir;
  for (const auto& path :
       {dir.write("csv.parquet", "whole,amount\n1,2\n3,4\n"), dir.write("empty.parquet", ""),
        dir.write("cut.parquet", "PAR1 and then nothing more"),
        dir.write("PAR1.parquet", "PAR1")}) {
    EXPECT_EQ(error_of<SourceError>([&] { ParquetTable{path}; }), path + " " + kDamaged);
  }
  const auto missing = dir / "missing.parquet";
  EXPECT_EQ(error_of<UsageError>([&] { ParquetTable{missing}; }),
            missing + " can't be opened (No such file or directory); check the path.");
}

TEST(Parquet, WithoutALibraryOneSentenceSaysHowToAddIt) {
  const test::Variable broken("TANDEM_DUCKDB", "/no/such/libduckdb.so");
  const TempDir dir;
  const auto path = dir.write("marked.parquet", "PAR1 a file that looks like it PAR1");
  const auto message = error_of<UsageError>([&] { load_table(path, schema(), {}); });
  EXPECT_TRUE(contains(message, "TANDEM_DUCKDB")) << message;
}

// ---- With it ----

TEST(Parquet, GivesTheCodesOfTheSameCsv) {
  TANDEM_NEEDS_DUCKDB();
  const TempDir dir;
  write_parquet(dir / "rows.parquet", rows_in_sql(0, 5000));
  write_csv_file(dir / "rows.csv", csv_in_sql(0, 5000));
  const Table wanted = read_private_csv(dir / "rows.csv");
  EXPECT_EQ(wanted.rows(), 5000U);
  expect_same(held(dir / "rows.parquet"), wanted);
  // As text, too: how check, evaluate and compare read it, and how public data are read.
  for (const auto policy : {RowPolicy::Repair, RowPolicy::MustFit}) {
    CsvOptions options;
    options.policy = policy;
    const auto read = read_table(dir / "rows.parquet", schema(), options);
    expect_same(read.table, wanted);
    EXPECT_EQ(read.ignored_columns, (std::vector<std::string>{"who", "list"}));
  }
}

TEST(Parquet, FilesOfAFolderAreOneTableInTheOrderOfTheirNames) {
  TANDEM_NEEDS_DUCKDB();
  const TempDir dir;
  fs::create_directories(dir / "rows/year=1");
  fs::create_directories(dir / "rows/year=2");
  // Names that SQL and patterns would take for something else, another order of columns, other
  // types, and a file without rows.
  write_parquet(dir / "rows/year=1/it's; DROP.parquet", rows_in_sql(0, 1000));
  write_parquet(dir / "rows/year=2/a[1]*.parquet",
                "SELECT list, who, word, yes, moment, day, CAST(price AS DOUBLE) AS price, amount, "
                "CAST(whole AS DOUBLE) AS whole FROM (" +
                    rows_in_sql(1000, 1500) + ")");
  write_parquet(dir / "rows/year=2/b.parquet", rows_in_sql(0, 0));
  write_parquet(dir / "rows/year=2/Łódź.parquet", rows_in_sql(1500, 2000));
  write_csv_file(dir / "rows.csv", csv_in_sql(0, 2000));
  const Table wanted = read_private_csv(dir / "rows.csv");
  for (const char* source : {"rows", "rows/*/*.parquet", "rows/**/*"}) {
    EXPECT_EQ(ParquetTable(dir / source).rows(), 2000U);
    expect_same(held(dir / source), wanted);
    expect_same(read_table(dir / source, schema(), {}).table, wanted);
  }
}

TEST(Parquet, PassesSeeTheSameRowsEveryTime) {
  TANDEM_NEEDS_DUCKDB();
  const TempDir dir;
  for (const int part : {0, 1, 2}) {
    write_parquet(dir / "part-" + std::to_string(part) + ".parquet",
                  rows_in_sql(part * 2000, part * 2000 + 2000));
  }
  const Schema s = schema();
  const ParquetTable table(dir / "part-*.parquet", {.count = 2});
  const Table rows = held(dir / "part-*.parquet");
  const std::vector<Clique> cliques = {Clique({0, 1}), Clique({5, 6})};
  for (const std::string person : {"", "who"}) {
    const RowReading reading{.schema = s, .person = person, .rows_per_person = 2};
    auto columns = columns_of_schema();
    if (!person.empty()) columns.push_back(person);
    const auto passes = passes_source(table.rows_of(columns), reading, 1e5);
    const auto first = passes->count(cliques);
    const auto again = passes->count(cliques);
    for (std::size_t i = 0; i < cliques.size(); ++i) {
      EXPECT_EQ(first[i].values, again[i].values);
      double all = 0.0;
      for (const double count : first[i].values) all += count;
      EXPECT_EQ(all, person.empty() ? 6000.0 : 800.0);
    }
    const auto kept = hold_rows(table.rows_of(columns), reading, kAny);
    EXPECT_EQ(kept->rows(), person.empty() ? 6000U : 800U);
  }
}

TEST(Parquet, ColumnsAreToldApartByTheirVeryNames) {
  TANDEM_NEEDS_DUCKDB();
  const TempDir dir;
  write_parquet(dir / "a.parquet",
                "SELECT 1 AS \"c1\", 2 AS \"a\"\"b'; --\", 0 AS \"c0\", 2 AS \"C0_1\"");
  const Schema s({{"a\"b'; --", "", coded_codec(3)},
                  {"c0", "", coded_codec(3)},
                  {"c1", "", coded_codec(3)},
                  {"C0_1", "", coded_codec(3)}});
  const RowReading reading{.schema = s, .person = {}};
  const auto rows = hold_rows(
      ParquetTable(dir / "a.parquet").rows_of({"a\"b'; --", "c0", "c1", "C0_1"}), reading, kAny);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->column(0)[0], 2U);
  EXPECT_EQ(rows->column(1)[0], 0U);
  EXPECT_EQ(rows->column(2)[0], 1U);
  EXPECT_EQ(rows->column(3)[0], 2U);
}

TEST(Parquet, WhatDoesNotFitIsSaidOfTheColumn) {
  TANDEM_NEEDS_DUCKDB();
  const TempDir dir;
  const auto path = dir / "a.parquet";
  write_parquet(path, "SELECT 1 AS a, [1] AS l, {'x': 1} AS s, MAP {1: 2} AS m, 'x'::BLOB AS b");
  const ParquetTable table(path);
  EXPECT_EQ(table.names(), (std::vector<std::string>{"a", "l", "s", "m", "b"}));
  EXPECT_EQ(table.rows(), 1U);
  const auto refusal = [&](const std::string& column) {
    return error_of<SchemaError>([&] { table.rows_of({"a", column}); });
  };
  EXPECT_EQ(refusal("l"),
            "The column 'l' of " + path + " holds lists; give one plain value in each cell.");
  EXPECT_EQ(refusal("s"),
            "The column 's' of " + path + " holds structs; give one plain value in each cell.");
  EXPECT_EQ(refusal("m"),
            "The column 'm' of " + path + " holds maps; give one plain value in each cell.");
  EXPECT_EQ(refusal("b"),
            "The column 'b' of " + path + " holds bytes; write them as text or other numbers.");
  EXPECT_EQ(refusal("A"), path +
                              " has no column 'A', which the schema names; add it, or take it out "
                              "of the schema.");
}

TEST(Parquet, FilesOfOtherColumnsAreNotOneTable) {
  TANDEM_NEEDS_DUCKDB();
  const TempDir dir;
  write_parquet(dir / "a.parquet", "SELECT 1 AS a, 2 AS b");
  write_parquet(dir / "b.parquet", "SELECT 1 AS a, 2 AS c");
  EXPECT_EQ(error_of<SchemaError>([&] { ParquetTable(dir / "*.parquet"); }),
            dir / "b.parquet" + " has other columns than " + (dir / "a.parquet") +
                "; give files of one table.");
}

TEST(Parquet, ADamagedFileIsSaidWithoutItsContent) {
  TANDEM_NEEDS_DUCKDB();
  const TempDir dir;
  const auto path = dir / "rows.parquet";
  write_parquet(path, "SELECT 'XYZZYSECRET' || random() AS a FROM range(20000)");
  const std::string whole = read_file(path);
  const Schema s({{"a", "", coded_codec(3)}});
  const RowReading reading{.schema = s, .person = {}};
  for (const double at : {0.3, 0.6}) {
    std::string damaged = whole;
    const auto first = static_cast<std::size_t>(at * static_cast<double>(whole.size()));
    for (std::size_t i = first; i < first + 2000; ++i) damaged[i] = static_cast<char>(~damaged[i]);
    dir.write("damaged.parquet", damaged);
    try {
      hold_rows(ParquetTable(dir / "damaged.parquet").rows_of({"a"}), reading, kAny);
    } catch (const SourceError& error) {
      EXPECT_TRUE(contains(error.what(), "damaged.parquet can't be read ")) << error.what();
      EXPECT_FALSE(contains(error.what(), "XYZZY"));
    }
  }
  for (const double part : {0.2, 0.9}) {
    const auto cut = dir.write(
        "cut.parquet",
        whole.substr(0, static_cast<std::size_t>(part * static_cast<double>(whole.size()))));
    EXPECT_EQ(error_of<SourceError>([&] { ParquetTable{cut}; }), cut + " " + kDamaged);
  }
}

TEST(Parquet, ATextThatIsNoneEndsTheReadingWithoutBeingQuoted) {
  TANDEM_NEEDS_DUCKDB();
  const TempDir dir;
  {
    DuckDb database(1);
    ASSERT_TRUE(database.run("COPY (SELECT 'XYZZYSECRET' AS a) TO '" + (dir / "a.parquet") +
                             "' (FORMAT parquet, COMPRESSION uncompressed)"));
  }
  std::string bytes = read_file(dir / "a.parquet");
  for (auto at = bytes.find("XYZZY"); at != std::string::npos; at = bytes.find("XYZZY")) {
    bytes[at] = '\xff';
  }
  dir.write("a.parquet", bytes);
  const Schema s({{"a", "", coded_codec(3)}});
  const RowReading reading{.schema = s, .person = {}};
  const auto message = error_of<SourceError>(
      [&] { hold_rows(ParquetTable(dir / "a.parquet").rows_of({"a"}), reading, kAny); });
  EXPECT_TRUE(contains(message, "a.parquet can't be read ")) << message;
  EXPECT_FALSE(contains(message, "SECRET"));
}

TEST(Parquet, FloatsThatAreAllWholeAreKnown) {
  TANDEM_NEEDS_DUCKDB();
  const TempDir dir;
  write_parquet(dir / "a.parquet",
                "SELECT * FROM (VALUES (1.0::DOUBLE, 0.5::FLOAT, NULL::DOUBLE, 3, 'nan'::DOUBLE, "
                "'inf'::DOUBLE), (NULL, 1, NULL, 4, 24, 1)) t(a, b, c, d, e, f)");
  EXPECT_EQ(ParquetTable(dir / "a.parquet").whole_floats(),
            (std::vector<bool>{true, false, false, false, true, false}));
  const auto open = parquet_text(dir / "a.parquet", nullptr, "", {});
  std::string text(1000, '\0');
  text.resize(open()->read(text));
  EXPECT_EQ(text, "a,b,c,d,e,f\n1,0.5,,3,,inf\n,1.0,,4,24,1.0\n");
}

TEST(Parquet, ARowOfOneEmptyTextIsStillARow) {
  TANDEM_NEEDS_DUCKDB();
  const TempDir dir;
  write_parquet(dir / "a.parquet", "SELECT * FROM (VALUES (''), ('x'), (NULL)) t(a)");
  const Schema s({{"a", "", labelled_codec({"x", ""}, 0, false)}});
  EXPECT_EQ(read_table(dir / "a.parquet", s, {}).table.rows(), 3U);
}

TEST(Parquet, WallTimesOfZonesAreThoseOfUtc) {
  TANDEM_NEEDS_DUCKDB();
  const test::Variable zone("TZ", "Asia/Tokyo");
  const TempDir dir;
  write_parquet(dir / "a.parquet", "SELECT TIMESTAMPTZ '2020-01-01 23:30:00+00' AS a");
  const auto open = parquet_text(dir / "a.parquet", nullptr, "", {});
  std::string text(100, '\0');
  text.resize(open()->read(text));
  EXPECT_EQ(text, "a\n2020-01-01 23:30:00\n");
}

}  // namespace
}  // namespace tandem
