// SPDX-License-Identifier: Apache-2.0
// What a typed cell is as text, word for word. That its code is that of the text is proved in
// row_encoder_test.cpp.
#include "tandem/data/cell_texts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tandem/base/document.h"

namespace tandem {
namespace {

CellTexts texts_of(const std::string& keys) {
  return CellTexts(read_column(Document::parse_toml("name = 'x'\n" + keys, "s.toml")));
}

DecimalCell decimal(std::string_view digits, int scale, bool negative = false) {
  return {.negative = negative, .digits = digits, .scale = scale};
}

TEST(CellTexts, WholeNumbersOfAnyTypeAreWholeWhereLabelsOrCodesAre) {
  for (const std::string keys : {"values = ['a', 'b']", "size = 30", "kind = 'boolean'"}) {
    const CellTexts texts = texts_of(keys);
    EXPECT_EQ(texts.of(24.0), "24") << keys;
    EXPECT_EQ(texts.of(-24.0), "-24") << keys;
    EXPECT_EQ(texts.of(-0.0), "0") << keys;
    EXPECT_EQ(texts.of(1e20), "100000000000000000000") << keys;
    EXPECT_EQ(texts.of(24.5), "24.5") << keys;
    EXPECT_EQ(texts.of(std::numeric_limits<double>::infinity()), "inf") << keys;
    EXPECT_EQ(texts.of(decimal("2400", 2)), "24") << keys;
    EXPECT_EQ(texts.of(decimal("2410", 2, true)), "-24.10") << keys;
    EXPECT_EQ(texts.of(decimal("24", 0)), "24") << keys;
    EXPECT_EQ(texts.of(decimal("24", -2)), "2400") << keys;
    EXPECT_EQ(texts.of(decimal("", 3)), "0") << keys;
  }
  const CellTexts real = texts_of("kind = 'real'\nmin = 0\nmax = 100\nbins = 4");
  EXPECT_EQ(real.of(24.0), "24.0");
  EXPECT_EQ(real.of(decimal("2400", 2)), "24.00");
}

TEST(CellTexts, DecimalsHaveAllTheirDigits) {
  const CellTexts texts = texts_of("kind = 'real'\nmin = 0\nmax = 100\nbins = 4");
  EXPECT_EQ(texts.of(decimal("1", 1)), "0.1");
  EXPECT_EQ(texts.of(decimal("1", 3, true)), "-0.001");
  EXPECT_EQ(texts.of(decimal("123", 2)), "1.23");
  EXPECT_EQ(texts.of(decimal("123", 3)), "0.123");
  EXPECT_EQ(texts.of(decimal("", 2, true)), "0.00");  // zero has no sign
  EXPECT_EQ(texts.of(decimal("", -2)), "0");
  EXPECT_EQ(size_in_digits(0), "");
  EXPECT_EQ(size_in_digits(-120), "120");
  EXPECT_EQ(size_in_digits(std::numeric_limits<std::int64_t>::min()), "9223372036854775808");
}

TEST(CellTexts, ANumberMayMeanATextOfTheSchema) {
  const CellTexts texts =
      texts_of("values = ['1.50', '007', '1e3', '-2.5e1', ' 0.1', '+4', '1e', '.', '1.2.3', 'x']");
  EXPECT_EQ(texts.of(1.5), "1.50");
  EXPECT_EQ(texts.of(decimal("15", 1)), "1.50");
  EXPECT_EQ(texts.of(decimal("1500", 3)), "1.50");
  EXPECT_EQ(texts.of(std::int64_t{7}), "007");
  EXPECT_EQ(texts.of(7.0), "007");
  EXPECT_EQ(texts.of(std::int64_t{1000}), "1e3");
  EXPECT_EQ(texts.of(decimal("1", -3)), "1e3");
  EXPECT_EQ(texts.of(std::int64_t{-25}), "-2.5e1");
  EXPECT_EQ(texts.of(-25.0), "-2.5e1");
  EXPECT_EQ(texts.of(std::int64_t{25}), "25");
  EXPECT_EQ(texts.of(0.1), " 0.1");
  EXPECT_EQ(texts.of(std::uint64_t{4}), "+4");
  EXPECT_EQ(texts.of(std::int64_t{1}), "1");
  EXPECT_EQ(texts.of(1.2), "1.2");
  EXPECT_TRUE(texts.has_numbers());
  EXPECT_FALSE(texts_of("values = ['a', 'e1', '-', '+']").has_numbers());
}

TEST(CellTexts, NumbersBeyondADoubleKeepTheirDigits) {
  const CellTexts texts = texts_of("values = ['18446744073709551615', '9223372036854775807', 'x']");
  EXPECT_EQ(texts.of(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(texts.of(std::numeric_limits<std::uint64_t>::max() - 1), "18446744073709551614");
  EXPECT_EQ(texts.of(std::numeric_limits<std::int64_t>::max()), "9223372036854775807");
  EXPECT_EQ(texts.of(std::uint64_t{9223372036854775807U}), "9223372036854775807");
  EXPECT_EQ(texts.of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  const CellTexts padded = texts_of("values = ['18446744073709551615.0', 'x']");
  EXPECT_EQ(padded.of(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615.0");
}

TEST(CellTexts, FloatsAreWrittenAsPythonWritesThem) {
  EXPECT_EQ(shortest_text(0.0), "0.0");
  EXPECT_EQ(shortest_text(0.1), "0.1");
  EXPECT_EQ(shortest_text(-24.0), "-24.0");
  EXPECT_EQ(shortest_text(123.456), "123.456");
  EXPECT_EQ(shortest_text(1e15), "1000000000000000.0");
  EXPECT_EQ(shortest_text(1e16), "1e+16");
  EXPECT_EQ(shortest_text(1.5e16), "1.5e+16");
  EXPECT_EQ(shortest_text(0.0001), "0.0001");
  EXPECT_EQ(shortest_text(0.00012), "0.00012");
  EXPECT_EQ(shortest_text(0.00001), "1e-05");
  EXPECT_EQ(shortest_text(-1.25e-7), "-1.25e-07");
  EXPECT_EQ(shortest_text(1e300), "1e+300");
  EXPECT_EQ(shortest_text(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(shortest_text(std::nan("")), "nan");
}

TEST(CellTexts, BooleansAreTheTwoValuesOrThoseOfTheLabels) {
  const auto both = [](const std::string& keys) {
    const CellTexts texts = texts_of(keys);
    return texts.of(false) + " " + texts.of(true);
  };
  EXPECT_EQ(both("kind = 'boolean'\nvalues = ['n', 'j']"), "n j");
  EXPECT_EQ(both("size = 4"), "0 1");
  EXPECT_EQ(both("kind = 'integer'\nmin = 0\nmax = 9\nbins = 2"), "0 1");
  EXPECT_EQ(both("values = ['True', 'False', 'x']"), "False True");
  EXPECT_EQ(both("values = ['no', '0', 'yes']"), "no yes");
  EXPECT_EQ(both("values = ['no', 'x']"), "false true");
}

TEST(CellTexts, MomentsAreDatesOrDatesWithATime) {
  const CellTexts plain;
  const auto at = [&](std::int64_t second, std::int32_t nanosecond, bool clock) {
    return plain.of(MomentCell{.second = second, .nanosecond = nanosecond, .clock = clock});
  };
  EXPECT_EQ(at(0, 0, false), "1970-01-01");
  EXPECT_EQ(at(0, 0, true), "1970-01-01");
  EXPECT_EQ(at(1, 0, true), "1970-01-01 00:00:01");
  EXPECT_EQ(at(-1, 0, true), "1969-12-31 23:59:59");
  EXPECT_EQ(at(-1, 0, false), "1969-12-31");
  EXPECT_EQ(at(0, 1000, true), "1970-01-01 00:00:00.000001");
  EXPECT_EQ(at(1, 500'000'000, true), "1970-01-01 00:00:01.500000");
  EXPECT_EQ(at(1, 1, true), "1970-01-01 00:00:01.000000001");
  EXPECT_EQ(at(-62135596800, 0, false), "0001-01-01");
  EXPECT_EQ(at(-62135596801, 0, false), kNowhere);
  EXPECT_EQ(at(253402300799, 0, true), "9999-12-31 23:59:59");
  EXPECT_EQ(at(253402300800, 0, true), kNowhere);
}

TEST(CellTexts, TimesOfADayEndWithIt) {
  const CellTexts plain;
  EXPECT_EQ(plain.of_time(0), "00:00:00");
  EXPECT_EQ(plain.of_time(45'296'000'000), "12:34:56");
  EXPECT_EQ(plain.of_time(45'296'000'007), "12:34:56.000007");
  EXPECT_EQ(plain.of_time(86'399'999'999), "23:59:59.999999");
  EXPECT_EQ(plain.of_time(86'400'000'000), kNowhere);
  EXPECT_EQ(plain.of_time(-1), kNowhere);
}

TEST(CellTexts, ATextThatNoFileWouldHoldIsNowhere) {
  const std::string lines(kMostTextLines - 1, '\n');
  EXPECT_EQ(CellTexts::of(lines + "a"), lines + "a");
  EXPECT_EQ(CellTexts::of(lines + "\n"), kNowhere);
  const std::string most(kLongestText, 'x');
  EXPECT_EQ(CellTexts::of(most), most);
  EXPECT_EQ(CellTexts::of(most + "x"), kNowhere);
  std::string two_bytes;
  for (std::size_t i = 0; i < kLongestText; ++i) two_bytes += "\xc3\xbc";
  EXPECT_EQ(CellTexts::of(two_bytes), two_bytes);  // characters count, not bytes
  EXPECT_EQ(CellTexts::of(two_bytes + "x"), kNowhere);
}

TEST(CellTexts, NoValueIsEmptyUnlessTheSchemaWritesItOtherwise) {
  EXPECT_EQ(texts_of("values = ['a']\nnull = ['NA', '.']").null(), "NA");
  EXPECT_EQ(texts_of("values = ['a']\nnull = ['NA', '']").null(), "");
  EXPECT_EQ(texts_of("values = ['a']").null(), "");
  EXPECT_EQ(texts_of("values = ['a']\nnull = ['NA']").of(std::nan("")), "NA");
}

}  // namespace
}  // namespace tandem
