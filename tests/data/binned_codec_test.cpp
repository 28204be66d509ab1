// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/binned_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/codecs.h"
#include "support/errors.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::broken_by_code;
using test::broken_by_text;
using test::decoded;
using test::error_of;

// Whole numbers 0 to 99: a range of ten, one of a single number, and the rest.
std::unique_ptr<Codec> ages() {
  return binned_codec(number_line(0), {.starts = {0.0, 10.0, 11.0}, .last = 99.0}, 1);
}

TEST(BinnedCodec, PutsEveryPointIntoItsRange) {
  const auto codec = ages();
  const struct {
    const char* text;
    Encoded expected;
  } cases[] = {{"0", {0}},
               {" 9 ", {0}},
               {"9.0", {0}},
               {"10", {1}},
               {"11", {2}},
               {"99", {2}},
               {"1e1", {1}},
               {"-0", {0}},
               {"9.5", {0, Fit::Adapted}},
               {"10.5", {1, Fit::Adapted}},
               {"-1", {0, Fit::Adapted}},
               {"100", {2, Fit::Adapted}},
               {"1e999", {2, Fit::Adapted}},
               {"-1e999", {0, Fit::Adapted}},
               {"", {0, Fit::Unfit}},
               {"N", {0, Fit::Unfit}},
               {"nan", {0, Fit::Unfit}},
               {"0x10", {0, Fit::Unfit}}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(codec->encode(text), expected) << text;
  EXPECT_EQ(codec->labels(), (std::vector<std::string>{"0 to 9", "10", "11 to 99"}));
  EXPECT_EQ(codec->expected(), "a whole number from 0 to 99");
  EXPECT_TRUE(codec->numeric());
}

TEST(BinnedCodec, WholeNumbersWrittenWithDecimalsStayWhole) {
  const auto codec = binned_codec(number_line(1), {.starts = {0.0, 10.0}, .last = 20.0}, 10, 10);
  EXPECT_EQ(codec->labels(), (std::vector<std::string>{"0.0 to 9.0", "10.0 to 20.0"}));
  EXPECT_EQ(codec->encode("7.5"), (Encoded{0, Fit::Adapted}));
  EXPECT_EQ(codec->encode("7"), Encoded{0});
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_TRUE(decoded(*codec, 1, seed).ends_with(".0"));
  }
  EXPECT_EQ(error_of<UsageError>([] {
              binned_codec(number_line(1), {.starts = {0.0, 0.2, 0.8}, .last = 1.0}, 10, 10);
            }),
            "has no value in its range 2 of 3; use fewer or wider ones");
}

TEST(BinnedCodec, DrawsMultiplesOfTheStepEvenly) {
  // 100 to 1000 by 250: 250, 500, 750 and 1000; below 250 there is none, so any number is drawn.
  const auto codec = binned_codec(number_line(0), {.starts = {100.0, 250.0}, .last = 1000.0}, 250);
  std::map<std::string, int> drawn;
  std::set<std::string> anything;
  Rng rng(1);
  for (int i = 0; i < 4000; ++i) {
    std::string text;
    codec->decode(1, rng, text);
    ++drawn[text];
    codec->decode(0, rng, text = {});
    anything.insert(text);
  }
  ASSERT_EQ(drawn.size(), 4U);
  for (const auto& [text, count] : drawn) EXPECT_NEAR(count, 1000, 150) << text;
  EXPECT_EQ(anything.size(), 150U);
}

TEST(BinnedCodec, DrawsAsThePublicValuesLie) {
  const auto codec = binned_codec(number_line(0), {.starts = {0.0, 50.0, 90.0}, .last = 99.0}, 1);
  // A sorted file with more values than are kept: a sample of all, not its beginning.
  std::vector<std::string> texts(20000, "10");
  texts.resize(40000, "20");
  texts.resize(60000, "60.4");
  texts.resize(80000, "200");
  texts.insert(texts.end(), {"x", "-5", ""});
  const auto drawing = codec->drawing_as(texts);
  ASSERT_NE(drawing, nullptr);
  std::map<std::string, int> drawn;
  Rng rng(2);
  for (int i = 0; i < 1000; ++i) {
    std::string text;
    drawing->decode(0, rng, text);
    ++drawn[text];
  }
  EXPECT_NEAR(drawn["10"], 500, 80);
  EXPECT_NEAR(drawn["20"], 500, 80);
  EXPECT_EQ(decoded(*drawing, 1), "61");
  EXPECT_EQ(decoded(*drawing, 2), "99");  // beyond the bounds: the bound
  for (const auto& text : test::odd_texts()) EXPECT_EQ(broken_by_text(*drawing, text), "");
  const auto nothing = codec->drawing_as({});  // no public value in a range: evenly
  EXPECT_EQ(broken_by_code(*nothing, 2), "");
}

