// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/codebook.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

Codebook from_json(const std::string& text) {
  return Codebook::from_document(Document::parse_json(text, "codebook.json"));
}

TEST(Codebook, ReadsValuesWithLabelsAndBounds) {
  const auto book = from_json(R"({
    "SEX": {"description": "gender", "values": {"1": "Male", "2": "Female"}},
    "POVPIP": {"values": {"N": "not applicable", "min": 0, "max": 500, "501": "above"}},
    "INDP": {"description": "industry", "details": "see elsewhere", "link": "x"}})");
  ASSERT_EQ(book.columns().size(), 3U);
  const auto* sex = book.find("SEX");
  ASSERT_NE(sex, nullptr);
  EXPECT_EQ(sex->description, "gender");
  ASSERT_EQ(sex->values.size(), 2U);
  EXPECT_EQ(sex->values[1].text, "2");
  EXPECT_EQ(sex->values[1].label, "Female");
  EXPECT_FALSE(sex->min);
  const auto* ratio = book.find("POVPIP");
  EXPECT_EQ(ratio->min, 0.0);
  EXPECT_EQ(ratio->max, 500.0);
  ASSERT_EQ(ratio->values.size(), 2U);
  EXPECT_EQ(ratio->values[0].text, "N");
  EXPECT_EQ(ratio->values[1].text, "501");
  EXPECT_TRUE(book.find("INDP")->values.empty());
  EXPECT_EQ(book.find("nowhere"), nullptr);
}

TEST(Codebook, ReadsListsOfTypes) {
  const auto book = from_json(R"({"schema": {
    "AGEP": {"dtype": "int64", "min": 0, "max": 95},
    "MSP": {"has_null": true, "null_value": "N", "dtype": "object", "values": ["N", "1", 2]},
    "NPF": {"has_null": true, "null_value": "N", "min": 2, "max": 12}}})");
  EXPECT_EQ(book.find("AGEP")->max, 95.0);
  ASSERT_EQ(book.find("MSP")->values.size(), 3U);
  EXPECT_EQ(book.find("MSP")->values[2].text, "2");
  ASSERT_EQ(book.find("NPF")->values.size(), 1U);
  EXPECT_EQ(book.find("NPF")->values[0].text, "N");
}

TEST(Codebook, BadOnesAreOneSentence) {
  const std::pair<const char*, const char*> cases[] = {
      {"[1]", "is not a codebook"},
      {R"({"a": 3})", "a codebook holds an object for each column"},
      {R"({"a": {"values": 3}})", "values"},
      {R"({"a": {"values": ["x", "x"]}})", "repeats 'x'"},
      {R"({"a": {"values": {"min": 1}}})", "only one of 'min' and 'max'"},
      {R"({"a": {"values": {"min": 2, "max": 1}}})", "'max' below its 'min'"},
      {R"({"a": {"values": {"min": "low", "max": 1}}})", "'low', not a number"},
      {R"({"a": {"description": []}})", "description"},
  };
  for (const auto& [text, part] : cases) {
    const auto message = error_of<UsageError>([&, text = text] { from_json(text); });
    EXPECT_TRUE(contains(message, part));
    EXPECT_TRUE(contains(message, "codebook.json"));
  }
}

}  // namespace
}  // namespace tandem
