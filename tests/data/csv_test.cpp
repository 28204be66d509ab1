// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/csv.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "support/person_numbers.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;
using test::TempDir;
using Row = std::vector<Code>;
using Rows = std::vector<Row>;

constexpr RowPolicy kPolicies[] = {RowPolicy::MustFit, RowPolicy::Repair};

// a: two labels and an unknown one; b: 300 codes.
Schema two_columns() {
  return Schema({{"a", "", labelled_codec({"x", "y", "?"}, 2)}, {"b", "", coded_codec(300)}});
}

void write(const std::string& path, const Schema& schema, const Table& table) {
  Rng rng(1);
  write_csv(path, schema, table, rng);
}

Schema one_column() { return Schema({{"a", "", labelled_codec({"x", "", "?"}, 2)}}); }

CsvTable read(const std::string& path, const Schema& schema, RowPolicy policy, int threads = 1) {
  CsvOptions options;
  options.policy = policy;
  options.threads = {threads};
  return read_csv(path, schema, options);
}

Rows rows_of(const Table& table) {
  Rows rows(table.rows());
  for (std::size_t r = 0; r < table.rows(); ++r) {
    for (AttributeId id = 0; id < table.domain().size(); ++id) {
      rows[r].push_back(table.column(id)[r]);
    }
  }
  return rows;
}

// The rows of a text, with either policy.
Rows parse(const std::string& text, const Schema& schema, RowPolicy policy) {
  const TempDir dir;
  return rows_of(read(dir.write("t.csv", text), schema, policy).table);
}

// What a text is refused with; the path of the file is written FILE.
std::string refusal_of_file(const std::string& path, const Schema& schema, RowPolicy policy) {
  std::string message = error_of<UsageError>([&] { read(path, schema, policy, 2); });
  EXPECT_TRUE(contains(message, path));
  EXPECT_EQ(message.find('\n'), std::string::npos);
  if (const auto at = message.find(path); at != std::string::npos) {
    message.replace(at, path.size(), "FILE");
  }
  return message;
}

std::string refusal(const std::string& text, RowPolicy policy = RowPolicy::MustFit,
                    const Schema& schema = two_columns()) {
  const TempDir dir;
  return refusal_of_file(dir.write("t.csv", text), schema, policy);
}

std::string gzipped(const std::string& text) {
  const TempDir dir;
  return test::read_file(dir.write_gzip("t", text));
}

// ---- Well-formed files --------------------------------------------------------------------------

TEST(Csv, ReadsPlainRows) {
  for (const auto policy : kPolicies) {
    EXPECT_EQ(parse("a,b\nx,0\ny,299\n?,7\n", two_columns(), policy),
              (Rows{{0, 0}, {1, 299}, {2, 7}}));
  }
}

TEST(Csv, FindsColumnsByNameInAnyOrder) {
  const TempDir dir;
  const auto path = dir.write("t.csv", "note,b,,a\nhello,5,1,x\n\"a,b\",6,,y\n");
  for (const auto policy : kPolicies) {
    const auto loaded = read(path, two_columns(), policy);
    EXPECT_EQ(rows_of(loaded.table), (Rows{{0, 5}, {1, 6}}));
    EXPECT_EQ(loaded.ignored_columns, (std::vector<std::string>{"note", ""}));
  }
}

TEST(Csv, MayHaveSeveralColumnsWithoutAName) {
  EXPECT_EQ(parse(",a,,b,\n1,x,2,3,4\n", two_columns(), RowPolicy::MustFit), (Rows{{0, 3}}));
}

TEST(Csv, UnderstandsQuotes) {
  const Schema schema({{"a,\"1\"", "", labelled_codec({"x,y", "say \"hi\"", "", "\"", "a\rb"}, 2)},
                       {"b", "", coded_codec(10)}});
  const std::string text =
      "\"a,\"\"1\"\"\",\"b\"\n\"x,y\",\"3\"\n\"say \"\"hi\"\"\",4\n\"\",5\n,6\n\"\"\"\",7\n"
      "\"a\rb\",8\n";
  for (const auto policy : kPolicies) {
    EXPECT_EQ(parse(text, schema, policy), (Rows{{0, 3}, {1, 4}, {2, 5}, {2, 6}, {3, 7}, {4, 8}}));
  }
}

