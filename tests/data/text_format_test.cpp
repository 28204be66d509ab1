// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/text_format.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "support/errors.h"
#include "tandem/base/error.h"
#include "tandem/data/encoding.h"

namespace tandem {
namespace {

const std::vector<KnownColumn> kColumns = {{"name", false}, {"income", true}};

std::string encoded(std::string_view text, Encoding encoding, bool mark = false) {
  std::string bytes(mark ? byte_order_mark(encoding) : "");
  EXPECT_FALSE(append_encoded(text, encoding, bytes));
  return bytes;
}

TextFormat sniffed(std::string_view bytes, const TextFormat& likely = {}) {
  return sniff_format(bytes, true, kColumns, likely);
}

TextFormat scanned(std::string_view bytes) { return sniff_format(bytes, true, {}, {}); }

TEST(SniffFormat, KnowsEncodings) {
  const std::string text = "name,income\nÅsa,1\nZoë,2\n";
  for (const auto encoding :
       {Encoding::Utf8, Encoding::Latin1, Encoding::Utf16LittleEndian, Encoding::Utf16BigEndian}) {
    for (const bool mark : {false, true}) {
      EXPECT_EQ(sniffed(encoded(text, encoding, mark)).encoding, encoding);
    }
  }
}

TEST(SniffFormat, ACharacterThatIsCutIsNoLatin1) {
  const std::string text = "name,income\n€";
  for (std::size_t cut = 1; cut < 3; ++cut) {
    const auto bytes = text.substr(0, text.size() - cut);
    EXPECT_EQ(sniff_format(bytes, false, kColumns).encoding, Encoding::Utf8);
    EXPECT_EQ(sniff_format(bytes, true, kColumns).encoding, Encoding::Latin1);
  }
}

TEST(SniffFormat, AsciiKeepsTheLikelyEncoding) {
  const TextFormat latin1{.encoding = Encoding::Latin1};
  EXPECT_EQ(sniffed("name,income\na,1\n", latin1).encoding, Encoding::Latin1);
  EXPECT_EQ(sniffed("name,income\nÅ,1\n", latin1).encoding, Encoding::Utf8);
}

TEST(SniffFormat, FindsTheDelimiterThatGivesTheColumns) {
  for (const char delimiter : {',', ';', '\t', '|'}) {
    std::string text = "name?income\na;b,c|d,1\nx,1\n";  // rows that would mislead
    text[4] = delimiter;
    EXPECT_EQ(sniffed(text).delimiter, delimiter) << delimiter;
  }
}

TEST(SniffFormat, FindsTheDelimiterOfAnEvenTable) {
  for (const char delimiter : {',', ';', '\t', '|'}) {
    std::string text = "p?q?r, s\n\"1\n2\"?2?3\n4?5?6\n";
    for (char& c : text) c = c == '?' ? delimiter : c;
    EXPECT_EQ(scanned(text).delimiter, delimiter) << delimiter;
  }
  EXPECT_EQ(scanned("one\n1\n2\n").delimiter, ',');
  EXPECT_EQ(scanned("").delimiter, ',');
}

TEST(SniffFormat, FindsTheDecimalMark) {
  const auto mark = [](const std::string& rows, const TextFormat& likely = {}) {
    return sniffed("name;income\n" + rows, likely).decimal_mark;
  };
  EXPECT_EQ(mark("a;12,5\n"), ',');
  EXPECT_EQ(mark("a;-1,250\n"), ',');
  EXPECT_EQ(mark("a;12.5\n"), '.');
  EXPECT_EQ(mark("a;12\n"), '.');
  EXPECT_EQ(mark("1,5;12\n"), '.');  // a name
  EXPECT_EQ(mark("a;12\n", {.decimal_mark = ','}), ',');
  EXPECT_EQ(mark("a;12.5\n", {.decimal_mark = ','}), '.');
  EXPECT_EQ(scanned("p;q\n1;2,5\n").decimal_mark, ',');
  EXPECT_EQ(scanned("p,q\n1,\"2,5\"\n").decimal_mark, ',');
  EXPECT_EQ(scanned("p,q\n1,\"2,500\"\n").decimal_mark, '.');  // two and a half thousand
}

TEST(SniffFormat, TakesTheQuoteFromTheLikelyFormat) {
  const TextFormat format = sniffed("'name';'income'\n'a;b';1\n", {.quote = '\''});
  EXPECT_EQ(format.quote, '\'');
  EXPECT_EQ(format.delimiter, ';');
}

RC_GTEST_PROP(SniffFormat, AnyBytesHaveAFormat, ()) {
  const auto bytes = *rc::gen::container<std::string>(
      rc::gen::oneOf(rc::gen::element<char>('"', ',', ';', '\t', '|', '\n', '\0', '\xff', '\xfe'),
                     rc::gen::arbitrary<char>()));
  require_usable(sniff_format(bytes, *rc::gen::arbitrary<bool>(), kColumns));
}

TEST(TextFormat, RecordsAreNamed) {
  for (const auto records : {Records::Lines, Records::Quoted}) {
    EXPECT_EQ(parse_records(records_key(records)), records);
  }
  EXPECT_EQ(parse_records("Lines"), std::nullopt);
  EXPECT_EQ(sniffed("name;income\na;1\n", {.records = Records::Quoted}).records, Records::Quoted);
}

TEST(TextFormat, IsDescribed) {
  EXPECT_EQ(describe({}), "UTF-8, fields parted by ','");
  EXPECT_EQ(describe({Encoding::Utf16LittleEndian, '\t', '\'', ','}),
            "UTF-16, little-endian, fields parted by tabs, quoted by ''', decimal comma");
}

TEST(TextFormat, RefusesCharactersThatCantBeToldApart) {
  const auto refusal = [](const TextFormat& format) {
    return test::error_of<SchemaError>([&] { require_usable(format); });
  };
  for (const char c : {'\n', 'a', '7', '.', '-', '\xe4', '\0'}) {
    EXPECT_EQ(refusal({.delimiter = c}),
              "the delimiter can't part fields; choose ',', ';', a tab or '|'.");
  }
  EXPECT_EQ(refusal({.quote = '\n'}), "the quote can't enclose values; choose '\"'.");
  EXPECT_EQ(refusal({.delimiter = '"'}), "the quote and the delimiter are the same; change one.");
  EXPECT_EQ(refusal({.decimal_mark = ' '}),
            "the decimal mark is neither '.' nor ','; choose one of them.");
}

TEST(SwapDecimalMarks, LeavesOtherTextsAlone) {
  std::string room;
  EXPECT_EQ(swap_decimal_marks("-12,5e3", room), "-12.5e3");
  EXPECT_EQ(swap_decimal_marks("1.234,5", room), "1,234.5");
  for (const char* text : {"", "12", "n.a.", ".", ",", "1,5 %", "01.02.2020x"}) {
    EXPECT_EQ(swap_decimal_marks(text, room), text);
  }
}

RC_GTEST_PROP(SwapDecimalMarks, IsItsOwnInverse, ()) {
  const auto text =
      *rc::gen::container<std::string>(rc::gen::element<char>('1', '.', ',', '-', 'x'));
  std::string once;
  std::string twice;
  RC_ASSERT(swap_decimal_marks(swap_decimal_marks(text, once), twice) == text);
}

}  // namespace
}  // namespace tandem
