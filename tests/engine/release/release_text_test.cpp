// SPDX-License-Identifier: Apache-2.0
// What a release tells the person at a terminal.

#include "tandem/engine/release/release_text.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "tandem/base/text.h"

namespace tandem {
namespace {

using test::contains;

Document guarantee(double epsilon, double delta, const char* neighbors, int rows,
                   bool absent = false) {
  return Document::object({{"epsilon", epsilon},
                           {"delta", delta},
                           {"neighbors", neighbors},
                           {"rows_per_person", rows},
                           {"person_may_be_absent", absent}});
}

TEST(ReleaseText, ThePromiseIsThatOfDifferentialPrivacy) {
  EXPECT_EQ(promise_in_words(guarantee(1.0, 1e-9, "replace-one", 1)),
            "Whatever anybody learns from this release about a person, they could have learnt "
            "nearly as well had that person's row been any other: no outcome is more than 2.72 "
            "times as likely with the one as with the other, but for a probability of 1e-09.");
}

TEST(ReleaseText, ThePromiseNamesWhomItProtects) {
  EXPECT_TRUE(contains(promise_in_words(guarantee(1.0, 0.0, "add-remove", 1)),
                       "had that person not been in the table"));
  EXPECT_TRUE(contains(promise_in_words(guarantee(1.0, 0.0, "replace-one", 1200)),
                       "had that person's rows, up to 1,200, been any other: "));
  EXPECT_TRUE(contains(promise_in_words(guarantee(1.0, 0.0, "replace-one", 5, true)),
                       "been any other, or none: "));
}

TEST(ReleaseText, APurePromiseHasNoException) {
  const std::string words = promise_in_words(guarantee(0.5, 0.0, "replace-one", 1));
  EXPECT_FALSE(contains(words, "probability"));
  EXPECT_TRUE(contains(words, "1.65 times")) << "a bound is rounded up";
}

TEST(ReleaseText, ALargeEpsilonShowsWhatItIsWorth) {
  EXPECT_TRUE(contains(promise_in_words(guarantee(10.0, 0.0, "replace-one", 1)), "22,027 times"));
  EXPECT_TRUE(contains(promise_in_words(guarantee(100.0, 0.0, "replace-one", 1)), "e^100 times"));
}

TEST(ReleaseText, LongLinesGoOnBelowTheirBeginning) {
  EXPECT_EQ(summary_line("rows", "1,000"), "  rows         1,000\n");
  std::string words;
  for (int i = 0; i < 60; ++i) words += "word" + std::to_string(i) + " ";
  words += std::string(120, 'x');
  const std::string text = summary_line("note", words);
  std::string joined;
  for (const auto line : split(text, '\n')) {
    if (line.empty()) continue;
    EXPECT_TRUE(line.size() <= 100 || contains(std::string(line), "xxx")) << line;
    EXPECT_EQ(line.substr(0, 15), joined.empty() ? "  note         " : std::string(15, ' '));
    joined += (joined.empty() ? "" : " ") + std::string(line.substr(15));
  }
  EXPECT_EQ(joined, words);
}

TEST(ReleaseText, NotesCanBeLeftAndWarningsCant) {
  const auto release = Document::parse_json(
      R"({"facts": {"final_choice": "public rows"},
          "warnings": [{"key": "public.few", "text": "Beware."}]})",
      "release.json");
  EXPECT_TRUE(contains(closing_lines(release, Notes::Shown), "  note         The final choice"));
  EXPECT_EQ(closing_lines(release, Notes::Left), "  warning      Beware.\n");
}

TEST(ReleaseText, PublicRowsInTheModelAreSaid) {
  const auto facts = Document::parse_json(R"({"public_row_share": 0.2})", "facts");
  ASSERT_EQ(sentences_of(facts).size(), 1U);
  EXPECT_TRUE(contains(sentences_of(facts)[0], "are 20% of the release, and model.bin holds"));
  EXPECT_TRUE(sentences_of(Document::parse_json(R"({"public_row_share": 0})", "f")).empty());
}

TEST(ReleaseText, SaysWhyAnErrorWasNotMeasured) {
  const auto said = [](Document why) {
    return sentences_of(Document::object({{"not_certified", std::move(why)}})).at(0);
  };
  EXPECT_TRUE(contains(said(Document::object({{"reason", "noise"}, {"stddev", 0.129}})),
                       "a standard deviation of 0.13"));
  EXPECT_TRUE(contains(said(Document::object({{"reason", "rows"}})), "how many rows"));
}

}  // namespace
}  // namespace tandem
