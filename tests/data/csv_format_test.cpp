// SPDX-License-Identifier: Apache-2.0
// CSV in other encodings, delimiters and decimal marks; counts of adapted values; scanning as text.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "support/tenths_codec.h"
#include "tandem/base/error.h"
#include "tandem/data/csv.h"
#include "tandem/data/encoding.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;
using test::TempDir;

constexpr RowPolicy kPolicies[] = {RowPolicy::MustFit, RowPolicy::Repair};

const std::vector<std::string> kLabels = {"x", "", "Å; €", "a|b\tc", "'\"", "1,5", "n.a."};

Schema schema_in(const TextFormat& format) {
  return Schema({{"Ort", "", labelled_codec(kLabels, 1)}, {"m²", "", test::tenths_codec()}},
                format);
}

Table rows(const Schema& schema, std::size_t count) {
  Table table(schema.domain(), count);
  for (std::size_t r = 0; r < count; ++r) {
    table.column(0).set(r, static_cast<Code>(r % kLabels.size()));
    table.column(1).set(r, static_cast<Code>(r * 37 % 100));
  }
  return table;
}

std::vector<TextFormat> all_formats() {
  std::vector<TextFormat> formats;
  for (const auto encoding :
       {Encoding::Utf8, Encoding::Latin1, Encoding::Utf16LittleEndian, Encoding::Utf16BigEndian}) {
    for (const char delimiter : {',', ';', '\t', '|'}) {
      for (const char quote : {'"', '\''}) {
        for (const char mark : {'.', ','}) formats.push_back({encoding, delimiter, quote, mark});
      }
    }
  }
  return formats;
}

TEST(CsvFormat, WhatIsWrittenIsReadInEveryFormat) {
  const TempDir dir;
  for (const auto& format : all_formats()) {
    const Schema schema = schema_in(format);
    const Table table = rows(schema, 200);
    Rng rng(1);
    write_csv(dir / "t.csv", schema, table, rng);
    const auto packed = dir.write_gzip("t.csv.gz", test::read_file(dir / "t.csv"));
    for (const auto policy : kPolicies) {
      for (const auto& path : {dir / "t.csv", packed}) {
        CsvOptions options;
        options.policy = policy;
        const auto loaded = read_csv(path, schema, options);  // public: sniffed
        EXPECT_EQ(loaded.table, table) << describe(format);
        EXPECT_EQ(loaded.format, format) << describe(loaded.format);
      }
    }
  }
}

TEST(CsvFormat, IsSniffedInPublicFilesUnderAPlainSchema) {
  const TempDir dir;
  const Schema plain = schema_in({});
  for (const auto& format : all_formats()) {
    if (format.quote != '"') continue;  // which can't be told
    const Schema schema = schema_in(format);
    const Table table = rows(schema, 200);
    Rng rng(1);
    write_csv(dir / "t.csv", schema, table, rng);
    EXPECT_EQ(read_csv(dir / "t.csv", plain).table, table) << describe(format);
    EXPECT_EQ(read_csv(dir / "t.csv", plain).format, format) << describe(format);
  }
}

