// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "support/codecs.h"
#include "support/errors.h"
#include "tandem/base/document.h"
#include "tandem/base/error.h"
#include "tandem/data/binned_codec.h"
#include "tandem/data/column_schema.h"

namespace tandem {
namespace {

using test::broken_by_code;
using test::broken_by_text;
using test::decoded;
using test::error_of;

struct Expected {
  const char* text;
  Code code;
  bool repaired;
};

TEST(CodedCodec, TakesWholeNumbersAsTheyAre) {
  const auto codec = coded_codec(85);
  EXPECT_EQ(codec->size(), 85U);
  EXPECT_TRUE(codec->labels().empty());
  EXPECT_EQ(decoded(*codec, 7), "7");
  EXPECT_EQ(codec->expected(), "a whole number 0 to 84");
  const Expected cases[] = {
      {"0", 0, false},         {"84", 84, false}, {"007", 7, false}, {" 7\t", 7, false},
      {"+7", 7, false},        {"7.0", 7, false}, {"-0", 0, false},  {"00000000000084", 84, false},
      {"000000084", 84, false}};
  for (const auto& [text, code, repaired] : cases) {
    EXPECT_EQ(codec->encode(text).code, code) << text;
    EXPECT_EQ(codec->encode(text).fit, repaired ? Fit::Unfit : Fit::Exact) << text;
  }
}

TEST(CodedCodec, RepairsToTheNearerEndOrZero) {
  const auto codec = coded_codec(85);
  const Expected cases[] = {{"85", 84, true},
                            {"999999999", 84, true},
                            {"4294967296", 84, true},
                            {"4294967297", 84, true},
                            {"9223372036854775808", 84, true},
                            {"99999999999999999999999999", 84, true},
                            {"+99999999999999999999999999", 84, true},
                            {"99999999999999999999999999.0", 84, true},
                            {"-1", 0, true},
                            {"-99999999999999999999999999", 0, true},
                            {"", 0, true},
                            {" ", 0, true},
                            {"x", 0, true},
                            {"1x", 0, true},
                            {"1.5", 0, true},
                            {"1e1", 0, true},
                            {"+-1", 0, true},
                            {".0", 0, true},
                            {"99999999999999999999999999x", 0, true},
                            {"\xff", 0, true}};
  for (const auto& [text, code, repaired] : cases) {
    EXPECT_EQ(codec->encode(text).code, code) << text;
    EXPECT_EQ(codec->encode(text).fit, repaired ? Fit::Unfit : Fit::Exact) << text;
  }
}

RC_GTEST_PROP(CodedCodec, GivesEveryTextACode, (const std::string& text)) {
  const Code size = *rc::gen::element<Code>(1, 2, 10, 300, 1U << 31);
  RC_ASSERT(coded_codec(size)->encode(text).code < size);
}

RC_GTEST_PROP(CodedCodec, ReadsWhatItWrites, (Code bits)) {
  const auto codec = coded_codec(1U << 31);
  const Code code = bits >> *rc::gen::inRange(1, 32);
  const auto back = codec->encode(decoded(*codec, code));
  RC_ASSERT(back.code == code);
  RC_ASSERT(back.fit == Fit::Exact);
}

TEST(LabelledCodec, KnowsItsValuesExactly) {
  const auto codec = labelled_codec({"F", "M", "", "other"}, 3);
  EXPECT_EQ(codec->size(), 4U);
  EXPECT_EQ(codec->labels().size(), 4U);
  EXPECT_EQ(decoded(*codec, 1), "M");
  EXPECT_EQ(codec->encode("M").code, 1U);
  EXPECT_EQ(codec->encode("M").fit, Fit::Exact);
  EXPECT_EQ(codec->encode("").code, 2U);
  EXPECT_EQ(codec->encode("").fit, Fit::Exact);
  for (const char* unknown : {"m", " M", "X"}) {
    EXPECT_EQ(codec->encode(unknown).code, 3U);
    EXPECT_EQ(codec->encode(unknown).fit, Fit::Unfit);
  }
  EXPECT_EQ(codec->expected(), "one of 'F', 'M', '' and 'other'");
}

TEST(LabelledCodec, RefusesRepeatedValuesAndAnUnknownUnknown) {
  EXPECT_THROW(labelled_codec({"a", "b", "a"}, 0), InternalError);
  EXPECT_THROW(labelled_codec({"a", "b"}, 2), InternalError);
  EXPECT_THROW(labelled_codec({}, 0), InternalError);
}

TEST(LabelledCodec, ComparesByOrderOnlyWhenItHasOne) {
  using enum Truth;
  const auto ordinal = labelled_codec({"low", "mid", "high"}, 0, true);
  EXPECT_EQ(ordinal->compare(Comparison::GreaterOrEqual, "mid"),
            (std::vector<Truth>{Never, Always, Always}));
  const auto nominal = labelled_codec({"a", "b", "c"}, 0);
  EXPECT_EQ(nominal->compare(Comparison::NotEqual, "b"),
            (std::vector<Truth>{Always, Never, Always}));
  EXPECT_EQ(error_of<UsageError>([&] { nominal->compare(Comparison::Less, "b"); }),
            "has values without an order; compare with = or !=, or make it ordinal");
  EXPECT_EQ(error_of<UsageError>([&] { ordinal->compare(Comparison::Equal, "top"); }),
            "has no value 'top'");
}

TEST(LabelledCodec, HoldsThousandsOfValues) {
  std::vector<std::string> values;
  for (int i = 0; i < 100'000; ++i) values.push_back("v" + std::to_string(i));
  const auto codec = labelled_codec(values, 7);
  for (Code code = 0; code < codec->size(); code += 999)
    EXPECT_EQ(broken_by_code(*codec, code), "");
  EXPECT_EQ(codec->encode("v100000"), (Encoded{7, Fit::Unfit}));
}

TEST(BooleanCodec, UnderstandsTheUsualWords) {
  const auto codec = boolean_codec("false", "true");
  for (const char* text : {"false", "False", " FALSE ", "no", "F", "n", "0"}) {
    EXPECT_EQ(codec->encode(text), Encoded{0}) << text;
  }
  for (const char* text : {"true", "TRUE", "yes", "\tY", "t", "1"}) {
    EXPECT_EQ(codec->encode(text), Encoded{1}) << text;
  }
  for (const char* text : {"", "2", "00", "1.0", "tru", "y e s", "N/A"}) {
    EXPECT_EQ(codec->encode(text), (Encoded{0, Fit::Unfit})) << text;
  }
  EXPECT_EQ(codec->labels(), (std::vector<std::string>{"false", "true"}));
  EXPECT_EQ(codec->expected(), "'false' or 'true'");
  EXPECT_EQ(codec->compare(Comparison::Equal, "yes"),
            (std::vector<Truth>{Truth::Never, Truth::Always}));
}

TEST(BooleanCodec, TextsOfItsOwnAreAllThatItKnows) {
  const auto crossed = boolean_codec("Y", "N");  // 'N' means true here
  for (const char* text : {"Y", "y", " y"}) EXPECT_EQ(crossed->encode(text), Encoded{0}) << text;
  for (const char* text : {"N", "n", " N"}) EXPECT_EQ(crossed->encode(text), Encoded{1}) << text;
  const auto cased = boolean_codec("a", "A");
  EXPECT_EQ(cased->encode(" A"), Encoded{1});
  const auto coded = boolean_codec("1", "2");
  EXPECT_EQ(coded->encode(" 1 "), Encoded{0});
  for (const char* text : {"0", "N", "true"}) {
    EXPECT_EQ(coded->encode(text), (Encoded{0, Fit::Unfit})) << text;
  }
  const auto spaced = boolean_codec(" no", "");
  EXPECT_EQ(spaced->encode(""), Encoded{1});
  EXPECT_EQ(spaced->encode("no"), Encoded{0});
  EXPECT_THROW(boolean_codec("x", "x"), InternalError);
}

RC_GTEST_PROP(BooleanCodec, ReadsWhatItWrites, (const std::string& no, const std::string& yes)) {
  RC_PRE(no != yes);
  const auto codec = boolean_codec(no, yes);
  RC_ASSERT(broken_by_code(*codec, 0).empty());
  RC_ASSERT(broken_by_code(*codec, 1).empty());
}

std::unique_ptr<Codec> percent() {
  const auto line = number_line(0);
  return binned_codec(number_line(0), Ranges::equal(*line, 0, 500, 1, 5), 1);
}

TEST(ExtendedCodec, HasACodeForEachExtra) {
  const auto codec =
      extended_codec(percent(), {.specials = {"N", "501"}, .other = "?", .nulls = {"", "NA"}});
  EXPECT_EQ(codec->size(), 9U);
  EXPECT_EQ(codec->labels()[5], "N");
  EXPECT_EQ(codec->labels()[8], "");
  EXPECT_EQ(codec->expected(), "a whole number from 0 to 500, nor 'N' and '501'");
  const struct {
    const char* text;
    Encoded expected;
  } cases[] = {{"0", {0}},
               {"500", {4}},
               {"N", {5}},
               {"501", {6}},  // beside the range, though it is a number
               {"502", {4, Fit::Adapted}},
               {"?", {7}},
               {"n", {7, Fit::Adapted}},
               {" N", {7, Fit::Adapted}},
               {"", {8}},
               {"NA", {8}}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(codec->encode(text), expected) << text;
  EXPECT_EQ(decoded(*codec, 8), "");
  for (Code code = 0; code < 9; ++code) EXPECT_EQ(broken_by_code(*codec, code), "");
}

TEST(ExtendedCodec, WhatFitsNowhereIsOtherThenNullThenWhatTheInnerSays) {
  const auto code_of = [](Extras extras, std::string_view text) {
    return extended_codec(labelled_codec({"a", "b"}, 1), std::move(extras))->encode(text);
  };
  EXPECT_EQ(code_of({.specials = {"s"}}, "x"), (Encoded{1, Fit::Unfit}));
  EXPECT_EQ(code_of({.nulls = {""}}, "x"), (Encoded{2, Fit::Unfit}));
  EXPECT_EQ(code_of({.nulls = {""}, .unfit_stays_inside = true}, "x"), (Encoded{1, Fit::Unfit}));
  EXPECT_EQ(code_of({.other = "o", .nulls = {""}}, "x"), (Encoded{2, Fit::Adapted}));
}

TEST(ExtendedCodec, RefusesATextWithTwoMeanings) {
  const auto error = [](Extras extras) {
    return error_of<UsageError>([&] { extended_codec(percent(), std::move(extras)); });
  };
  EXPECT_EQ(error({.specials = {"12"}}),
            "names '12' beside its values, but that is one of them; name it once");
  EXPECT_EQ(error({.specials = {"N", "N"}}), "names 'N' twice; keep one");
  EXPECT_EQ(error({.specials = {"N"}, .other = "N"}), "names 'N' twice; keep one");
  EXPECT_EQ(error({.specials = {""}, .nulls = {""}}), "names '' twice; keep one");
  EXPECT_EQ(error({.other = "x", .nulls = {"y", "x"}}), "names 'x' twice; keep one");
}

TEST(ExtendedCodec, ExtrasHaveNoPlaceInTheOrder) {
  using enum Truth;
  const auto codec =
      extended_codec(labelled_codec({"1", "2"}, 0, true), {.specials = {"N"}, .nulls = {"", "NA"}});
  EXPECT_EQ(codec->compare(Comparison::Less, "2"),
            (std::vector<Truth>{Always, Never, Never, Never}));
  EXPECT_EQ(codec->compare(Comparison::NotEqual, "2"),
            (std::vector<Truth>{Always, Never, Always, Always}));
  EXPECT_EQ(codec->compare(Comparison::Equal, "NA"),
            (std::vector<Truth>{Never, Never, Never, Always}));
  EXPECT_EQ(codec->compare(Comparison::NotEqual, "N"),
            (std::vector<Truth>{Always, Always, Never, Always}));
  EXPECT_EQ(error_of<UsageError>([&] { codec->compare(Comparison::Less, "N"); }),
            "has 'N' beside its range; compare it with = or !=");
}

TEST(ExtendedCodec, DrawsAsPublicValuesInsideAndLeavesExtrasAlone) {
  const auto codec = extended_codec(percent(), {.specials = {"N", "501"}});
  std::vector<std::string> texts(10'000, "7");
  texts.insert(texts.end(), {"N", "501", "x"});
  const auto drawing = codec->drawing_as(texts);
  ASSERT_NE(drawing, nullptr);
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(decoded(*drawing, 0, seed), "7");
  EXPECT_EQ(decoded(*drawing, 6), "501");
  EXPECT_EQ(extended_codec(coded_codec(3), {.nulls = {""}})->drawing_as(texts), nullptr);
}

TEST(ExtendedCodec, LabelsCodesOfPlainSizes) {
  const auto codec = extended_codec(coded_codec(2), {.nulls = {""}});
  EXPECT_EQ(codec->labels(), (std::vector<std::string>{"0", "1", ""}));
  EXPECT_TRUE(extended_codec(coded_codec(1U << 31), {.nulls = {""}})->labels().empty());
}

// One of each kind, as it is and with extras.
std::vector<std::unique_ptr<Codec>> all_codecs(const Extras& extras) {
  std::vector<std::unique_ptr<Codec>> out;
  for (const bool extended : {false, true}) {
    const auto add = [&](std::unique_ptr<Codec> codec) {
      out.push_back(extended ? extended_codec(std::move(codec), extras) : std::move(codec));
    };
    const auto dates = date_line("%d.%m.%Y");
    add(coded_codec(1));
    add(coded_codec(1U << 31));
    add(labelled_codec({"a", "A", " a", "b\xff", "é"}, 2));
    add(boolean_codec("no", "yes"));
    add(percent());
    add(binned_codec(number_line(2), {.starts = {-1.5, 0.25}, .last = 2.5}, 25));
    add(binned_codec(date_line("%d.%m.%Y"), Ranges::equal(*dates, -900, 900, 1, 7), 1));
  }
  return out;
}

TEST(Codecs, GiveOddTextsACodeThatReadsBack) {
  for (const auto& codec :
       all_codecs({.specials = {"special", "1e9"}, .other = " ", .nulls = {"", "-"}})) {
    for (const auto& text : test::odd_texts()) {
      EXPECT_EQ(broken_by_text(*codec, text), "") << codec->expected();
    }
    for (const Code code : {Code{0}, codec->size() / 2, codec->size() - 1}) {
      EXPECT_EQ(broken_by_code(*codec, code), "") << codec->expected();
    }
  }
}

RC_GTEST_PROP(Codecs, GiveEveryTextACodeThatReadsBack, (const std::string& text)) {
  static const auto kCodecs = all_codecs({.specials = {"special"}, .other = {}, .nulls = {""}});
  for (const auto& codec : kCodecs) RC_ASSERT(broken_by_text(*codec, text).empty());
}

// Where a reader of the same table has typed cells, an empty one is no value: so it is as a text.
TEST(Codec, AnEmptyTextIsNoValueUnlessItIsListed) {
  const auto code_of = [](const std::string& keys, const std::string& text) {
    const auto column = read_column(Document::parse_toml("name = 'x'\n" + keys, "column"));
    return column.codec->encode(text).code;
  };
  const std::string listed = "values = ['a', 'b']\nother = 'else'\n";  // codes 0, 1 and 2
  EXPECT_EQ(code_of(listed + "null = ['NA', '-']", "NA"), 3U);
  EXPECT_EQ(code_of(listed + "null = ['NA', '-']", ""), 3U);
  EXPECT_EQ(code_of(listed + "null = true", ""), 3U);
  EXPECT_EQ(code_of(listed, ""), 2U);  // there is no code for no value
  EXPECT_EQ(code_of("values = ['a', '']\nother = 'else'\nnull = 'NA'", ""), 1U);
  EXPECT_EQ(code_of(listed + "special = ['']\nnull = 'NA'", ""), 2U);
  EXPECT_EQ(
      code_of("kind = 'integer'\nmin = 0\nmax = 9\nbins = 2\nother = 'else'\nnull = '-1'", ""), 3U);
}

}  // namespace
}  // namespace tandem
