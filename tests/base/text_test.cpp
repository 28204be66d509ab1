// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tandem {
namespace {

using Strings = std::vector<std::string>;

TEST(ParseInteger, ReadsDecimalDigitsWithASign) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("+12"), 12);
  EXPECT_EQ(parse_integer("007"), 7);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
}

TEST(ParseInteger, RefusesEverythingElse) {
  for (const char* text : {"", "+", "-", "++1", "+-1", "-+1", "--1", " 1", "1 ", "1.0", "0x1",
                           "1e3", "1,000", "9223372036854775808", "-9223372036854775809", "one"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_integer(std::string_view("1\0", 2)), std::nullopt);
}

RC_GTEST_PROP(ParseInteger, ReadsWhatWasWritten, (std::int64_t number)) {
  RC_ASSERT(parse_integer(std::to_string(number)) == number);
}

TEST(ParseNumber, ReadsFiniteDecimals) {
  EXPECT_EQ(parse_number("12"), 12.0);
  EXPECT_EQ(parse_number("-0.5"), -0.5);
  EXPECT_EQ(parse_number("+1e-9"), 1e-9);
  EXPECT_EQ(parse_number("1e308"), 1e308);
}

TEST(ParseNumber, RefusesEverythingElse) {
  for (const char* text : {"", "+", ".", "e5", "inf", "-inf", "nan", "infinity", "1e999", "0x10",
                           "1,5", "1.5 ", " 1.5", "+-1", "1.5.2", "1e"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(Split, GivesOnePartMoreThanSeparators) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("a:b:c", ':'), (Parts{"a", "b", "c"}));
  EXPECT_EQ(split("", ':'), (Parts{""}));
  EXPECT_EQ(split(":", ':'), (Parts{"", ""}));
  EXPECT_EQ(split("a::", ':'), (Parts{"a", "", ""}));
}

RC_GTEST_PROP(Split, JoinedAgainIsTheText, (const std::string& noise)) {
  const std::string text = noise + *rc::gen::element<std::string>("", ",", "a,,b");
  std::string joined;
  for (const auto part : split(text, ',')) {
    RC_ASSERT(part.find(',') == std::string_view::npos);
    joined.append(part).append(",");
  }
  RC_ASSERT(joined == text + ",");
}

TEST(Trim, DropsSpacesAndTabsAtBothEnds) {
  EXPECT_EQ(trim(" \ta b\t "), "a b");
  EXPECT_EQ(trim("a"), "a");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim("\na\n"), "\na\n");
}

TEST(InQuotes, EscapesControlCharactersAndCutsLongTexts) {
  EXPECT_EQ(in_quotes("age"), "'age'");
  EXPECT_EQ(in_quotes(""), "''");
  EXPECT_EQ(in_quotes("a\nb\x7f"), R"('a\x0ab\x7f')");
  EXPECT_EQ(in_quotes(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(in_quotes(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
}

TEST(InQuotes, CutsBetweenCharacters) {
  const std::string text = std::string(58, 'x') + "语语";
  EXPECT_EQ(in_quotes(text), "'" + std::string(58, 'x') + "...'");
  EXPECT_LT(in_quotes(std::string(1000, '\x80')).size(), 70U);
}

TEST(ListNames, ReadsAsASentenceDoes) {
  EXPECT_EQ(list_names(Strings{}), "");
  EXPECT_EQ(list_names(Strings{"a"}), "'a'");
  EXPECT_EQ(list_names(Strings{"a", "b"}), "'a' and 'b'");
  EXPECT_EQ(list_names(Strings{"a", "b", "c"}), "'a', 'b' and 'c'");
  EXPECT_EQ(list_names(Strings{"a", "b", "c"}, 3), "'a', 'b' and 'c'");
  EXPECT_EQ(list_names(Strings{"a", "b", "c", "d"}, 3), "'a', 'b' and 2 more");
  EXPECT_EQ(list_names(Strings{"a", "b", "c"}, 1), "'a' and 2 more");
}

TEST(Nearest, SuggestsOnlyWhatIsNear) {
  const Strings known = {"age", "sex", "region", "hours-per-week"};
  EXPECT_EQ(nearest("aeg", known), "age");
  EXPECT_EQ(nearest("regoin", known), "region");
  EXPECT_EQ(nearest("hours-per-weeks", known), "hours-per-week");
  EXPECT_EQ(nearest("temperature", known), std::nullopt);
  EXPECT_EQ(nearest("age", Strings{}), std::nullopt);
}

TEST(Nearest, PassesByTextsTooLongToCompare) {
  EXPECT_EQ(nearest(std::string(1'000'000, 'a'), Strings{std::string(1'000'000, 'a')}),
            std::nullopt);
  EXPECT_EQ(nearest("a", Strings{std::string(1'000'000, 'a')}), std::nullopt);
}

TEST(WithCommas, GroupsByThree) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(with_commas(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(HumanBytes, PicksTheUnit) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(512), "512 B");
  EXPECT_EQ(human_bytes(2500), "2.5 kB");
  EXPECT_EQ(human_bytes(8e6), "8.0 MB");
  EXPECT_EQ(human_bytes(123'456'789), "123 MB");
  EXPECT_EQ(human_bytes(999'960'000), "1.0 GB");
  EXPECT_EQ(human_bytes(1.5e9), "1.5 GB");
  EXPECT_EQ(human_bytes(2e21), "2000 EB");
}

}  // namespace
}  // namespace tandem