TEST(CsvFormat, ReadsManyBlocksInOtherEncodings) {
  const TempDir dir;
  for (const auto encoding : {Encoding::Latin1, Encoding::Utf16BigEndian}) {
    const Schema schema = schema_in({encoding, ';', '"', ','});
    const Table table = rows(schema, 400'000);
    Rng rng(1);
    write_csv(dir / "t.csv", schema, table, rng);
    CsvOptions options;
    options.threads = {3};
    EXPECT_TRUE(read_csv(dir / "t.csv", schema, options).table == table);
  }
}

TEST(CsvFormat, WritesTheDecimalMarkInNumbersAlone) {
  const TempDir dir;
  const Schema schema = schema_in({.delimiter = ';', .decimal_mark = ','});
  Rng rng(1);
  write_csv(dir / "t.csv", schema, rows(schema, 7), rng);
  EXPECT_EQ(test::read_file(dir / "t.csv"),
            "Ort;m²\nx;0,0\n;3,7\n\"Å; €\";7,4\na|b\tc;1,1\n\"'\"\"\";4,8\n1,5;8,5\nn.a.;2,2\n");
}

TEST(CsvFormat, APointIsNoDecimalMarkBesideACommaThatIs) {
  const TempDir dir;
  const auto path = dir.write("t.csv", "Ort;m²\nx;1.5\nx;1,5\n");
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  const auto table = read_csv(path, schema_in({.delimiter = ';', .decimal_mark = ','}), options);
  EXPECT_EQ(table.table.column(1)[0], 0U);
  EXPECT_EQ(table.table.column(1)[1], 15U);
}

TEST(CsvFormat, RefusesToWriteWhatAnEncodingLacks) {
  const TempDir dir;
  const Schema schema({{"a", "", labelled_codec({"x", "Łódź"}, 0)}},
                      {.encoding = Encoding::Latin1});
  Rng rng(1);
  EXPECT_EQ(error_of<SchemaError>(
                [&] { write_csv(dir / "t.csv", schema, Table(schema.domain(), 1), rng); }),
            "column 'a': 'Łódź' has a character that Latin-1 lacks; state another encoding.");
  EXPECT_FALSE(std::filesystem::exists(dir / "t.csv"));
}

TEST(CsvFormat, AWrongMarkIsSaid) {
  const TempDir dir;
  const auto path = dir.write("t.csv", "\xef\xbb\xbfOrt,m²\nx,1\n");
  CsvOptions options;
  options.format = TextFormat{.encoding = Encoding::Latin1};
  EXPECT_EQ(error_of<UsageError>([&] { read_csv(path, schema_in({}), options); }),
            path +
                " starts with the mark of UTF-8, and its format is said to be Latin-1; state "
                "its encoding.");
}

TEST(CsvFormat, TheFirstMillionBytesAreSniffed) {
  const TempDir dir;
  const Schema schema({{"a", "", labelled_codec({"x", "\u00e9"}, 0)}});
  for (const std::size_t bytes : {1'000, 70'000, 300'000, 1'000'000}) {
    std::string text = "a\n";
    while (text.size() < bytes) text += "x\n";
    text += "\xe9\n";  // Latin-1
    const auto loaded = read_csv(dir.write("p.csv", text), schema, CsvOptions{});
    EXPECT_EQ(loaded.table.column(0)[loaded.table.rows() - 1], 1U) << bytes;
    // A letter of two bytes across the end of what is sniffed is no Latin-1.
    std::string cut = "a\n";
    while (cut.size() < bytes) cut += "x\n";
    cut += "\u00e9\n";
    const auto whole = read_csv(dir.write("p.csv", cut), schema, CsvOptions{});
    EXPECT_EQ(whole.table.column(0)[whole.table.rows() - 1], 1U) << bytes;
  }
}

TEST(CsvFormat, BytesBehindTheSniffedOnesMustStillBeText) {
  const TempDir dir;
  std::string text = "Ort,m²\n";
  while (text.size() < 1'200'000) text += "x,1\n";
  const auto path = dir.write("t.csv", text + "\xc5,1\n");
  EXPECT_TRUE(contains(error_of<SchemaError>([&] { read_csv(path, schema_in({})); }),
                       "column 'Ort' holds bytes that are no UTF-8; state the file's encoding."));
}

// ---- Private rows -------------------------------------------------------------------------------

// A line of units, none of them a line feed.
std::string any_utf16_line() {
  const auto unit = rc::gen::oneOf(
      rc::gen::element<char16_t>('"', ',', '\r', 0, 'x', '1', 0xd800, 0xdc00, 0x0a00, 0x2028),
      rc::gen::map(rc::gen::inRange(0, 0x10000), [](int u) { return static_cast<char16_t>(u); }));
  std::string line;
  for (const char16_t u : *rc::gen::container<std::vector<char16_t>>(unit)) {
    if (u == '\n') continue;
    line += static_cast<char>(u & 0xff);
    line += static_cast<char>(u >> 8);
  }
  return line;
}

RC_GTEST_PROP(CsvFormat, APrivateRowOfUtf16NeverChangesAnother, ()) {
  const Schema schema = schema_in({.encoding = Encoding::Utf16LittleEndian});
  const auto utf16 = [](std::string_view text) {
    std::string bytes;
    append_encoded(text, Encoding::Utf16LittleEndian, bytes);
    return bytes;
  };
  const std::string odd = any_utf16_line();
  const TempDir dir;
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  const auto read = [&](const std::string& bytes) {
    return read_csv(dir.write("t.csv", bytes), schema, options).table;
  };
  const std::string header = utf16("Ort,m²\n");
  const Table table = read(header + utf16("x,1.5\n") + odd + utf16("\n\"Å; €\",2\n"));
  const Table alone = read(header + odd + utf16("\n"));
  RC_ASSERT(table.rows() == 3U);
  RC_ASSERT(alone.rows() == 1U);
  for (AttributeId id = 0; id < 2; ++id) RC_ASSERT(table.column(id)[1] == alone.column(id)[0]);
  RC_ASSERT(table.column(0)[0] == 0U);
  RC_ASSERT(table.column(1)[0] == 15U);
  RC_ASSERT(table.column(0)[2] == 2U);
  RC_ASSERT(table.column(1)[2] == 20U);
}

// ---- Adapted values -----------------------------------------------------------------------------

TEST(CsvFormat, CountsAdaptedValuesOfPublicDataOnly) {
  const TempDir dir;
  std::string text = "Ort,m²\n";
  for (int i = 0; i < 300'000; ++i) text += i % 3 == 0 ? "x,-4\n" : "x,3.5\n";
  const auto path = dir.write("t.csv", text);
  for (const int threads : {1, 3}) {
    CsvOptions options;
    options.threads = {threads};
    EXPECT_EQ(read_csv(path, schema_in({}), options).adapted,
              (std::vector<std::size_t>{0, 100'000}));
    options.policy = RowPolicy::Repair;
    EXPECT_TRUE(read_csv(path, schema_in({}), options).adapted.empty());
  }
}

// ---- Texts that repeat, and texts that don't ----------------------------------------------------

TEST(CsvFormat, TextsOfAnyLengthAndNumberHaveTheirOwnCodes) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < 3000; ++i) {
    labels.push_back(std::to_string(i) + std::string(i % 20, i % 2 == 0 ? 'a' : '\xc3'));
  }
  const Schema schema({{"a", "", labelled_codec(labels, 0)}, {"b", "", coded_codec(100'000)}});
  std::string text = "a,b\n";
  for (std::size_t r = 0; r < 60'000; ++r) {
    text += labels[r * 7 % labels.size()] + "," + std::to_string(r * 7919 % 100'000) + "\n";
  }
  const TempDir dir;
  CsvOptions options;
  options.format = TextFormat{};
  const auto table = read_csv(dir.write("t.csv", text), schema, options).table;
  for (std::size_t r = 0; r < 60'000; ++r) {
    ASSERT_EQ(table.column(0)[r], r * 7 % labels.size());
    ASSERT_EQ(table.column(1)[r], r * 7919 % 100'000);
  }
}

TEST(CsvFormat, ANulAtTheEndMakesAnotherText) {
  const Schema schema({{"a", "", labelled_codec({"x", "?"}, 1)}, {"b", "", coded_codec(2)}});
  const TempDir dir;
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  const auto path = dir.write("t.csv", std::string("a,b\nx,1\nx\0,1\nx,1\n", 17));
  const auto table = read_csv(path, schema, options).table;
  EXPECT_EQ(table.column(0)[0], 0U);
  EXPECT_EQ(table.column(0)[1], 1U);
  EXPECT_EQ(table.column(0)[2], 0U);
}

TEST(CsvFormat, ReadsTheWidestTable) {
  std::vector<ColumnSchema> columns;
  std::string text;
  std::string row;
  for (std::size_t c = 0; c < kMostCsvColumns; ++c) {
    columns.push_back({"c" + std::to_string(c), "", coded_codec(c % 3 == 0 ? 300 : 9)});
    text += (c > 0 ? ",c" : "c") + std::to_string(c);
    row += (c > 0 ? "," : "") + std::to_string(c % 9);
  }
  text += "\n" + row + "\n" + row + "\n" + row;
  const Schema schema(std::move(columns));
  const TempDir dir;
  const auto table = read_csv(dir.write("t.csv", text), schema).table;
  ASSERT_EQ(table.rows(), 3U);
  for (AttributeId id = 0; id < kMostCsvColumns; id += 1000) EXPECT_EQ(table.column(id)[2], id % 9);
}

// ---- Scanning -----------------------------------------------------------------------------------

struct Scanned {
  std::vector<std::string> names;
  TextFormat format;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> lines;
};

Scanned scan(const std::string& path, const CsvScanOptions& options = {}) {
  Scanned out;
  scan_csv(
      path, options,
      [&](std::span<const std::string> names, const TextFormat& format) {
        out.names.assign(names.begin(), names.end());
        out.format = format;
      },
      [&](std::span<const std::string_view> fields, std::size_t line) {
        out.rows.emplace_back(fields.begin(), fields.end());
        out.lines.push_back(line);
      });
  return out;
}

TEST(CsvScan, GivesRowsAsTextWithTheirLines) {
  const TempDir dir;
  const auto path =
      dir.write("t.csv", "p;q\r\n\r\n1,5;\"a\n\"\"b\"\"\"\r\n;\"\"\n\"\"\"\";\"\"\"x\"\n");
  const auto scanned = scan(path);
  EXPECT_EQ(scanned.names, (std::vector<std::string>{"p", "q"}));
  EXPECT_EQ(scanned.format, (TextFormat{.delimiter = ';', .decimal_mark = ','}));
  EXPECT_EQ(scanned.rows,
            (std::vector<std::vector<std::string>>{{"1,5", "a\n\"b\""}, {"", ""}, {"\"", "\"x"}}));
  EXPECT_EQ(scanned.lines, (std::vector<std::size_t>{3, 5, 6}));
}

TEST(CsvScan, GivesUtf8FromAnyEncoding) {
  const TempDir dir;
  std::string bytes;
  append_encoded("p|q\n1|Åsa\n2|€\n", Encoding::Latin1, bytes);
  EXPECT_EQ(scan(dir.write("t.csv", bytes)).rows,
            (std::vector<std::vector<std::string>>{{"1", "Åsa"}, {"2", "€"}}));
}

TEST(CsvScan, PassesThroughManyBlocks) {
  std::string text = "p,q\n";
  for (int i = 0; i < 500'000; ++i) text += std::to_string(i) + ",abc\n";
  const TempDir dir;
  const auto path = dir.write_gzip("t.csv.gz", text);
  std::size_t rows = 0;
  std::size_t sum = 0;
  std::pair<std::size_t, std::size_t> progress;
  CsvScanOptions options;
  options.progress = [&](std::size_t read, std::size_t in_all) { progress = {read, in_all}; };
  scan_csv(
      path, options, [](auto, const auto&) {},
      [&](std::span<const std::string_view> fields, std::size_t line) {
        EXPECT_EQ(line, rows + 2);
        sum += static_cast<std::size_t>(std::stoul(std::string(fields[0])));
        ++rows;
      });
  EXPECT_EQ(rows, 500'000U);
  EXPECT_EQ(sum, 500'000ULL * 499'999 / 2);
  EXPECT_EQ(progress.first, progress.second);
}

TEST(CsvScan, NamesTheLineOfWhatItCantRead) {
  const TempDir dir;
  const auto refusal = [&](std::string_view text, const CsvScanOptions& options = {}) {
    const auto path = dir.write("t.csv", text);
    const auto message = error_of<UsageError>([&] { scan(path, options); });
    EXPECT_TRUE(message.starts_with(path));
    return message.substr(std::min(path.size(), message.size()));
  };
  const CsvScanOptions utf8{.format = TextFormat{}, .progress = {}};
  EXPECT_EQ(refusal("p,q\n1,2\n3\n"),
            ", line 3: the row has 1 field and the header 2; mend the row.");
  EXPECT_EQ(refusal("p,q\n1,\"2\n3,4\n"), ", line 2: a quoted value never ends; close its quote.");
  EXPECT_EQ(refusal("p,q\n1,2\n\xff,4\n", utf8),
            ", line 3: a byte there is no text in UTF-8; state the file's encoding.");
  EXPECT_EQ(refusal("p,\xff\n1,2\n", utf8),
            ", line 1: a byte there is no text in UTF-8; state the encoding.");
  EXPECT_EQ(refusal(std::string_view("p,q\n1,2\n\n3,\0\n", 13)),
            ", line 4: a byte there is no text in UTF-8; state the file's encoding.");
  EXPECT_EQ(refusal("p,p\n1,2\n"), ", line 1: the column name 'p' stands there twice; rename one.");
  EXPECT_EQ(refusal("p,q\r1,2\r"),
            ", line 1: carriage returns stand inside it; save the file with line feeds.");
}

}  // namespace
}  // namespace tandem
