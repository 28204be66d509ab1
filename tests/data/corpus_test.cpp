// SPDX-License-Identifier: Apache-2.0
// A corpus of nasty files, each with what becomes of it as public and as private data.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/files.h"
#include "support/tenths_codec.h"
#include "tandem/base/error.h"
#include "tandem/data/csv.h"

namespace tandem {
namespace {

const std::string kFolder = TANDEM_SOURCE_DIR "/tests/data/corpus/";

constexpr TextFormat kUtf8{};
constexpr TextFormat kLatin1{.encoding = Encoding::Latin1};
constexpr TextFormat kUtf16Le{.encoding = Encoding::Utf16LittleEndian};
constexpr TextFormat kUtf16Be{.encoding = Encoding::Utf16BigEndian};
constexpr TextFormat kUtf16Tabs{.encoding = Encoding::Utf16LittleEndian, .delimiter = '\t'};
constexpr TextFormat kSemicolons{.delimiter = ';', .decimal_mark = ','};
constexpr TextFormat kSemicolonsLatin1{Encoding::Latin1, ';', '"', ','};
constexpr TextFormat kDecimalComma{.decimal_mark = ','};
constexpr TextFormat kTabs{.delimiter = '\t'};
constexpr TextFormat kPipes{.delimiter = '|'};
constexpr TextFormat kApostrophes{.quote = '\''};
constexpr TextFormat kQuoted{.records = Records::Quoted};
constexpr TextFormat kQuotedUtf16{.encoding = Encoding::Utf16LittleEndian,
                                  .records = Records::Quoted};

struct Outcome {
  const char* file;
  const TextFormat& schema_format;  // a private file's format, and a public file's likely one
  const char* as_public;            // the rows, a*3 for a a a; or the message, FILE for the path
  const char* as_private;
};

constexpr const char* kBoth = nullptr;  // as_private: the same as public

const Outcome kOutcomes[] = {
    {"apostrophes.csv", kApostrophes, "x1.5 y2.0", kBoth},
    {"apostrophes.csv", kUtf8,
     "FILE has no column 'a', which the schema names; its columns are ''a'' and ''b''.",
     "FILE has no column 'a', which the schema names; its first line must name 'a' and 'b'."},
    {"blank-lines.csv", kUtf8, "x1.5 y2.0", "?0.0 x1.5 ?0.0 ?0.0 y2.0 ?0.0"},
    {"bom-only.csv", kUtf8, "FILE is empty; a CSV file starts with a line of column names.", kBoth},
    {"bom.csv", kUtf8, "x1.5 y2.0", kBoth},
    {"commas-decimal-comma.csv", kDecimalComma, "x1.5 y2.0", kBoth},
    {"commas-decimal-comma.csv", kUtf8, "x1.5 y2.0", "x0.0 y0.0"},
    {"cr.csv", kUtf8,
     "FILE has no column 'b', which the schema names; carriage returns stand inside its first "
     "line, so save it with line feeds.",
     kBoth},
    {"crcrlf.csv", kUtf8,
     "FILE has no column 'b', which the schema names; carriage returns stand inside its first "
     "line, so save it with line feeds.",
     kBoth},
    {"crlf.csv", kUtf8, "x1.5 y2.0", kBoth},
    {"damaged.csv.gz", kUtf8, "FILE is damaged: its gzip data is invalid; copy it again.", kBoth},
    {"empty.csv", kUtf8, "FILE is empty; a CSV file starts with a line of column names.", kBoth},
    {"excel-separator-line.csv", kUtf8,
     "FILE has no column 'a', which the schema names; its columns are 'sep=' and ''.",
     "FILE has no column 'a', which the schema names; its first line isn't parted by ',', so state "
     "its delimiter."},
    {"header-only-no-newline.csv", kUtf8, "", kBoth},
    {"header-only.csv", kUtf8, "", kBoth},
    {"huge-row.csv.gz", kUtf8,
     "FILE, line 3: a row is longer than 16.0 MB; check the file's line ends and quotes.",
     "x1.5 y0.0 x2.5"},
    {"latin1.csv", kLatin1, "Å1.5 y2.0", kBoth},
    {"latin1.csv", kUtf8, "Å1.5 y2.0", "?1.5 y2.0"},
    {"latin1.csv.gz", kLatin1, "Å1.5 y2.0", kBoth},
    {"line-feeds-in-quotes.csv", kUtf8, "x1.5 y2.0", "x0.0 ?0.0 y0.0 ?0.0"},
    {"line-feeds-in-quotes.csv", kQuoted, "x1.5 y2.0", kBoth},
    {"line-separators.csv", kUtf8, "x1.5 y2.0", kBoth},
    {"missing-column.csv", kUtf8,
     "FILE has no column 'b', which the schema names; its columns are 'a' and 'c'.",
     "FILE has no column 'b', which the schema names; its first line must name 'a' and 'b'."},
    {"more-columns.csv", kUtf8, "x1.5 y2.0", kBoth},
    {"no-final-newline.csv", kUtf8, "x1.5 y2.0", kBoth},
    {"no-header.csv", kUtf8,
     "FILE has no column 'a', which the schema names; its columns are 'x' and '1.5'.",
     "FILE has no column 'a', which the schema names; its first line must name 'a' and 'b'."},
    {"nul-header.csv", kUtf8,
     "FILE is not a text file: its first line holds control characters; name a CSV file.",
     "FILE is not a text file in UTF-8: its first line holds control characters; name a CSV file, "
     "or state its encoding."},
    {"nul.csv", kUtf8, "FILE, line 3: a NUL character stands there; is this a text file in UTF-8?",
     "x1.5 ?2.0"},
    {"number-bad.csv", kUtf8,
     "FILE, line 2: column 'b' holds 'one', which is not a number from 0.0 to 9.9; mend the file "
     "or the "
     "schema.",
     "x0.0 y2.0"},
    {"number-empty.csv", kUtf8,
     "FILE, line 2: column 'b' holds '', which is not a number from 0.0 to 9.9; mend the file or "
     "the "
     "schema.",
     "x0.0 y2.0"},
    {"number-too-large.csv", kUtf8, "x9.9 y2.0", kBoth},
    {"open-quote-at-end.csv", kUtf8, "FILE, line 3: a quoted value never ends; close its quote.",
     "x1.5 y2.0"},
    {"open-quote-at-end.csv", kQuoted, "FILE, line 3: a quoted value never ends; close its quote.",
     "x1.5 y2.0"},
    {"open-quote-header.csv", kQuoted, "FILE, line 1: a quoted value never ends; close its quote.",
     kBoth},
    {"open-quote-header.csv", kUtf8, "FILE, line 1: a quoted value never ends; close its quote.",
     kBoth},
    {"open-quote.csv", kUtf8, "FILE, line 2: a quoted value never ends; close its quote.",
     "x1.5 y2.0"},
    {"open-quote.csv", kQuoted, "FILE, line 2: a quoted value never ends; close its quote.",
     "x1.5 y2.0"},
    {"other-order.csv", kUtf8, "x1.5 y2.0", kBoth},
    {"pipes.csv", kPipes, "x1.5 y2.0", kBoth},
    {"plain.csv", kUtf8, "x1.5 y2.0", kBoth},
    {"quote-inside.csv", kUtf8,
     "FILE, line 2: column 'a' holds 'x\"y', which is not one of 'x', 'y', '?', 'Å' and '€'; mend "
     "the file or the schema.",
     "?1.5 y2.0"},
    {"quoted-1000-lines.csv.gz", kQuoted, "x1.5 y2.0", kBoth},
    {"quoted-1000-lines.csv.gz", kUtf8, "x1.5 y2.0", "x1.5 ?0.0*999 y2.0"},
    {"quoted-1001-lines.csv.gz", kQuoted, "x1.5 y2.0", "x1.5 ?0.0*1000 y2.0"},
    {"quoted-64-kb-and-one.csv.gz", kQuoted, "x1.5 y2.0", "x1.5 ?0.0 y2.0"},
    {"quoted-64-kb.csv.gz", kQuoted, "x1.5 y2.0", kBoth},
    {"quoted-broken.csv", kQuoted,
     "FILE, line 2: text follows the closing quote of a value; double the quotes inside values.",
     "x1.5 y2.0"},
    {"quoted-broken.csv", kUtf8,
     "FILE, line 2: text follows the closing quote of a value; double the quotes inside values.",
     "x1.5 y2.0 ?0.0"},
    {"quoted-crlf.csv", kQuoted, "x1.5 y2.0", kBoth},
    {"quoted-crlf.csv", kUtf8, "x1.5 y2.0", "x1.5 ?0.0 y2.0"},
    {"quoted-header.csv", kQuoted, "x1.5 y2.0", kBoth},
    {"quoted-header.csv", kUtf8, "x1.5 y2.0",
     "FILE, line 1: a quoted value never ends; close its quote."},
    {"quoted-utf16le-odd-byte.csv", kQuotedUtf16,
     "FILE, line 4: a quoted value never ends; close its quote.", "x1.5 y2.0 ?0.0"},
    {"quoted.csv", kQuoted, "x1.5 y2.0", kBoth},
    {"quoted.csv", kUtf8, "x1.5 y2.0", kBoth},
    {"repeated-name.csv", kUtf8,
     "FILE, line 1: the column name 'b' stands there twice; rename one.", kBoth},
    {"repeated-other-name.csv", kUtf8,
     "FILE, line 1: the column name 'c' stands there twice; rename one.",
     "FILE, line 1: one column name stands there twice; rename one."},
    {"row-too-long.csv", kUtf8,
     "FILE, line 2: the row has 3 fields and the header 2; mend the row.", "x1.5 y2.0"},
    {"row-too-short.csv", kUtf8,
     "FILE, line 3: the row has 1 field and the header 2; mend the row.", "x1.5 y0.0"},
    {"semicolons-decimal-comma-latin1.csv.gz", kSemicolonsLatin1, "Å1.5 y2.0", kBoth},
    {"semicolons-decimal-comma.csv", kSemicolons, "x1.5 y2.0", kBoth},
    {"semicolons-decimal-comma.csv", kUtf8, "x1.5 y2.0",
     "FILE has no column 'a', which the schema names; its first line isn't parted by ',', so state "
     "its delimiter."},
    {"spaced-header.csv", kUtf8,
     "FILE has no column 'b', which the schema names; its columns are 'a' and ' b'.",
     "FILE has no column 'b', which the schema names; its first line must name 'a' and 'b'."},
    {"tabs.csv", kTabs, "x1.5 y2.0", kBoth},
    {"text-after-quote.csv", kUtf8,
     "FILE, line 2: text follows the closing quote of a value; double the quotes inside values.",
     "?1.5 y2.0"},
    {"truncated.csv.gz", kUtf8, "FILE is truncated: its gzip data ends early; copy it again.",
     kBoth},
    {"two-members.csv.gz", kUtf8, "x1.5 y2.0", kBoth},
    {"utf16be-mark.csv", kUtf16Be, "Å1.5 y2.0", kBoth},
    {"utf16be-mark.csv", kUtf8, "Å1.5 y2.0",
     "FILE starts with the mark of UTF-16, big-endian, and its format is said to be UTF-8; state "
     "its encoding."},
    {"utf16be.csv", kUtf16Be, "Å1.5 y2.0", kBoth},
    {"utf16be.csv", kUtf8, "Å1.5 y2.0",
     "FILE is not a text file in UTF-8: its first line holds control characters; name a CSV file, "
     "or state its encoding."},
    {"utf16le-crlf-tab.csv", kUtf16Tabs, "Å1.5 y2.0", kBoth},
    {"utf16le-half-pair.csv", kUtf16Le,
     "FILE, line 3: column 'a' holds '\uFFFD', which is not one of 'x', 'y', '?', 'Å' and '€'; "
     "mend the file or the schema.",
     "x1.5 ?2.0 y2.5"},
    {"utf16le-mark.csv", kUtf16Le, "Å1.5 y2.0", kBoth},
    {"utf16le-mark.csv", kUtf8, "Å1.5 y2.0",
     "FILE starts with the mark of UTF-16, little-endian, and its format is said to be UTF-8; "
     "state its encoding."},
    {"utf16le-odd-byte.csv", kUtf16Le,
     "FILE, line 4: column 'a' holds '\uFFFD', which is not one of 'x', 'y', '?', 'Å' and '€'; "
     "mend the file or the schema.",
     "x1.5 y2.0 ?0.0"},
    {"utf16le.csv", kUtf16Le, "Å1.5 y2.0", kBoth},
    {"utf16le.csv", kUtf8, "Å1.5 y2.0",
     "FILE is not a text file in UTF-8: its first line holds control characters; name a CSV file, "
     "or state its encoding."},
    {"utf16le.csv.gz", kUtf16Le, "Å1.5 y2.0", kBoth},
    {"utf32le.csv", kUtf8,
     "FILE is not a text file: its first line holds control characters; name a CSV file.",
     "FILE starts with the mark of UTF-16, little-endian, and its format is said to be UTF-8; "
     "state its encoding."},
    {"utf8-bad-bytes.csv", kUtf8,
     "FILE, line 2: column 'a' holds 'Ã…', which is not one of 'x', 'y', '?', 'Å' and '€'; mend "
     "the file or the schema.",
     "Å1.5 ?2.0 y2.5"},
    {"utf8.csv", kUtf8, "Å1.5 y2.0", kBoth},
    {"value-spaced.csv", kUtf8,
     "FILE, line 2: column 'a' holds ' x', which is not one of 'x', 'y', '?', 'Å' and '€'; mend "
     "the file or the schema.",
     "?1.5 y2.0"},
    {"value-unknown.csv", kUtf8,
     "FILE, line 2: column 'a' holds 'z', which is not one of 'x', 'y', '?', 'Å' and '€'; mend the "
     "file or the schema.",
     "?1.5 y2.0"},
    {"windows1252.csv", kLatin1, "€1.5 y2.0", kBoth},
    {"windows1252.csv", kUtf8, "€1.5 y2.0", "?1.5 y2.0"},
    {"zip.csv", kUtf8,
     "FILE is not a text file: its first line holds control characters; name a CSV file.",
     "FILE is not a text file in UTF-8: its first line holds control characters; name a CSV file, "
     "or state its encoding."},
};

Schema schema(const TextFormat& format) {
  return Schema(
      {{"a", "", labelled_codec({"x", "y", "?", "Å", "€"}, 2)}, {"b", "", test::tenths_codec()}},
      format);
}

std::string outcome(const std::string& file, const TextFormat& format, RowPolicy policy) {
  const std::string path = kFolder + file;
  CsvOptions options;
  options.policy = policy;
  options.threads = {2};
  try {
    const CsvTable loaded = read_csv(path, schema(format), options);
    Rng rng(1);
    std::vector<std::pair<std::string, int>> runs;  // of equal rows
    for (std::size_t r = 0; r < loaded.table.rows(); ++r) {
      std::string row;
      for (AttributeId id = 0; id < 2; ++id) {
        schema(format).columns()[id].codec->decode(loaded.table.column(id)[r], rng, row);
      }
      if (runs.empty() || runs.back().first != row) runs.emplace_back(row, 0);
      ++runs.back().second;
    }
    std::string rows;
    for (const auto& [row, times] : runs) {
      for (int i = 0; i < (times > 2 ? 1 : times); ++i) rows += (rows.empty() ? "" : " ") + row;
      if (times > 2) rows += "*" + std::to_string(times);
    }
    return rows;
  } catch (const UsageError& error) {
    std::string message = error.what();
    if (const auto at = message.find(path); at != std::string::npos) {
      message.replace(at, path.size(), "FILE");
    }
    return message;
  }
}

TEST(Corpus, EveryFileHasItsOutcome) {
  for (const auto& [file, format, as_public, as_private] : kOutcomes) {
    EXPECT_EQ(outcome(file, format, RowPolicy::MustFit), as_public) << file;
    EXPECT_EQ(outcome(file, format, RowPolicy::Repair),
              as_private == kBoth ? as_public : as_private)
        << file;
  }
}

TEST(Corpus, EveryFileIsListed) {
  std::set<std::string> listed;
  for (const auto& outcome : kOutcomes) listed.insert(outcome.file);
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    EXPECT_TRUE(listed.contains(entry.path().filename().string())) << entry.path();
  }
}

// A private file is read by the stated format alone; what its bytes look like changes nothing.
TEST(Corpus, APrivateFileIsNeverSniffed) {
  for (const char* file : {"latin1.csv", "utf8-bad-bytes.csv"}) {
    CsvOptions options;
    options.policy = RowPolicy::Repair;
    EXPECT_EQ(read_csv(kFolder + file, schema(kUtf8), options).format, kUtf8);
  }
}

TEST(Corpus, AStatedFormatIsNeverOverridden) {
  CsvOptions options;
  options.format = kUtf8;
  for (const char* file : {"latin1.csv", "semicolons-decimal-comma.csv", "utf16le-mark.csv"}) {
    EXPECT_THROW(read_csv(kFolder + file, schema(kUtf8), options), UsageError) << file;
  }
}

}  // namespace
}  // namespace tandem
