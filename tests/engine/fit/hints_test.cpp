// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/fit/hints.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/errors.h"

namespace tandem {
namespace {

using test::contains;

Hint hint(const std::string& toml, const std::vector<std::string>& texts, TextFormat format = {}) {
  const auto column = read_column(Document::parse_toml("name = 'c'\n" + toml, "column"));
  TextCounts odd;
  for (const auto& text : texts) odd.add(text);
  return hint_for(column, format, odd).value_or(Hint{});
}

const std::string kCities = "values = ['Köln', 'München', 'Bonn']\n";
const std::string kSexes = "values = ['F', 'M']\n";
const std::string kKilos = "kind='real'\nmin=0.0\nmax=200.0\nbins=10\n";

TEST(Hints, NameTheEncoding) {
  EXPECT_TRUE(contains(hint(kCities, {"K\xf6ln", "M\xfcnchen"}).text, "encoding = \"latin-1\""));
  const TextFormat latin{.encoding = Encoding::Latin1};
  EXPECT_TRUE(contains(hint(kCities, {"KÃ¶ln"}, latin).text, "encoding = \"utf-8\""));
  EXPECT_TRUE(contains(hint(kCities, {"KÃ¶ln"}).text, "twice"));
  EXPECT_EQ(hint(kCities, {"Str\xe4len"}).key, "encoding");  // no value in Latin-1 either
}

TEST(Hints, NameTheDecimalMark) {
  EXPECT_TRUE(contains(hint(kKilos, {"50,3", "61,25"}).text, "decimal = \",\""));
  const TextFormat comma{.delimiter = ';', .decimal_mark = ','};
  EXPECT_TRUE(contains(hint(kKilos, {"50.3"}, comma).text, "decimal = \".\""));
}

TEST(Hints, KnowMarksBetweenThousandsAndUnits) {
  const std::string income = "kind='integer'\nmin=0\nmax=5000000\nbins=5\n";
  EXPECT_EQ(hint(income, {"1,250,000", "2,000,000"}).key, "thousands");
  EXPECT_EQ(hint(income, {"12 %", "7 %"}).key, "unit");
}

TEST(Hints, KnowCapitalsAndSpaces) {
  const auto lower = hint(kSexes, {"f", "m"});
  EXPECT_EQ(lower.key, "case");
  EXPECT_TRUE(contains(lower.text, "'f' is 'F' in the schema"));
  EXPECT_EQ(hint(kSexes, {" F", "M "}).key, "case");
  EXPECT_EQ(hint("values = ['köln']\n", {"KÖLN"}).key, "case");
}

TEST(Hints, KnowLeadingZeros) {
  EXPECT_TRUE(contains(hint("values = [1, 2, 17]\n", {"01", "02"}).text, "'01' is '1'"));
  EXPECT_EQ(hint("values = ['01', '02']\n", {"1", "2"}).key, "zeros");
  EXPECT_EQ(hint("values = [1, 2]\n", {"1.0", "2.0"}).key, "zeros");
}

TEST(Hints, TellCodesFromLabels) {
  EXPECT_EQ(hint(kSexes, {"0", "1"}).key, "codes");
  EXPECT_EQ(hint(kSexes, {"1", "2"}).key, "codes");
  EXPECT_EQ(hint(kSexes, {"17", "99"}).key, "");
  EXPECT_EQ(hint("size = 2\n", {"F", "M"}).key, "labels");
  EXPECT_EQ(hint("size = 2\nnull = ''\n", {"F", "M"}).key, "labels");
  EXPECT_EQ(hint("size = 2\n", {"5", "6"}).key, "");
}

TEST(Hints, KnowMissingValues) {
  EXPECT_TRUE(contains(hint(kKilos, {"NA", "NA"}).text, "null = \"NA\""));
  EXPECT_TRUE(contains(hint(kSexes, {""}).text, "null = true"));
}

TEST(Hints, KnowOtherFormsOfDates) {
  const std::string date = "kind='date'\nmin='2020-01-01'\nmax='2020-12-31'\n";
  EXPECT_TRUE(contains(hint(date, {"31.12.2020", "01.02.2020"}).text, "\"%d.%m.%Y\""));
  EXPECT_TRUE(contains(hint(date, {"12/31/2020"}).text, "\"%m/%d/%Y\""));
  EXPECT_TRUE(contains(hint(date, {"20201231"}).text, "\"%Y%m%d\""));
}

TEST(Hints, ExplainMostOfTheTextsOrNothing) {
  EXPECT_EQ(hint(kSexes, {"f", "x", "y"}).key, "");
  EXPECT_EQ(hint(kSexes, {"f", "m", "y"}).key, "case");
}

TEST(Hints, ShowBytesThatAreNoText) {
  EXPECT_EQ(shown("K\xf6ln"), "'K\\xf6ln'");
  EXPECT_EQ(shown("Köln"), "'Köln'");
  EXPECT_EQ(shown("a\nb"), "'a\\x0ab'");
  EXPECT_EQ(shown(std::string(100, 'x')), "'" + std::string(40, 'x') + "...'");
}

TEST(Hints, KnowSurveyWeights) {
  for (const char* name : {"weight", "PWGTP", "pwgtp17", "hh_wgt", "fnlwgt", "Hochrechnungsfaktor",
                           "GEWICHT", "person-weight"}) {
    EXPECT_TRUE(looks_like_weight(name, "")) << name;
  }
  EXPECT_TRUE(looks_like_weight("W1", "Sampling weight of the person"));
  for (const char* name : {"age", "weightless", "body_weight", "birth weight", "weight_kg"}) {
    EXPECT_FALSE(looks_like_weight(name, "")) << name;
  }
  EXPECT_FALSE(looks_like_weight("weight", "in kg, without shoes"));
}

}  // namespace
}  // namespace tandem
