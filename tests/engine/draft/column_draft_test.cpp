// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/draft/column_draft.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/errors.h"
#include "tandem/data/column_schema.h"

namespace tandem {
namespace {

using test::contains;

ColumnDraft draft(const std::vector<std::string>& texts, const CodebookColumn* codebook = nullptr) {
  ColumnProfile profile;
  for (const auto& text : texts) profile.add(text);
  auto out = draft_column("c", profile, codebook);
  if (!out.column.is_null()) {
    // Every draft is a schema that its own texts fit.
    const auto column = read_column(out.column);
    for (const auto& text : texts) {
      EXPECT_NE(column.codec->encode(text).fit, Fit::Unfit) << text << " " << out.column.to_json();
    }
  }
  return out;
}

std::string json(const ColumnDraft& draft) { return draft.column.to_json(); }

std::vector<std::string> repeated(const std::vector<std::string>& texts, int times) {
  std::vector<std::string> out;
  for (int i = 0; i < times; ++i) out.insert(out.end(), texts.begin(), texts.end());
  return out;
}

std::vector<std::string> numbers(int first, int last, int step, const std::string& suffix = "") {
  std::vector<std::string> out;
  for (int i = first; i <= last; i += step) out.push_back(std::to_string(i) + suffix);
  return out;
}

TEST(ColumnDraft, WordsAreCategoriesWithRoomForOthers) {
  const auto out = draft(repeated({"red", "green", "blue", ""}, 30));
  EXPECT_EQ(json(out), R"({"name":"c","kind":"categorical","values":["blue","green","red"],)"
                       R"("other":"other","null":[""]})");
  ASSERT_EQ(out.doubts.size(), 1U);
  EXPECT_TRUE(contains(out.doubts[0], "others become 'other'"));
  EXPECT_TRUE(contains(json(draft(repeated({"other", "x"}, 9))), R"x("other":"(other)")x"));
}

TEST(ColumnDraft, FewWholeNumbersHaveACodeEach) {
  const auto out = draft(repeated(numbers(0, 94, 1), 2));
  EXPECT_EQ(json(out), R"({"name":"c","kind":"integer","min":0,"max":106})");
  EXPECT_EQ(out.bounds, "0 to 106 (public numbers 0 to 94)");
}

TEST(ColumnDraft, ManyNumbersAreCutByPublicShares) {
  auto texts = numbers(0, 100000, 100);
  texts.emplace_back("N");
  const auto out = draft(texts);
  const auto column = read_column(out.column);
  EXPECT_EQ(out.column.at("kind").as_string(), "integer");
  EXPECT_EQ(out.column.at("special").to_json(), R"(["N"])");
  EXPECT_EQ(column.codec->size(), 18U);
  EXPECT_EQ(out.column.at("edges").as_array().size(), 16U);
  EXPECT_EQ(out.column.at("inside").as_string(), "public");
}

TEST(ColumnDraft, DecimalsKeepTheirDigits) {
  const auto whole = draft(numbers(-5000, 90000, 250, ".0"));
  EXPECT_EQ(whole.column.at("kind").as_string(), "integer");
  EXPECT_EQ(whole.column.at("decimals").as_integer(), 1);
  const auto real = draft({"0.25", "1.5", "17.75", "3"});
  EXPECT_EQ(real.column.at("kind").as_string(), "real");
  EXPECT_EQ(real.column.at("decimals").as_integer(), 2);
  EXPECT_EQ(real.column.at("max").as_number(), 27.0);
  EXPECT_EQ(draft({"-2.25"}).column.at("bins").as_integer(), 5);
  EXPECT_EQ(draft({"12345678901234567", "1"}).column.at("kind").as_string(), "categorical");
}

TEST(ColumnDraft, CodesThatLookLikeNumbersStayCodes) {
  EXPECT_EQ(draft(repeated({"007", "012", "101"}, 20)).column.at("kind").as_string(),
            "categorical");
  EXPECT_EQ(draft(repeated({"100", "205", "9920"}, 20)).column.at("kind").as_string(),
            "categorical");
}

TEST(ColumnDraft, BooleansAndDates) {
  EXPECT_EQ(json(draft({"yes", "no", "no", "NA"})),
            R"({"name":"c","kind":"boolean","values":["no","yes"],"null":["NA"]})");
  EXPECT_EQ(draft({"F", "F"}).column.at("kind").as_string(), "categorical");
  const auto iso = draft({"2019-01-31", "1999-12-01", "", "2020-02-29"});
  EXPECT_EQ(iso.column.at("kind").as_string(), "date");
  EXPECT_EQ(iso.column.at("pattern").as_string(), "%Y-%m-%d");
  EXPECT_EQ(iso.column.at("min").as_string(), "1989-12-01");
  EXPECT_EQ(iso.column.at("max").as_string(), "2030-02-28");
  const auto unclear = draft({"01/02/2019", "03/04/2019"});
  EXPECT_TRUE(contains(unclear.doubts.at(0), "'%d/%m/%Y' and '%m/%d/%Y'"));
  EXPECT_EQ(draft({"13/02/2019", "03/04/2019"}).column.at("pattern").as_string(), "%d/%m/%Y");
}

TEST(ColumnDraft, IdentifiersEmptyAndLongTextsAreLeftOut) {
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("person-" + std::to_string(i));
  for (const auto& texts :
       {names, std::vector<std::string>{"", "NA"}, {std::string(1000, 'x'), "y"}}) {
    const auto out = draft(texts);
    EXPECT_TRUE(out.column.is_null());
    EXPECT_TRUE(contains(out.doubts.at(0), "Left out"));
  }
}

TEST(ColumnDraft, TheCodebookDecides) {
  const CodebookColumn ratio{.name = "c",
                             .description = "ratio",
                             .values = {{"N", "none"}, {"501", "above"}},
                             .min = 0.0,
                             .max = 500.0};
  const auto out = draft(repeated({"17", "N", "501", "0"}, 40), &ratio);
  EXPECT_EQ(out.column.at("max").as_integer(), 500);
  EXPECT_EQ(out.column.at("special").to_json(), R"(["N","501"])");
  EXPECT_EQ(out.labels.size(), 2U);
  EXPECT_TRUE(out.doubts.empty());

  const CodebookColumn sex{.name = "c",
                           .description = "",
                           .values = {{"1", "Male"}, {"2", "Female"}},
                           .min = {},
                           .max = {}};
  EXPECT_EQ(draft({"2", "2"}, &sex).column.at("values").to_json(), R"(["1","2"])");
  const auto extra = draft({"2", "3"}, &sex);
  EXPECT_EQ(extra.column.at("values").to_json(), R"(["1","2","3"])");
  EXPECT_TRUE(contains(extra.doubts.at(0), "'3'"));

  const CodebookColumn inside{
      .name = "c", .description = "", .values = {{"0", "no children"}}, .min = 0.0, .max = 9.0};
  EXPECT_TRUE(contains(draft({"0", "3"}, &inside).doubts.at(0), "lies inside"));

  const CodebookColumn narrow{.name = "c", .description = "", .values = {}, .min = 0.0, .max = 9.0};
  EXPECT_TRUE(contains(draft({"0", "30", "x"}, &narrow).doubts.at(0), "'x'"));
  EXPECT_TRUE(contains(draft({"0", "30", "x"}, &narrow).doubts.at(1), "nearer bound"));
}

}  // namespace
}  // namespace tandem
