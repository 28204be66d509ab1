// SPDX-License-Identifier: Apache-2.0
// What a record of a private file is: a line, or one that quotes may spread over several lines.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "support/person_numbers.h"
#include "support/reference_csv.h"
#include "tandem/base/error.h"
#include "tandem/base/rng.h"
#include "tandem/base/text.h"
#include "tandem/data/csv.h"
#include "tandem/data/encoding.h"

namespace tandem {
namespace {

using test::any_odd_text;
using test::any_record;
using test::any_text_header;
using test::any_text_schema;
using test::CodeRows;
using test::codes_of;
using test::contains;
using test::error_of;
using test::reference_rows;
using test::TempDir;
using test::TextRow;

constexpr std::size_t kColumns = 3;
constexpr TextFormat kLines{};
constexpr TextFormat kQuoted{.records = Records::Quoted};

struct How {
  int threads = 1;
  std::size_t block_bytes = kCsvBlockBytes;
};

std::string encoded(const std::string& text, const TextFormat& format) {
  std::string out;
  EXPECT_FALSE(append_encoded(text, format.encoding, out)) << "the text is UTF-8";
  return out;
}

// What becomes of rows below a good header, as private data.
CsvTable read(const std::string& rows, const TextFormat& format, const How& how = {},
              std::vector<std::size_t>* broken = nullptr) {
  static const TempDir dir(test::in_memory());
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  options.threads = {how.threads};
  options.block_bytes = how.block_bytes;
  if (broken != nullptr) {
    options.on_broken_quote = [&](std::size_t line) { broken->push_back(line); };
  }
  const auto path = dir.write("t.csv", encoded(any_text_header(kColumns, format), format) + rows);
  return read_csv(path, any_text_schema(kColumns, format), options);
}

CodeRows rows_of(const std::string& rows, const TextFormat& format, const How& how = {}) {
  return codes_of(read(rows, format, how).table);
}

CodeRows expected(const std::vector<TextRow>& rows) { return codes_of(rows, kColumns); }

CodeRows by_reference(const std::string& rows, const TextFormat& format) {
  return expected(reference_rows(rows, format).rows);
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

// ---- Well-formed records ------------------------------------------------------------------------

TEST(CsvRecords, AQuotedValueMayHoldLineFeeds) {
  const std::string text = "1,\"call\nme\r\nback\",x\n2,\"say \"\"hi\"\"\n\",\"\n\"\r\n\n3,,\"\"\n";
  EXPECT_EQ(
      rows_of(text, kQuoted),
      expected({{"1", "call\nme\r\nback", "x"}, {"2", "say \"hi\"\n", "\n"}, {""}, {"3", "", ""}}));
  EXPECT_EQ(rows_of(text, kLines), expected({{"1", "call"},
                                             {"me"},
                                             {"back\"", "x"},
                                             {"2", "say \"hi\""},
                                             {","},
                                             {""},
                                             {""},
                                             {"3", "", ""}}));
}

TEST(CsvRecords, AreLinesUnlessStated) {
  EXPECT_EQ(Schema().format().records, Records::Lines);
  EXPECT_EQ(rows_of("1,\"a\nb\",2\n", TextFormat{}).size(), 2U);
}

TEST(CsvRecords, AQuoteInsideAPlainValueIsText) {
  for (const auto& format : {kLines, kQuoted}) {
    EXPECT_EQ(rows_of("5\" pipe,a\"\"b,\" c\n", format), expected({{"5\" pipe", "a\"\"b", " c"}}));
    EXPECT_EQ(rows_of("x\",y\",z\"\nw\n", format), expected({{"x\"", "y\"", "z\""}, {"w"}}));
  }
}

TEST(CsvRecords, TheLastNeedsNoLineFeed) {
  EXPECT_EQ(rows_of("1,\"a\nb\",2\n3,\"c\nd\"", kQuoted),
            expected({{"1", "a\nb", "2"}, {"3", "c\nd"}}));
  EXPECT_EQ(rows_of("1,\"a\nb\"\r", kQuoted), expected({{"1", "a\nb"}}));
}

TEST(CsvRecords, AKeyMayStandOnSeveralLines) {
  const TempDir dir;
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  options.key_column = "who";
  const auto path = dir.write(
      "t.csv", "c0,note,who\n1,\"a\nb\",p\n2,\"p\n\",q\n3,,\"p\n\"\n4,,\"p\nq\"\n5,\"x\n,\",p\n");
  EXPECT_EQ(test::numbered(read_csv(path, any_text_schema(1, kQuoted), options).keys),
            (std::vector<std::uint32_t>{1, 2, 1, 3, 1}));
}

TEST(CsvRecords, AHeaderMayStandOnSeveralLines) {
  const TempDir dir;
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  const auto path = dir.write("t.csv", "\"free\ntext\",c0\n\"a\nb\",1\n,2\n");
  const auto loaded = read_csv(path, any_text_schema(1, kQuoted), options);
  EXPECT_EQ(codes_of(loaded.table), codes_of({{"1"}, {"2"}}, 1));
  EXPECT_EQ(loaded.ignored_columns, std::vector<std::string>{"free\ntext"});
  EXPECT_TRUE(
      contains(error_of<UsageError>([&] { read_csv(path, any_text_schema(1, kLines), options); }),
               "line 1: a quoted value never ends; close its quote."));
}

// A header that is no record by itself is refused; it never becomes rows, nor rows it.
TEST(CsvRecords, AHeaderWithABrokenQuoteIsRefused) {
  const TempDir dir;
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  for (const std::string& rows : {std::string("1\n"), repeated("1\n", 2000) + "\"\n",
                                  std::string("\"secret\"\n"), std::string(70'000, 'x') + "\"\n"}) {
    const auto path = dir.write("t.csv", "c0,\"open\n" + rows);
    EXPECT_EQ(error_of<UsageError>([&] { read_csv(path, any_text_schema(1, kQuoted), options); }),
              path + ", line 1: a quoted value never ends; close its quote.");
  }
}

TEST(CsvRecords, AWellFormedRecordIsReadByItself) {
  Rng rng(11);
  for (int trial = 0; trial < 300; ++trial) {
    const TextFormat format{.delimiter = trial % 2 == 0 ? ',' : ';',
                            .quote = trial % 5 == 0 ? '\'' : '"',
                            .records = Records::Quoted};
    std::string text;
    CodeRows one_by_one;
    for (auto records = rng.below(30); records > 0; --records) {
      const std::string record = any_record(rng, format);
      const auto alone = rows_of(record, format);
      ASSERT_EQ(alone.size(), 1U) << in_quotes(record);
      one_by_one.push_back(alone[0]);
      text += record;
    }
    ASSERT_EQ(rows_of(text, format, {1 + trial % 3, 1 + rng.below(5000)}), one_by_one) << trial;
  }
}

// ---- Any bytes, any block size, any number of threads -------------------------------------------

void expect_as_reference(const std::string& text, const TextFormat& format, const How& how) {
  std::vector<std::size_t> broken;
  const std::string bytes = encoded(text, format);
  ASSERT_EQ(codes_of(read(bytes, format, how, &broken).table), by_reference(text, format))
      << in_quotes(text) << " " << records_key(format.records) << ", blocks of " << how.block_bytes;
}

TEST(CsvRecords, AnyTextIsReadAsTheSlowParserReadsIt) {
  Rng rng(5);
  for (int trial = 0; trial < 4000; ++trial) {
    TextFormat format;
    format.records = trial % 2 == 0 ? Records::Quoted : Records::Lines;
    if (rng.below(3) == 0) format.delimiter = ';';
    if (rng.below(3) == 0) format.quote = '\'';
    const std::string text = any_odd_text(rng, format, false);
    for (const std::size_t block : {1U, 2U, 3U, 7U, 30U, 1000U}) {
      expect_as_reference(text, format, {1 + static_cast<int>(rng.below(3)), block});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(CsvRecords, LongTextsAreReadAsTheSlowParserReadsThem) {
  Rng rng(6);
  for (int trial = 0; trial < 150; ++trial) {
    const TextFormat format{.records = trial % 3 == 0 ? Records::Lines : Records::Quoted};
    const std::string text = any_odd_text(rng, format, true);
    for (const std::size_t block : {1U, 5000U, 70'000U, 1U << 20}) {
      expect_as_reference(text, format, {1 + static_cast<int>(rng.below(3)), block});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(CsvRecords, OtherEncodingsAreReadAsTheSlowParserReadsThem) {
  Rng rng(7);
  for (int trial = 0; trial < 600; ++trial) {
    TextFormat format;
    format.encoding = static_cast<Encoding>(trial % 4);
    format.delimiter = '\t';
    format.records = trial % 8 < 4 ? Records::Quoted : Records::Lines;
    const std::string text = any_odd_text(rng, format, false);
    expect_as_reference(text, format, {2, 1 + rng.below(100)});
    if (HasFatalFailure()) return;
  }
}

TEST(CsvRecords, AnyBytesAreReadAlikeInBlocksOfAnySize) {
  Rng rng(8);
  for (int trial = 0; trial < 400; ++trial) {
    TextFormat format;
    format.encoding = static_cast<Encoding>(trial % 4);
    format.records = rng.below(2) == 0 ? Records::Quoted : Records::Lines;
    std::string bytes;
    for (auto count = rng.below(400); count > 0; --count) {
      static constexpr char kOften[] = {'"', ',', '\n', '\0', '\r', 'x'};
      bytes += rng.below(2) == 0 ? kOften[rng.below(6)] : static_cast<char>(rng.below(256));
    }
    const auto once = rows_of(bytes, format);
    for (const std::size_t block : {1U, 4U, 33U}) {
      ASSERT_EQ(rows_of(bytes, format, {3, block}), once) << in_quotes(bytes);
    }
  }
}

TEST(CsvRecords, GzipIsReadAlike) {
  Rng rng(9);
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += any_record(rng, kQuoted);
  const TempDir dir;
  const auto packed = dir.write_gzip("t.csv.gz", any_text_header(kColumns) + text);
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  options.threads = {2};
  EXPECT_EQ(codes_of(read_csv(packed, any_text_schema(kColumns, kQuoted), options).table),
            by_reference(text, kQuoted));
}

// ---- Quotes that don't close properly -----------------------------------------------------------

TEST(CsvRecords, AnOpenQuoteEndsAtItsFirstLineFeed) {
  const std::string tail = "2,b\n3,c\n";
  const CodeRows clean = expected({{"2", "b"}, {"3", "c"}});
  const std::pair<std::string, TextRow> cases[] = {
      {"1,\"a\n", {"1", "a"}},             // nothing closes it
      {"1,\"\n", {"1", ""}},               //
      {"\"\n", {""}},                      //
      {"1,\"a\"b,z\n", {"1", "ab", "z"}},  // text behind the closing quote
      {"1,\"a\" ,z\n", {"1", "a ", "z"}},  //
      {"1,\"a\"\rb\n", {"1", "a\rb"}},     //
      {"1,\"a\r\n", {"1", "a"}},           //
      {"1,\"a\"\"\n", {"1", "a\""}},       //
  };
  for (const auto& [odd, row] : cases) {
    CodeRows rows = clean;
    rows.insert(rows.begin(), expected({row})[0]);
    EXPECT_EQ(rows_of(odd + tail, kQuoted), rows) << odd;
    EXPECT_EQ(rows_of(odd + tail, kLines), rows) << odd;
  }
}

TEST(CsvRecords, AnOpenQuoteMayStandAtTheVeryEnd) {
  for (const auto& format : {kLines, kQuoted}) {
    EXPECT_EQ(rows_of("1,a\n2,\"", format), expected({{"1", "a"}, {"2", ""}}));
    EXPECT_EQ(rows_of("1,a\n2,\"b\n", format), expected({{"1", "a"}, {"2", "b"}}));
    EXPECT_EQ(rows_of("1,a\n\"", format), expected({{"1", "a"}, {""}}));
    EXPECT_EQ(rows_of("1,a\n2,\"b\nc", format), expected({{"1", "a"}, {"2", "b"}, {"c"}}));
  }
}

// The rest of a record with a broken quote is a line too, and the next record is none the worse.
TEST(CsvRecords, ReadingGoesOnCleanBehindABrokenRecord) {
  EXPECT_EQ(rows_of("1,\"a\"b,\"c\nd\",2\n3,\"e\nf\",4\n", kQuoted),
            expected({{"1", "ab", "c"}, {"d\"", "2"}, {"3", "e\nf", "4"}}));
  EXPECT_EQ(rows_of("1,\"a\"b,\"\n2,\"c\"\n\"d\ne\"\n", kQuoted),
            expected({{"1", "ab", ""}, {"2", "c"}, {"d\ne"}}));
}

TEST(CsvRecords, AQuotedValueHasAtMostAThousandLines) {
  for (const std::size_t line_feeds : {998U, 999U, 1000U, 1001U}) {
    const std::string text = "1,\"" + std::string(line_feeds, '\n') + "\",z\n2,b\n";
    const auto rows = rows_of(text, kQuoted);
    if (line_feeds < 1000) {
      EXPECT_EQ(rows, expected({{"1", std::string(line_feeds, '\n'), "z"}, {"2", "b"}}));
    } else {
      EXPECT_EQ(rows.size(), line_feeds + 2);
      EXPECT_EQ(rows.front(), expected({{"1", ""}})[0]);
      EXPECT_EQ(rows.back(), expected({{"2", "b"}})[0]);
    }
    EXPECT_EQ(rows, by_reference(text, kQuoted));
    EXPECT_EQ(rows_of(text, kQuoted, {2, 50}), rows);
  }
}

TEST(CsvRecords, AQuotedValueHasAtMost64Kilobytes) {
  for (const std::size_t bytes : {63'999U, 64'000U, 64'001U, 64'002U}) {
    for (const char* filler : {"x", "\"\""}) {
      std::string value = "\n" + repeated(filler, (bytes - 1) / std::string(filler).size());
      value.resize(bytes, 'x');
      const std::string text = "1,\"" + value + "\",z\n2,b\n";
      const auto rows = rows_of(text, kQuoted);
      EXPECT_EQ(rows.size(), bytes <= 64'000 ? 2U : 3U) << bytes;
      EXPECT_EQ(rows, by_reference(text, kQuoted));
      for (const std::size_t block : {1000U, 64'003U, 64'006U}) {
        EXPECT_EQ(rows_of(text, kQuoted, {2, block}), rows);
      }
    }
  }
  // On one line it is read whole: a line is a record anyway.
  const std::string text = "1,\"" + std::string(100'000, 'x') + "\",z\n2,b\n";
  EXPECT_EQ(rows_of(text, kQuoted), expected({{"1", std::string(100'000, 'x'), "z"}, {"2", "b"}}));
}

// docs/privacy.md, 'Whom it protects': what one malformed record can do to others.
TEST(CsvRecords, OneMalformedRecordChangesHowAThousandLinesAreRead) {
  Rng rng(21);
  std::size_t farthest = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const bool quiet = trial % 3 == 0;  // few quotes: an open one reaches far
    std::vector<std::string> records;
    for (std::size_t lines = 0; lines < 2500;) {
      records.push_back(quiet && rng.below(700) != 0 ? "1,2\"\n" : any_record(rng, kQuoted, true));
      if (quiet && records.back() == "1,2\"\n" && rng.below(900) != 0) records.back() = "1,2\n";
      lines += static_cast<std::size_t>(std::ranges::count(records.back(), '\n'));
    }
    std::string malformed = any_odd_text(rng, kQuoted, false) + ",\"";
    if (rng.below(2) == 0) malformed += "x";
    malformed += "\n";
    const auto alone = [&](std::size_t from) {
      std::string text;
      for (std::size_t r = from; r < records.size(); ++r) text += records[r];
      return text;
    };
    const auto rows = rows_of(malformed + alone(0), kQuoted);
    // The first record that begins more than a thousand lines behind it, and all that follow.
    std::size_t from = 0;
    for (std::size_t lines = 0; lines < 1000; ++from) {
      lines += static_cast<std::size_t>(std::ranges::count(records[from], '\n'));
    }
    const auto tail = rows_of(alone(from), kQuoted);
    ASSERT_GE(rows.size(), tail.size());
    ASSERT_TRUE(std::ranges::equal(tail, std::span(rows).last(tail.size()))) << trial;
    const auto untouched = rows_of(alone(0), kQuoted);
    std::size_t same = 0;
    while (same < std::min(rows.size(), untouched.size()) &&
           rows[rows.size() - 1 - same] == untouched[untouched.size() - 1 - same]) {
      ++same;
    }
    farthest = std::max(farthest, untouched.size() - same);
  }
  EXPECT_GT(farthest, 300U);  // the claim was put to the test
}

// No reader of such records can do better for all files: these bytes are two sequences of
// well-formed records, told apart by their first line alone.
TEST(CsvRecords, ValuesThatBeginWithADelimiterCanHideWhereRecordsBegin) {
  const std::string others = repeated("1,\",\n,\",2\n", 3000);
  const std::string last = "3,x\",4\n";
  const auto good = rows_of("0,0\n" + others + last, kQuoted);
  ASSERT_EQ(good.size(), 3002U);
  EXPECT_EQ(good[3000], expected({{"1", ",\n,", "2"}})[0]);
  const std::string shifted =
      "0,a\",\"\n1,\",\n" + repeated(",\",2\n1,\",\n", 2999) + ",\",2\n3,x\",4\n";
  ASSERT_EQ(shifted, "0,a\",\"\n" + others + last);
  for (const char* record : {"0,a\",\"\n1,\",\n", ",\",2\n1,\",\n", ",\",2\n3,x\",4\n"}) {
    ASSERT_EQ(rows_of(record, kQuoted).size(), 1U);
  }
  EXPECT_EQ(rows_of(shifted, kQuoted).size(), 3001U);
}

TEST(CsvRecords, BrokenQuotesAreToldWithTheirLinesToWhoAsks) {
  const std::string text =
      "1,\"a\nb\",2\n"  // lines 2 and 3
      "3,\"c\n"         // 4: nothing closes it
      "4,d\n"           //
      "5,\"e\"f,\"g\n"  // 6
      "6,\"h\"\n"       //
      "7,\"" +
      std::string(1000, '\n') +
      "\",8\n"        // 8 to 1008
      "9,\"i\nj\"\n"  // 1009, 1010
      "10,\"k";       // 1011
  for (const How& how : {How{}, How{3, 1}, How{2, 40}}) {
    std::vector<std::size_t> broken;
    read(text, kQuoted, how, &broken);
    EXPECT_EQ(broken, (std::vector<std::size_t>{4, 6, 8, 1008, 1011}));
    broken.clear();
    read(text, kLines, how, &broken);
    EXPECT_EQ(broken, (std::vector<std::size_t>{2, 4, 6, 8, 1008, 1009, 1011}));
  }
}

// ---- Long records -------------------------------------------------------------------------------

TEST(CsvRecords, AValueOfTenMegabytesIsReadWhole) {
  const std::string huge(10'000'000, 'n');
  EXPECT_EQ(rows_of("1," + huge + ",2\n3\n", kQuoted), expected({{"1", huge, "2"}, {"3"}}));
  EXPECT_EQ(rows_of("1,\"" + huge + "\",2\n3\n", kQuoted), expected({{"1", huge, "2"}, {"3"}}));
  EXPECT_EQ(rows_of("1,\"a\n" + huge + "\",2\n3\n", kQuoted),
            expected({{"1", "a"}, {huge + "\"", "2"}, {"3"}}));
  EXPECT_EQ(rows_of("1,\"" + huge + "\n3\n", kQuoted), expected({{"1", huge}, {"3"}}));
}

// A record beyond 16 MB loses the value that crosses the limit and those behind it, wherever it
// stands and however its values are written; its neighbours are read as ever.
TEST(CsvRecords, AHugeRecordIsCutBetweenValues) {
  const std::string plain(kLongestCsvRecord, 'n');
  const std::string quoted = repeated("\"" + std::string(50'000, 'q') + "\n,\",", 340);
  const std::pair<std::string, TextRow> cases[] = {
      {"1,b," + plain + "\n", {"1", "b", ""}},
      {"1," + plain + ",c\n", {"1", "", ""}},
      {plain + ",\"x\n\",c\n", {"", "", ""}},
      {plain + plain + plain + ",\"x\n\",\"c\n", {""}},
      {"1,b,\"x\ny\"," + quoted + "\"z\n\"\n", {"1", "b", "x\ny"}},
      {"1,b,c," + quoted + "d,\"open " + plain + "\n", {"1", "b", "c"}},
      {"1,b,c," + quoted + quoted + plain + "\n", {"1", "b", "c"}},
      {"1,\"b\"x " + plain + ",\"d\n", {"1", "", ""}},
  };
  for (const auto& [huge, row] : cases) {
    for (const std::size_t before : {0U, 300'000U}) {
      std::string text = repeated("x,y\n", before) + huge + "2,\"e\nf\"\n\"g";
      for (const How& how : {How{}, How{2, 70'000}}) {
        std::vector<std::size_t> broken;
        const auto rows = codes_of(read(text, kQuoted, how, &broken).table);
        ASSERT_EQ(rows.size(), before + 3) << huge.substr(0, 20);
        EXPECT_EQ(rows[before], expected({row})[0]) << huge.substr(0, 20);
        EXPECT_EQ(rows[before + 1], expected({{"2", "e\nf"}})[0]);
        EXPECT_EQ(rows[before + 2], expected({{"g"}})[0]);
        ASSERT_FALSE(broken.empty());
        EXPECT_EQ(broken.back(), 1 + static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1);
      }
    }
  }
  // At the very end, too.
  EXPECT_EQ(rows_of("1\n" + plain + "n", kQuoted), expected({{"1"}, {""}}));
  EXPECT_EQ(rows_of("1\nb," + plain, kQuoted), expected({{"1"}, {"b", ""}}));
}

TEST(CsvRecords, TheLongestRecordIsNotCut) {
  for (const std::size_t more : {0U, 1U}) {
    std::string record = "1,";
    record += std::string(kLongestCsvRecord - record.size() - 1 + more, 'n') + "\n";
    const auto rows = rows_of("x\n" + record + "2\n", kQuoted);
    ASSERT_EQ(rows.size(), 3U);
    const bool cut = rows[1] == expected({{"1", ""}})[0];
    EXPECT_EQ(cut, more == 1) << more;
  }
}

TEST(CsvRecords, RefusesAHugeHeader) {
  const TempDir dir;
  CsvOptions options;
  options.policy = RowPolicy::Repair;
  const auto path = dir.write("t.csv", "c0," + std::string(17'000'000, 'n') + "\n1\n");
  EXPECT_EQ(
      error_of<UsageError>([&] { read_csv(path, any_text_schema(1, kQuoted), options); }),
      path + ", line 1: a row is longer than 16.0 MB; check the file's line ends and quotes.");
}

// ---- Written and read again ---------------------------------------------------------------------

TEST(CsvRecords, WhatIsWrittenIsReadAsPublicAndAsQuoted) {
  const Schema schema({{"a\nb", "", labelled_codec({"x\ny", "\n", "\"\n,", "z", "\r\n"}, 3)},
                       {"b", "", coded_codec(9)}},
                      kQuoted);
  Table table(schema.domain(), 45);
  for (std::size_t r = 0; r < table.rows(); ++r) {
    table.column(0).set(r, static_cast<Code>(r % 5));
    table.column(1).set(r, static_cast<Code>(r % 9));
  }
  const TempDir dir;
  Rng rng(1);
  write_csv(dir / "t.csv", schema, table, rng);
  for (const auto policy : {RowPolicy::MustFit, RowPolicy::Repair}) {
    CsvOptions options;
    options.policy = policy;
    EXPECT_EQ(read_csv(dir / "t.csv", schema, options).table, table);
  }
}

// Public files need no mode: they are read as quoted, without its limits, or refused.
TEST(CsvRecords, PublicFilesAreReadAlikeInBothModes) {
  const TempDir dir;
  const std::string value(2000, '\n');
  const auto path = dir.write("t.csv", "c0,c1\n1,\"" + value + "\"\n2,\"a\nb\"\n");
  const auto odd = dir.write("odd.csv", "c0,c1\n1,\"a\n2,b\n");
  for (const auto& format : {kLines, kQuoted}) {
    EXPECT_EQ(codes_of(read_csv(path, any_text_schema(2, format)).table),
              codes_of({{"1", value}, {"2", "a\nb"}}, 2));
    EXPECT_THROW(read_csv(odd, any_text_schema(2, format)), SchemaError);
  }
}

}  // namespace
}  // namespace tandem