TEST(Csv, AQuoteInsideAPlainFieldIsText) {
  const Schema schema({{"a", "", labelled_codec({"5\" pipe", "x\"\""}, 0)}});
  EXPECT_EQ(parse("a\n5\" pipe\nx\"\"\n", schema, RowPolicy::MustFit), (Rows{{0}, {1}}));
}

TEST(Csv, QuotedValuesOfPublicDataMayHoldLineFeeds) {
  const Schema schema(
      {{"a\nb", "", labelled_codec({"x\ny", "\n", "z"}, 0)}, {"b", "", coded_codec(9)}});
  EXPECT_EQ(parse("\"a\nb\",b\n\"x\ny\",1\n\"\n\",2\nz,3\n", schema, RowPolicy::MustFit),
            (Rows{{0, 1}, {1, 2}, {2, 3}}));
}

TEST(Csv, ReadsCrlfLikeLf) {
  for (const auto policy : kPolicies) {
    EXPECT_EQ(parse("a,b\r\nx,1\r\n\"y\",\"2\"\r\n", two_columns(), policy),
              (Rows{{0, 1}, {1, 2}}));
    EXPECT_EQ(parse("\"b\",\"a\"\r\n1,\"x\"\r\n2,\"y\"\r\n", two_columns(), policy),
              (Rows{{0, 1}, {1, 2}}));
  }
}

TEST(Csv, DropsAByteOrderMark) {
  for (const auto policy : kPolicies) {
    EXPECT_EQ(parse("\xef\xbb\xbf\"a\",b\nx,1\n", two_columns(), policy), (Rows{{0, 1}}));
  }
}

TEST(Csv, NeedsNoLineFeedAtTheEnd) {
  for (const auto policy : kPolicies) {
    EXPECT_EQ(parse("a,b\nx,1\ny,2", two_columns(), policy), (Rows{{0, 1}, {1, 2}}));
    EXPECT_EQ(parse("a,b\nx,1\ny,\"2\"", two_columns(), policy), (Rows{{0, 1}, {1, 2}}));
    EXPECT_EQ(parse("a,b\r\nx,1\r\ny,2\r", two_columns(), policy), (Rows{{0, 1}, {1, 2}}));
  }
}

TEST(Csv, PassesByBlankLinesOfPublicData) {
  EXPECT_EQ(parse("a,b\n\nx,1\n\r\n\ny,2\n\n\n", two_columns(), RowPolicy::MustFit),
            (Rows{{0, 1}, {1, 2}}));
}

TEST(Csv, ABlankLineOfOneColumnIsItsEmptyValue) {
  for (const auto policy : kPolicies) {
    EXPECT_EQ(parse("a\n\nx\n\"\"\n\r\n", one_column(), policy), (Rows{{1}, {0}, {1}, {1}}));
  }
}

TEST(Csv, MayHoldAHeaderAlone) {
  for (const auto policy : kPolicies) {
    for (const char* text : {"a,b", "a,b\n", "a,b\r\n"}) {
      EXPECT_TRUE(parse(text, two_columns(), policy).empty());
    }
  }
}

TEST(Csv, TakesOtherDelimiters) {
  const TempDir dir;
  CsvOptions options;
  options.format = TextFormat{.delimiter = ';'};
  const auto path = dir.write("t.csv", "a;b\n\"x\";1\ny;2\n");
  EXPECT_EQ(rows_of(read_csv(path, two_columns(), options).table), (Rows{{0, 1}, {1, 2}}));
}

TEST(Csv, ReportsProgressInStoredBytes) {
  const TempDir dir;
  const auto path = dir.write_gzip("t.csv.gz", "a,b\nx,1\n");
  CsvOptions options;
  std::pair<std::size_t, std::size_t> last;
  options.progress = [&](std::size_t read, std::size_t in_all) { last = {read, in_all}; };
  read_csv(path, two_columns(), options);
  EXPECT_EQ(last, std::pair(std::filesystem::file_size(path), std::filesystem::file_size(path)));
}

// ---- A key column -------------------------------------------------------------------------------

