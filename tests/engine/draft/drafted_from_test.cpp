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
  const std::string toml = "# a comment\nformat = 1\n" + drafted_from_line(files) + kRest;
  const auto document = Document::parse_toml(toml, "schema.toml");
  EXPECT_EQ(drafted_from(document),
            (std::vector<std::string>{sha256_hex("a\n1\n"), sha256_hex("b\n")}));
  EXPECT_EQ(Schema::from_document(document).domain().size(), 1U);
  EXPECT_EQ(without_drafted_from(toml, "schema.toml"), "# a comment\nformat = 1\n" + kRest);
}

TEST(DraftedFrom, OnSeveralLinesIsLeftOutToo) {
  const std::string digest = sha256_hex("x");
  const std::string toml = "format = 1\n  drafted_from=[\n  '" + digest + "',\n  '" + digest +
                           "',\n]  # files\n" + kRest;
  EXPECT_EQ(without_drafted_from(toml, "s.toml"), "format = 1\n" + kRest);
  EXPECT_EQ(drafted_from(Document::parse_toml(toml, "s")).size(), 2U);
}

TEST(DraftedFrom, ASchemaWithoutItStaysAsItIs) {
  EXPECT_EQ(without_drafted_from("format = 1\n" + kRest, "s.toml"), "format = 1\n" + kRest);
  const std::string plain = R"({"drafted_from": 3, "b": 2})";  // a column of that name
  EXPECT_EQ(without_drafted_from(plain, "s.json"), plain);
  EXPECT_TRUE(drafted_from(Document::parse_json(plain, "s")).empty());
}

TEST(DraftedFrom, IsLeftOutOfJson) {
  const std::string json =
      R"({"drafted_from": [")" + sha256_hex("x") + R"("], "columns": [{"name": "a", "size": 2}]})";
  const auto without = without_drafted_from(json, "s.json");
  EXPECT_EQ(without.find("drafted_from"), std::string::npos);
  EXPECT_EQ(Schema::from_document(Document::parse_json(without, "s")).domain().size(), 1U);
}

TEST(DraftedFrom, HoldsDigestsAlone) {
  const auto error = test::error_of<UsageError>([] {
    Schema::from_document(Document::parse_toml("drafted_from = ['pub.csv']\n" + kRest, "s.toml"));
  });
  EXPECT_TRUE(test::contains(error, "s.toml: drafted_from[1] is not the SHA-256 of a file"));
}

}  // namespace
}  // namespace tandem
