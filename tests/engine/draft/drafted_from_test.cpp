// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/draft/drafted_from.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/digest.h"
#include "tandem/data/schema.h"

namespace tandem {
namespace {

const std::string kRest = "[[column]]\nname = 'drafted_from'\nsize = 2\n";

TEST(DraftedFrom, IsReadAndLeftOut) {
  const test::TempDir dir;
  const std::vector<std::string> files = {dir.write("a.csv", "a\n1\n"), dir.write("b.csv", "b\n")};
  const std::vector<std::string> tables = {"table:" + sha256_hex("t")};
  const std::string toml = "format = 1\n" + drafted_from_line(files, tables) + kRest;
  const auto document = Document::parse_toml(toml, "schema.toml");
  const auto origin = [](const std::string& text) {
    return sha256_hex(text) + '-' + sha256_hex(text);  // short: its head is all of it
  };
  EXPECT_EQ(drafted_from(document),
            (std::vector<std::string>{tables[0], origin("a\n1\n"), origin("b\n")}));
  EXPECT_EQ(Schema::from_document(document).domain().size(), 1U);
  EXPECT_EQ(published_schema(toml, "schema.toml"), "format = 1\n" + kRest);
}

TEST(DraftedFrom, OnSeveralLinesIsLeftOutToo) {
  const std::string digest = sha256_hex("x");
  const std::string toml = "format = 1\n  drafted_from=[\n  '" + digest + "',\n  '" + digest +
                           "',\n]  # files\n" + kRest;
  EXPECT_EQ(published_schema(toml, "s.toml"), "format = 1\n" + kRest);
  EXPECT_EQ(drafted_from(Document::parse_toml(toml, "s")).size(), 2U);
}

TEST(DraftedFrom, AFileIsKnownByItsText) {
  const test::TempDir dir;
  std::string text = "a\n";
  for (int i = 0; i < 40'000; ++i) text += std::to_string(i % 7) + "\n";
  const std::vector<std::string> file = {dir.write("a.csv", text)};
  const auto origins =
      drafted_from(Document::parse_toml(drafted_from_line(file) + kRest, "schema.toml"));
  EXPECT_TRUE(is_origin(file[0], origins));
  EXPECT_TRUE(is_origin(dir.write("copy.csv", text), origins));
  EXPECT_TRUE(is_origin(dir.write_gzip("packed.csv.gz", text), origins));
  EXPECT_FALSE(is_origin(dir.write("longer.csv", text + "3\n"), origins));
  EXPECT_FALSE(is_origin(dir.write("other.csv", "b" + text), origins));
  EXPECT_FALSE(is_origin(file[0], {}));
  // A draft of an earlier version knows the bytes of the file.
  const std::vector<std::string> stored = {sha256_of_file(file[0])};
  EXPECT_TRUE(is_origin(file[0], stored));
  EXPECT_FALSE(is_origin(dir / "packed.csv.gz", stored));
}

TEST(DraftedFrom, ASchemaWithoutItStaysAsItIs) {
  EXPECT_EQ(published_schema("format = 1\n" + kRest, "s.toml"), "format = 1\n" + kRest);
  const std::string plain = R"({"drafted_from": 3, "b": 2})";  // a column of that name
  EXPECT_EQ(published_schema(plain, "s.json"), plain);
  EXPECT_TRUE(drafted_from(Document::parse_json(plain, "s")).empty());
}

// A draft tells counts and extremes in its comments.
TEST(DraftedFrom, WhatIsPublishedHasNoComments) {
  const std::string toml = R"toml(# public numbers 0 to 987654
format = 1  # first

[[column]]
name = "a # b"  # UNCLEAR
values = ['x#', "y\"#", 'z']
description = """first # line
# second "quoted" \""" line
"""  # end
other = '''it's # 
#'''
  # [[rule]]
# if = 'a = x')toml";
  const std::string expected = R"toml(format = 1

[[column]]
name = "a # b"
values = ['x#', "y\"#", 'z']
description = """first # line
# second "quoted" \""" line
"""
other = '''it's # 
#'''
)toml";
  EXPECT_EQ(published_schema(toml, "s.toml"), expected);
  EXPECT_EQ(Document::parse_toml(toml, "s").to_json(),
            Document::parse_toml(expected, "s").to_json());
}

// Quotes that end in quotes, and a key that is written in another way.
TEST(DraftedFrom, WhatIsPublishedMeansTheSame) {
  const std::string toml = "'drafted_from' = ['" + sha256_hex("x") +
                           "']\nvalues = ['x', \"\"\"say \"y\"\"\"\", 'b#1']  # 3 had b#1\n" +
                           "more = [\'\'\'it\'s\'\'\'\', \"\"\"\"\"\"]  # none\n";
  const auto published = published_schema(toml, "s.toml");
  EXPECT_EQ(published.find("had"), std::string::npos);
  EXPECT_EQ(published.find("none"), std::string::npos);
  const auto document = Document::parse_toml(published, "s");
  EXPECT_EQ(document.find("drafted_from"), nullptr);
  EXPECT_EQ(document.at("values").as_array()[1].as_string(), "say \"y\"");
  EXPECT_EQ(document.at("values").as_array()[2].as_string(), "b#1");
  EXPECT_EQ(document.at("more").as_array()[0].as_string(), "it's'");
  const std::string escaped = R"({"draf\u0074ed_from": [")" + sha256_hex("x") + R"("], "a": 2})";
  EXPECT_EQ(published_schema(escaped, "s.json").find(sha256_hex("x")), std::string::npos);
  // A release that protects nobody remembers what its schema was drafted from.
  const std::string kept = published_schema(toml, "s.toml", Origins::Kept);
  EXPECT_EQ(drafted_from(Document::parse_toml(kept, "s")).size(), 1U);
}

TEST(DraftedFrom, IsLeftOutOfJson) {
  const std::string json =
      R"({"drafted_from": [")" + sha256_hex("x") + R"("], "columns": [{"name": "a", "size": 2}]})";
  const auto without = published_schema(json, "s.json");
  EXPECT_EQ(without.find("drafted_from"), std::string::npos);
  EXPECT_EQ(Schema::from_document(Document::parse_json(without, "s")).domain().size(), 1U);
}

TEST(DraftedFrom, HoldsDigestsAlone) {
  const auto error = test::error_of<UsageError>([] {
    Schema::from_document(Document::parse_toml("drafted_from = ['pub.csv']\n" + kRest, "s.toml"));
  });
  EXPECT_TRUE(test::contains(error, "s.toml: drafted_from[1] is no digest of what a schema was"));
}

}  // namespace
}  // namespace tandem