TEST(BinnedCodec, RefusesRangesWithoutAValue) {
  const auto error = [](Ranges ranges) {
    return error_of<UsageError>([&] { binned_codec(number_line(0), std::move(ranges), 1); });
  };
  const auto line = number_line(0);
  EXPECT_EQ(error({.starts = {0.0, 0.2, 0.8}, .last = 5.0}),
            "has no value in its range 2 of 3; use fewer or wider ones");
  EXPECT_EQ(error(Ranges::equal(*line, 0, 9, 1, 11)),
            "has no value in its range 1 of 11; use fewer or wider ones");
  EXPECT_EQ(error({.starts = {0.1}, .last = 0.9}),
            "has no value in its range 1 of 1; use fewer or wider ones");
}

TEST(BinnedCodec, ComparesARangeByAllOfItsValues) {
  using enum Truth;
  const auto codec = ages();
  const struct {
    Comparison comparison;
    const char* text;
    std::vector<Truth> truth;
  } cases[] = {{Comparison::Less, "10", {Always, Never, Never}},
               {Comparison::Less, "5", {Partly, Never, Never}},
               {Comparison::Less, "1e999", {Always, Always, Always}},
               {Comparison::LessOrEqual, "9", {Always, Never, Never}},
               {Comparison::Greater, "9", {Never, Always, Always}},
               {Comparison::GreaterOrEqual, "10", {Never, Always, Always}},
               {Comparison::Equal, "10", {Never, Always, Never}},
               {Comparison::Equal, "5", {Partly, Never, Never}},
               {Comparison::NotEqual, "10", {Always, Never, Always}},
               {Comparison::NotEqual, "5", {Partly, Always, Always}}};
  for (const auto& [comparison, text, truth] : cases) {
    EXPECT_EQ(codec->compare(comparison, text), truth) << text;
  }
  EXPECT_EQ(error_of<UsageError>([&] { codec->compare(Comparison::Less, "N"); }),
            "is compared with 'N', which is not a whole number");
}

// Any numbers between bounds: how many decimals, where the ranges lie, which step.
struct AnyNumbers {
  int decimals = *rc::gen::inRange(0, kMostDecimals + 1);
  std::int64_t stride = 1;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;
  std::unique_ptr<Codec> codec;

  AnyNumbers() {
    const auto line = number_line(decimals);
    if (decimals > 0 && decimals < 6 && *rc::gen::arbitrary<bool>()) stride = line->tick_from(1.0);
    const auto width = *rc::gen::element<std::int64_t>(1, 2, 7, 100, 1'000'000, kLargestTick / 4);
    const auto most = (kLargestTick - 1) / stride / 2;
    first = *rc::gen::inRange(-most, most) * stride;
    last = first + *rc::gen::inRange<std::int64_t>(0, std::min(width, most)) * stride;
    step = stride * *rc::gen::element<std::int64_t>(1, 1, 5, 250);
    codec = binned_codec(number_line(decimals), any_ranges(*line), step, stride);
  }

 private:
  Ranges any_ranges(const ValueLine& line) const {
    const auto values = (last - first) / stride + 1;
    const auto kind = *rc::gen::inRange(0, 3);
    if (kind == 0 && values <= 1000) return Ranges::each(line, first, last, stride);
    const auto most = std::min<std::int64_t>(values, 50);
    const auto count = static_cast<Code>(*rc::gen::inRange<std::int64_t>(1, most + 1));
    if (kind == 1) return Ranges::equal(line, first, last, stride, count);
    Ranges out{.starts = {line.point(first)}, .last = line.point(last)};
    std::set<std::int64_t> edges;
    for (Code i = 1; i < count; ++i) edges.insert(*rc::gen::inRange<std::int64_t>(0, values));
    edges.erase(0);
    for (const auto edge : edges) out.starts.push_back(line.point(first + edge * stride));
    return out;
  }
};