TEST(Csv, KeysAreTextsWithoutSpaceAroundThem) {
  const TempDir dir;
  const auto path = dir.write("t.csv", "id,a,b\n\"p,1\",x,1\nq,y,2\n,x,3\n\"p,1\",y,4\nq ,x,5\n");
  for (const auto policy : kPolicies) {
    CsvOptions options;
    options.policy = policy;
    options.key_column = "id";
    const auto loaded = read_csv(path, two_columns(), options);
    EXPECT_EQ(test::numbered(loaded.keys), (std::vector<std::uint32_t>{1, 2, 0, 1, 2}));
    EXPECT_TRUE(loaded.ignored_columns.empty());
    EXPECT_EQ(loaded.table.rows(), 5U);
  }
}

TEST(Csv, AKeyMayBeAColumnOfTheSchema) {
  const TempDir dir;
  CsvOptions options;
  options.key_column = "b";
  const auto loaded = read_csv(dir.write("t.csv", "a,b\nx,7\ny,7\nx,07\n"), two_columns(), options);
  EXPECT_EQ(test::numbered(loaded.keys),
            (std::vector<std::uint32_t>{1, 1, 2}));  // by text, not by code
  EXPECT_EQ(rows_of(loaded.table), (Rows{{0, 7}, {1, 7}, {0, 7}}));
}

TEST(Csv, PrivateRowsWithoutTheirKeyHaveTheEmptyOne) {
  const TempDir dir;
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  options.key_column = "id";
  const auto path = dir.write("t.csv", "a,b,id\nx,1,p\nx\n\nx,2,\"p\nx,3,p,q\n");
  EXPECT_EQ(test::numbered(read_csv(path, two_columns(), options).keys),
            (std::vector<std::uint32_t>{1, 0, 0, 1, 1}));
}

TEST(Csv, WithoutAKeyColumnThereAreNoKeys) {
  const TempDir dir;
  EXPECT_TRUE(
      read(dir.write("t.csv", "a,b\nx,1\n"), two_columns(), RowPolicy::MustFit).keys.empty());
}

TEST(Csv, RefusesAKeyColumnThatIsNotThere) {
  const TempDir dir;
  CsvOptions options;
  options.key_column = "person";
  const auto path = dir.write("t.csv", "a,b\nx,1\n");
  EXPECT_EQ(error_of<SchemaError>([&] { read_csv(path, two_columns(), options); }),
            path + " has no column 'person', named as the person column; check its name.");
}

