// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "tandem/base/error.h"

namespace tandem {
namespace {

std::string decoded(const Codec& codec, Code code) {
  Rng rng(1);
  std::string text;
  codec.decode(code, rng, text);
  return text;
}

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

}  // namespace
}  // namespace tandem