RC_GTEST_PROP(BinnedCodec, DecodesInsideTheRangeAndReadsItBack, ()) {
  const AnyNumbers numbers;
  const auto& codec = *numbers.codec;
  const auto line = number_line(numbers.decimals);
  for (const Code code : {Code{0}, codec.size() / 2, codec.size() - 1}) {
    const auto text = decoded(codec, code, code);
    RC_ASSERT(broken_by_code(codec, code, code).empty());
    const auto point = line->parse(text);
    RC_ASSERT(point.has_value());
    const auto tick = line->tick_from(*point);
    RC_ASSERT(line->text(tick) == text);  // in the column's own digits
    RC_ASSERT(numbers.first <= tick && tick <= numbers.last);
    RC_ASSERT(tick % numbers.stride == 0);
  }
}

RC_GTEST_PROP(BinnedCodec, ReadsEveryValueBetweenItsBoundsExactlyAndInOrder, ()) {
  const AnyNumbers numbers;
  const auto& codec = *numbers.codec;
  const auto line = number_line(numbers.decimals);
  Code before = 0;
  const auto values = (numbers.last - numbers.first) / numbers.stride;
  for (std::int64_t i = 0; i <= std::min<std::int64_t>(values, 200); ++i) {
    const auto tick = numbers.first + (values <= 200 ? i : values / 200 * i) * numbers.stride;
    const auto text = line->text(tick);
    RC_ASSERT(codec.encode(text).fit == Fit::Exact);
    RC_ASSERT(codec.encode(text).code >= before);
    before = codec.encode(text).code;
    RC_ASSERT(broken_by_text(codec, text).empty());
  }
  RC_ASSERT(codec.encode(line->text(numbers.first)) == Encoded{0});
  RC_ASSERT(codec.encode(line->text(numbers.last)) == Encoded{codec.size() - 1});
}

RC_GTEST_PROP(BinnedCodec, GivesEveryTextACode, (const std::string& text)) {
  const AnyNumbers numbers;
  RC_ASSERT(broken_by_text(*numbers.codec, text).empty());
}

TEST(BinnedCodec, GivesOddTextsACode) {
  for (const int decimals : {0, 2, 15}) {
    const auto line = number_line(decimals);
    const auto codec = binned_codec(
        number_line(decimals), Ranges::equal(*line, 1 - kLargestTick, kLargestTick - 1, 1, 9), 1);
    for (const auto& text : test::odd_texts()) EXPECT_EQ(broken_by_text(*codec, text), "");
    for (Code code = 0; code < 9; ++code) EXPECT_EQ(broken_by_code(*codec, code), "");
  }
}

RC_GTEST_PROP(BinnedCodec, DatesKeepTheirPattern, ()) {
  const auto pattern = *rc::gen::element<std::string>("%Y", "%m/%Y", "%Y-%m-%d", "%d%m%Y",
                                                      "%Y-%m-%d %H:%M:%S", "%H h %d.%m.%Y");
  const auto line = date_line(pattern);
  // Ticks of every pattern within the years 0 to 9999, around 1970.
  const std::int64_t most = pattern == "%Y" ? 1970 : pattern == "%m/%Y" ? 23640 : 700'000;
  const auto first = *rc::gen::inRange(-most, most);
  const auto last = *rc::gen::inRange(first, most + 1);
  const auto count =
      *rc::gen::inRange<std::int64_t>(1, std::min<std::int64_t>(last - first, 60) + 2);
  const auto codec = binned_codec(
      date_line(pattern), Ranges::equal(*line, first, last, 1, static_cast<Code>(count)), 1);
  for (Code code = 0; code < codec->size(); ++code) {
    const auto text = decoded(*codec, code, code);
    RC_ASSERT(broken_by_code(*codec, code, code).empty());
    const auto point = line->parse(text);
    RC_ASSERT(point.has_value());
    RC_ASSERT(*point >= static_cast<double>(first) && *point <= static_cast<double>(last));
    RC_ASSERT(line->text(static_cast<std::int64_t>(*point)) == text);
  }
  RC_ASSERT(!codec->numeric());
}

}  // namespace
}  // namespace tandem