TEST(Csv, KeysAreTheSameAtAnyThreadCount) {
  std::string text = "a,id,b\n";
  for (std::size_t i = 0; i < 300'000; ++i)
    text += "x,person " + std::to_string(i * 7919 % 50'000) + ",1\n";
  const TempDir dir;
  const auto path = dir.write("t.csv", text);
  CsvOptions options;
  options.key_column = "id";
  const auto first = read_csv(path, two_columns(), options);
  EXPECT_EQ(std::set(first.keys.begin(), first.keys.end()).size(), 50'000U);
  for (const int threads : {2, 3, 7}) {
    options.threads = {threads};
    EXPECT_EQ(read_csv(path, two_columns(), options).keys, first.keys);
  }
}

// ---- Gzip ---------------------------------------------------------------------------------------

TEST(Csv, ReadsGzipWhateverItsName) {
  const TempDir dir;
  const auto path = dir.write("t.csv", gzipped("a,b\nx,1\n"));
  EXPECT_EQ(rows_of(read(path, two_columns(), RowPolicy::MustFit).table), (Rows{{0, 1}}));
}

TEST(Csv, ReadsGzipOfSeveralMembersAndPadding) {
  const TempDir dir;
  const auto path = dir.write("t.csv.gz", gzipped("a,b\nx,1\n\"y") + gzipped("") +
                                              gzipped("\",2\n") + std::string(1000, '\0'));
  EXPECT_EQ(rows_of(read(path, two_columns(), RowPolicy::MustFit).table), (Rows{{0, 1}, {1, 2}}));
}

TEST(Csv, RefusesATruncatedGzip) {
  std::string rows = "a,b\n";
  for (int i = 0; i < 3000; ++i)
    rows += (i % 3 == 0 ? "x," : "y,") + std::to_string(i % 300) + "\n";
  const std::string whole = gzipped(rows);
  const TempDir dir;
  for (std::size_t size = 2; size < whole.size(); size += size < 40 ? 1 : whole.size() / 20) {
    const auto path = dir.write("t.csv.gz", whole.substr(0, size));
    for (const auto policy : kPolicies) {
      EXPECT_EQ(refusal_of_file(path, two_columns(), policy),
                "FILE is truncated: its gzip data ends early; copy it again.");
    }
  }
}

TEST(Csv, RefusesADamagedGzip) {
  const std::string whole = gzipped("a,b\nx,1\ny,2\n");
  const TempDir dir;
  const auto damaged = [&](const std::string& bytes) {
    const auto path = dir.write("t.csv.gz", bytes);
    return refusal_of_file(path, two_columns(), RowPolicy::MustFit);
  };
  const std::string message = "FILE is damaged: its gzip data is invalid; copy it again.";
  std::string checksum = whole;
  checksum[whole.size() - 8] = static_cast<char>(checksum[whole.size() - 8] ^ 1);
  EXPECT_EQ(damaged(checksum), message);
  std::string method = whole;
  method[2] = 7;
  EXPECT_EQ(damaged(method), message);
  EXPECT_EQ(damaged(whole + "rubbish"), message);
}

TEST(Csv, RefusesAGzipOfNothing) {
  const TempDir dir;
  EXPECT_TRUE(contains(
      refusal_of_file(dir.write_gzip("t.gz", ""), two_columns(), RowPolicy::MustFit), "is empty"));
}

// ---- Files that are no CSV ----------------------------------------------------------------------

TEST(Csv, RefusesWhatIsNoFile) {
  const TempDir dir;
  EXPECT_EQ(refusal_of_file(dir / "none.csv", two_columns(), RowPolicy::Repair),
            "FILE can't be opened (No such file or directory); check the path.");
  EXPECT_EQ(refusal_of_file(dir.path().string(), two_columns(), RowPolicy::Repair),
            "FILE is a folder; name a file.");
}

TEST(Csv, RefusesEmptyFiles) {
  for (const auto policy : kPolicies) {
    for (const char* text : {"", "\xef\xbb\xbf"}) {
      EXPECT_EQ(refusal(text, policy),
                "FILE is empty; a CSV file starts with a line of column names.");
    }
  }
}

TEST(Csv, RefusesBinaryRubbishAsAHeader) {
  const std::string rubbish[] = {
      "\x7f"
      "ELF\x02\x01",
      std::string("a\0,b\nx,1\n", 9), std::string(100'000, '\0'), "\x1f"};
  for (const auto policy : kPolicies) {
    for (const auto& text : rubbish) {
      EXPECT_TRUE(
          contains(refusal(text, policy), "its first line holds control characters; name a"));
    }
  }
}

TEST(Csv, RefusesMissingAndRepeatedColumns) {
  const auto policy = RowPolicy::MustFit;
  EXPECT_EQ(refusal("a,c\nx,1\n", policy),
            "FILE has no column 'b', which the schema names; its columns are 'a' and 'c'.");
  EXPECT_EQ(refusal("a,b,c,c\n", policy),
            "FILE, line 1: the column name 'c' stands there twice; rename one.");
  EXPECT_EQ(refusal("\n", policy),
            "FILE has no column 'a', which the schema names; its columns are ''.");
  EXPECT_TRUE(contains(refusal("A, b\nx,1\n", policy), "FILE has no column 'a'"));
}

// Without a header, the first line of a private file is a person's row.
TEST(Csv, NeverQuotesTheFirstLineOfAPrivateFile) {
  const auto policy = RowPolicy::Repair;
  EXPECT_EQ(
      refusal("a,secret\nx,1\n", policy),
      "FILE has no column 'b', which the schema names; its first line must name 'a' and 'b'.");
  EXPECT_EQ(refusal("a,b,secret,secret\n", policy),
            "FILE, line 1: one column name stands there twice; rename one.");
  EXPECT_EQ(refusal("a,b,b\n", policy),
            "FILE, line 1: the column name 'b' stands there twice; rename one.");
}

TEST(Csv, RefusesMoreColumnsThanATableMayHave) {
  const auto header = [](std::size_t columns) {
    std::string text = "a,b";
    for (std::size_t i = 2; i < columns; ++i) text += ",c" + std::to_string(i);
    return text;
  };
  for (const auto policy : kPolicies) {
    EXPECT_EQ(
        parse(header(65536) + "\nx,1" + std::string(65534, ',') + "\n", two_columns(), policy),
        (Rows{{0, 1}}));
    EXPECT_EQ(refusal(header(65537), policy),
              "FILE has more than 65,536 columns, the most a table may have.");
  }
}

TEST(Csv, AnOpenQuoteInTheHeaderNeverDrawsInPrivateRows) {
  const std::string text = "a,\"b\nsecret,1\n\",2\n";
  EXPECT_EQ(refusal(text, RowPolicy::Repair),
            "FILE, line 1: a quoted value never ends; close its quote.");
  EXPECT_TRUE(contains(refusal(text), "FILE has no column 'b'"));  // public: quoted as it stands
}

// ---- Rows that don't fit ------------------------------------------------------------------------

TEST(Csv, PublicRowsMustFit) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"a,b\nx,1\nz,1\n",
       "FILE, line 3: column 'a' holds 'z', which is not one of 'x', 'y' and '?'; mend the file or "
       "the schema."},
      {"a,b\nx,300\n",
       "FILE, line 2: column 'b' holds '300', which is not a whole number 0 to 299; mend the file "
       "or the schema."},
      {"a,b\n\n\nx,-1\n",
       "FILE, line 4: column 'b' holds '-1', which is not a whole number 0 to 299; mend the file "
       "or "
       "the schema."},
      {"a,b\nx,1\nx\n", "FILE, line 3: the row has 1 field and the header 2; mend the row."},
      {"a,b\nx,1,2\n", "FILE, line 2: the row has 3 fields and the header 2; mend the row."},
      {"a,b\nx,1\ny,\"2\nx,3\n", "FILE, line 3: a quoted value never ends; close its quote."},
      {"a,b\nx,1\n\"y\"z,2\n",
       "FILE, line 3: text follows the closing quote of a value; double the quotes inside values."},
      {"a,\"b\nx,1\n", "FILE, line 1: a quoted value never ends; close its quote."},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(refusal(text), message) << text;
  EXPECT_EQ(refusal(std::string("a,b\nx,1\nx,\0\n", 12)),
            "FILE, line 3: a NUL character stands there; is this a text file in UTF-8?");
}

TEST(Csv, LineNumbersCountTheLinesInsideQuotes) {
  EXPECT_TRUE(contains(refusal("\"n\n\n\",a,b\n\"1\n2\",x,1\n3,x,bad\n"), "FILE, line 6: "));
}

TEST(Csv, LineNumbersGoOnBehindTheFirstBlocks) {
  std::string text = "a,b,n\n";
  for (int i = 0; i < 50'000; ++i) text += "x,1,\"" + std::string(100, 'n') + "\n\"\n";
  text += "x,bad,\n";
  const std::string line = "FILE, line " + std::to_string(1 + 100'000 + 1) + ": column 'b'";
  EXPECT_TRUE(contains(refusal(text), line));
}

TEST(Csv, TheFirstBadLineIsNamedAtAnyThreadCount) {
  std::string text = "a,b,n\n";
  for (int i = 0; i < 100'000; ++i) {
    text += (i % 30'000 == 20'000 ? "x,bad," : "x,1,") + std::string(80, 'n') + "\n";
  }
  const TempDir dir;
  const auto path = dir.write("t.csv", text);
  for (const int threads : {1, 2, 3, 7}) {
    EXPECT_TRUE(contains(
        error_of<SchemaError>([&] { read(path, two_columns(), RowPolicy::MustFit, threads); }),
        ", line 20002: "));
  }
}

TEST(Csv, PrivateRowsAreRepairedInSilence) {
  EXPECT_EQ(parse("a,b\nz,1\nx,300\nx,-5\nx,\n,\nx\nx,1,2\n\n\"y,7\ny\"y,8\n\"y\"?,9\n\"x\",\"6\n",
                  two_columns(), RowPolicy::Repair),
            (Rows{{2, 1},
                  {0, 299},
                  {0, 0},
                  {0, 0},
                  {2, 0},
                  {0, 0},
                  {0, 1},
                  {2, 0},
                  {2, 0},
                  {2, 8},
                  {2, 9},
                  {0, 6}}));
}

TEST(Csv, APrivateRowEndsWithItsLine) {
  EXPECT_EQ(parse("a,b\nx,\"1\ny,\"2\"\n\"\ny,3\n", two_columns(), RowPolicy::Repair),
            (Rows{{0, 1}, {1, 2}, {2, 0}, {1, 3}}));
}

TEST(Csv, PrivateRowsWithOpenQuotesReadAlikeWithCrlf) {
  const std::string text = "a,b\nx,\"1\ny,\"2\"9\n\"\n\"x\n";
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(parse(crlf, two_columns(), RowPolicy::Repair),
            parse(text, two_columns(), RowPolicy::Repair));
  EXPECT_EQ(parse(crlf, two_columns(), RowPolicy::Repair), (Rows{{0, 1}, {1, 29}, {2, 0}, {0, 0}}));
}

TEST(Csv, EveryPrivateLineIsARow) {
  EXPECT_EQ(parse("a,b\n\nx,1\n\r\n\n", two_columns(), RowPolicy::Repair),
            (Rows{{2, 0}, {0, 1}, {2, 0}, {2, 0}}));
}

TEST(Csv, PrivateRowsMayHoldAnyByte) {
  std::string text = "a,b\nx,1\n";
  for (int byte = 0; byte < 256; ++byte) {
    if (byte != '\n') text += std::string(1, static_cast<char>(byte)) + ",2\n";
  }
  const auto rows = parse(text, two_columns(), RowPolicy::Repair);
  ASSERT_EQ(rows.size(), 256U);
  EXPECT_EQ(rows[0], (Row{0, 1}));
}

// ---- Long rows and blocks -----------------------------------------------------------------------

TEST(Csv, ReadsAFirstRowLongerThanABlock) {
  const std::string note(3'000'000, 'n');
  for (const auto policy : kPolicies) {
    EXPECT_EQ(parse("a,n,b\nx," + note + ",1\ny,,2\n", two_columns(), policy),
              (Rows{{0, 1}, {1, 2}}));
  }
  std::string lines;
  for (int i = 0; i < 1'000'000; ++i) lines += "n\n\n";
  EXPECT_EQ(parse("a,n,b\nx,\"" + lines + "\",1\ny,,2\n", two_columns(), RowPolicy::MustFit),
            (Rows{{0, 1}, {1, 2}}));
}

TEST(Csv, RefusesAHugeSingleLine) {
  for (const auto policy : kPolicies) {
    for (const char* filler : {"a", "a,", "\"a\n"}) {
      std::string text;
      while (text.size() < 17'000'000) text += filler;
      const auto message = refusal(text, policy);
      EXPECT_LT(message.size(), 200U);
      if (std::string(filler) == "a") {
        EXPECT_EQ(message,
                  "FILE, line 1: a row is longer than 16.0 MB; check the file's line ends and "
                  "quotes.");
      }
    }
  }
}

TEST(Csv, RefusesAHugePublicRow) {
  std::string huge;
  huge.resize(17'000'000, 'n');
  EXPECT_EQ(refusal("a,n,b\nx,,1\nx," + huge + ",1\nx,,2\n"),
            "FILE, line 3: a row is longer than 16.0 MB; check the file's line ends and quotes.");
  EXPECT_EQ(refusal("a,n,b\nx,,1\nx,\"" + huge + ",1\nx,,2\n"),
            "FILE, line 3: a row is longer than 16.0 MB; check the file's line ends and quotes.");
}

TEST(Csv, CutsAHugePrivateRowWhereverItStands) {
  // The row is read up to its limit, whether it starts a block or not, and its neighbours as ever.
  const std::string start = "y,";
  for (const std::size_t size :
       {kLongestCsvRecord - 100, kLongestCsvRecord + 200'000, kLongestCsvRecord * 2 + 7}) {
    const std::string huge = start + std::string(size - start.size(), 'n') + ",9\n";
    const bool cut = size > kLongestCsvRecord - 3;
    for (const std::size_t before : {0U, 1000U, 400'000U}) {
      std::string text = "a,n,b\n";
      for (std::size_t i = 0; i < before; ++i) text += "x,,1\n";
      text += huge + "x,,3\n";
      const auto rows = parse(text, two_columns(), RowPolicy::Repair);
      ASSERT_EQ(rows.size(), before + 2);
      EXPECT_EQ(rows[before], (Row{1, cut ? Code{0} : Code{9}})) << size << " " << before;
      EXPECT_EQ(rows[before + 1], (Row{0, 3}));
    }
    EXPECT_EQ(parse("a,n,b\n" + huge.substr(0, huge.size() - 1), two_columns(), RowPolicy::Repair),
              (Rows{{1, cut ? Code{0} : Code{9}}}));
  }
}

// A file of several blocks in which line feeds stand inside quotes everywhere.
TEST(Csv, ReadsBlocksAlikeAtAnyThreadCount) {
  const Schema schema({{"a", "", labelled_codec({"x", "y\n", "\"\n,\"", "\r\n"}, 0)},
                       {"b", "", coded_codec(70000)}});
  for (const int shift : {0, 1}) {
    std::string text = "b,note,a\n";
    Rows expected;
    for (std::size_t i = 0; text.size() < 3'500'000; ++i) {
      const auto code = static_cast<Code>((i * 7919) % 70000);
      const char* const labels[] = {"x", "\"y\n\"", "\"\"\"\n,\"\"\"", "\"\r\n\""};
      const std::string note = i % 5 == 0 ? "\"\n\"\"\n" + std::string(i % 200, '\n') + "\""
                                          : std::string(static_cast<std::size_t>(shift), 'n');
      text += std::to_string(code) + "," + note + "," + labels[i % 4] + "\n";
      expected.push_back({static_cast<Code>(i % 4), code});
    }
    const TempDir dir;
    const auto plain = dir.write("t.csv", text);
    const auto first = read(plain, schema, RowPolicy::MustFit).table;
    ASSERT_EQ(first, Table::from_rows(schema.domain(), expected));
    for (const int threads : {2, 3, 7}) {
      EXPECT_EQ(read(plain, schema, RowPolicy::MustFit, threads).table, first);
    }
    const auto repaired = read(plain, schema, RowPolicy::Repair).table;
    EXPECT_EQ(repaired.rows(), std::ranges::count(text, '\n') - 1);
    EXPECT_EQ(read(plain, schema, RowPolicy::Repair, 3).table, repaired);
    if (shift == 0) {
      const auto packed = dir.write_gzip("t.csv.gz", text);
      EXPECT_EQ(read(packed, schema, RowPolicy::MustFit, 3).table, first);
    }
  }
}

// ---- Properties ---------------------------------------------------------------------------------

// Bytes that parsers trip over, and all the others; never a line feed.
std::string any_line() {
  const auto byte = rc::gen::oneOf(
      rc::gen::element<char>('"', ',', '\r', '\0', ' ', 'x', 'y', '0', '1', '.', '-'),
      rc::gen::map(rc::gen::inRange(0, 256), [](int b) { return static_cast<char>(b); }));
  std::string line = *rc::gen::container<std::string>(byte);
  std::erase(line, '\n');
  return line;
}

RC_GTEST_PROP(Csv, APrivateRowNeverChangesAnother, ()) {
  const Schema schema({{"a", "", labelled_codec({"x", "\"", ",", ""}, 0)},
                       {"b", "", coded_codec(300)},
                       {"c", "", coded_codec(70000)}});
  const bool ignored = *rc::gen::arbitrary<bool>();
  const std::string header = ignored ? "c,other,a,b\n" : "c,a,b\n";
  const std::vector<std::string> good = {"0,x,1\n", "1,\"\"\"\",2\n", "69999,\",\",299\n",
                                         "7,,0\n"};
  const auto at = *rc::gen::inRange<std::size_t>(0, good.size() + 1);
  const std::string odd = any_line();

  std::string without = header;
  std::string with = header;
  for (std::size_t i = 0; i <= good.size(); ++i) {
    if (i == at) with += odd + "\n";
    if (i < good.size()) {
      with += good[i];
      without += good[i];
    }
  }
  const auto expected = parse(without, schema, RowPolicy::Repair);
  auto rows = parse(with, schema, RowPolicy::Repair);
  RC_ASSERT(rows.size() == good.size() + 1);
  const Row alone = parse(header + odd + "\n", schema, RowPolicy::Repair).at(0);
  RC_ASSERT(rows[at] == alone);  // a function of its own text
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(at));
  RC_ASSERT(rows == expected);
}

RC_GTEST_PROP(Csv, APublicRowIsReadOrNamed, ()) {
  const std::string odd = any_line();
  try {
    const auto rows = parse("a,b\nx,1\n" + odd + "\ny,2\n", two_columns(), RowPolicy::MustFit);
    RC_ASSERT(rows.size() == 2U || rows.size() == 3U);
  } catch (const SchemaError& error) {
    // An open quote that a later row closes would need a quote there; line 3 is always to blame.
    RC_ASSERT(std::string(error.what()).find(", line 3: ") != std::string::npos);
  }
}

RC_GTEST_PROP(Csv, WhatFitsIsReadAlikeByBothPolicies, ()) {
  const auto field = rc::gen::element<std::string>("x", "\"y\"", "?", "\"x\"");
  std::string text = "a,b\n";
  const auto rows = *rc::gen::inRange(0, 20);
  const bool crlf = *rc::gen::arbitrary<bool>();
  for (int r = 0; r < rows; ++r) {
    text += *field + "," + std::to_string(*rc::gen::inRange(0, 300)) + (crlf ? "\r\n" : "\n");
  }
  RC_ASSERT(parse(text, two_columns(), RowPolicy::MustFit) ==
            parse(text, two_columns(), RowPolicy::Repair));
}

// Distinct labels of anything but NUL.
std::vector<std::string> any_labels(std::size_t most) {
  const auto byte = rc::gen::oneOf(
      rc::gen::element<char>('"', ',', '\r', '\n', ' ', '\t', ';', '\xef'),
      rc::gen::map(rc::gen::inRange(1, 256), [](int b) { return static_cast<char>(b); }));
  const auto label =
      rc::gen::oneOf(rc::gen::container<std::string>(byte),
                     rc::gen::element<std::string>("", "\"", "\r", "\n", "\xef\xbb\xbf"));
  std::set<std::string> labels;
  const auto count = *rc::gen::inRange<std::size_t>(1, most + 1);
  while (labels.size() < count) {
    labels.insert(labels.size() < 20 ? *label : std::to_string(labels.size()));
  }
  return {labels.begin(), labels.end()};
}

RC_GTEST_PROP(Csv, ReadsWhatItWrites, ()) {
  std::vector<ColumnSchema> columns;
  std::set<std::string> names;
  for (int c = *rc::gen::inRange(1, 4); c > 0; --c) {
    std::string name = *rc::gen::element<std::string>("a", "b,", "\"c\"", " d ",
                                                      "\xef\xbb\xbf"
                                                      "e",
                                                      "f\ng", "\"");
    if (!names.insert(name).second) continue;
    const bool coded = *rc::gen::arbitrary<bool>();
    columns.push_back({name, "",
                       coded ? coded_codec(*rc::gen::element<Code>(1, 257, 70000))
                             : labelled_codec(any_labels(30), 0)});
  }
  const Schema schema(std::move(columns));
  Table table(schema.domain(), *rc::gen::inRange<std::size_t>(0, 30));
  for (AttributeId id = 0; id < schema.domain().size(); ++id) {
    for (std::size_t r = 0; r < table.rows(); ++r) {
      table.column(id).set(r, *rc::gen::inRange<Code>(0, schema.domain()[id].size));
    }
  }
  const TempDir dir;
  write(dir / "t.csv", schema, table);
  CsvOptions options;
  options.format = schema.format();  // labels of any bytes look like any encoding
  RC_ASSERT(read_csv(dir / "t.csv", schema, options).table == table);
}

TEST(Csv, WritesLargeTables) {
  const Schema schema = two_columns();
  Table table(schema.domain(), 700'000);
  for (std::size_t r = 0; r < table.rows(); ++r) {
    table.column(0).set(r, static_cast<Code>(r % 3));
    table.column(1).set(r, static_cast<Code>(r % 299));
  }
  const TempDir dir;
  write(dir / "t.csv", schema, table);
  EXPECT_EQ(read(dir / "t.csv", schema, RowPolicy::MustFit, 2).table, table);
}

TEST(Csv, SaysWhereItCannotWrite) {
  const Table table(two_columns().domain(), 1);
  const TempDir dir;
  EXPECT_TRUE(
      contains(error_of<SourceError>([&] { write(dir / "no/t.csv", two_columns(), table); }),
               (dir / "no/t.csv") + " can't be written (No such file or directory)."));
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_TRUE(contains(error_of<SourceError>([&] { write("/dev/full", two_columns(), table); }),
                         "/dev/full can't be written"));
  }
}

}  // namespace
}  // namespace tandem
