// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/schema.h"

#include <gtest/gtest.h>

#include <string>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

Schema from_json(const std::string& text) {
  return Schema::from_document(Document::parse_json(text, "s.json"));
}

Schema from_toml(const std::string& text) {
  return Schema::from_document(Document::parse_toml(text, "s.toml"));
}

std::string json_error(const std::string& text) {
  return error_of<UsageError>([&] { from_json(text); });
}

TEST(Schema, ReadsTomlAndJsonAlike) {
  const test::TempDir dir;
  const auto toml = Schema::read(dir.write("s.toml", R"(
format = 1
description = "two columns"
[[column]]
name = "sex"
kind = "categorical"
values = ["F", "M", 9]
unknown = 9
description = "as stated"
[[column]]
name = "age"
size = 85
)"));
  const auto json = Schema::read(dir.write("s.json", R"({
    "format": 1, "description": "two columns",
    "columns": [{"name": "sex", "kind": "categorical", "values": ["F", "M", 9], "unknown": "9",
                 "description": "as stated"},
                {"name": "age", "size": 85}]})"));
  for (const auto& schema : {toml, json}) {
    EXPECT_EQ(schema.domain(), Domain({{"sex", 3, {"F", "M", "9"}}, {"age", 85, {}}}));
    EXPECT_EQ(schema.columns()[0].description, "as stated");
    EXPECT_EQ(schema.columns()[0].codec->encode("X").code, 2U);
    EXPECT_EQ(schema.columns()[1].codec->encode("84").code, 84U);
  }
}

TEST(Schema, ReadsPrivatePgmsPlainJson) {
  const auto schema = from_json(R"({"sex": 2, "age": 85, "columns": 3})");
  EXPECT_EQ(schema.domain(), Domain({{"sex", 2, {}}, {"age", 85, {}}, {"columns", 3, {}}}));
}

TEST(Schema, UnknownValuesBecomeTheFirstWhenNothingElseIsSaid) {
  const auto schema = from_json(R"({"columns": [{"name": "a", "values": ["x", "y"]}]})");
  EXPECT_EQ(schema.columns()[0].codec->encode("z").code, 0U);
  EXPECT_EQ(schema.columns()[0].codec->encode("z").fit, Fit::Unfit);
}

TEST(Schema, AcceptsSizesFromOneTo2To31) {
  EXPECT_EQ(from_json(R"({"a": 1, "b": 2147483648})").domain()[1].size, 1U << 31);
  EXPECT_EQ(json_error(R"({"a": 2147483649})"), "s.json: a is 2147483649; choose 1 to 2147483648.");
  EXPECT_EQ(json_error(R"({"a": 0})"), "s.json: a is 0; choose 1 to 2147483648.");
  EXPECT_EQ(json_error(R"({"columns": [{"name": "a", "size": -1}]})"),
            "s.json: columns[1].size is -1; choose 1 to 2147483648.");
}

TEST(Schema, ErrorsNameTheFileAndThePlace) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"[1]", "s.json is not a schema; it holds a table of columns (docs/schema.md)."},
      {"null", "s.json is not a schema; it holds a table of columns (docs/schema.md)."},
      {"{}", "s.json has no columns; add at least one."},
      {R"({"columns": []})", "s.json has no columns; add at least one."},
      {R"({"a": "2"})",
       "s.json: a is a string; expected a column's number of values, or a schema with 'columns' "
       "(docs/schema.md)."},
      {R"({"a": 2.0})",
       "s.json: a is a number; expected a column's number of values, or a schema with 'columns' "
       "(docs/schema.md)."},
      {R"({"columns": [5]})", "s.json: columns[1] is a whole number; expected a table."},
      {R"({"columns": [{"size": 2}]})", "s.json: columns[1] has no 'name'; add it."},
      {R"({"columns": [{"name": 3, "size": 2}]})",
       "s.json: columns[1].name is a whole number; expected a string."},
      {R"({"columns": [{"name": "a"}]})",
       "s.json: columns[1] needs either 'values', the list of its values, or 'size', for codes 0 "
       "to size-1."},
      {R"({"columns": [{"name": "a", "size": 1, "values": ["x"]}]})",
       "s.json: columns[1] needs either 'values', the list of its values, or 'size', for codes 0 "
       "to size-1."},
      {R"({"columns": [{"name": "a", "size": 2}, {"name": "b", "size": 2, "unknown": 1}]})",
       "s.json: columns[2].unknown goes with 'values'; a code beyond 'size' becomes the nearest "
       "one."},
      {R"({"columns": [{"name": "a", "values": ["x", "y", "x"]}]})",
       "s.json: columns[1].values[3] repeats 'x'; keep one."},
      {R"({"columns": [{"name": "a", "values": ["1", 1]}]})",
       "s.json: columns[1].values[2] repeats '1'; keep one."},
      {R"({"columns": [{"name": "a", "values": []}]})",
       "s.json: columns[1].values is empty; a column needs at least one value."},
      {R"({"columns": [{"name": "a", "values": ["x"], "unknown": "y"}]})",
       "s.json: columns[1].unknown is not among 'values'; add it there."},
      {R"({"columns": [{"name": "a", "values": [1.5]}]})",
       "s.json: columns[1].values[1] is a number; write it as a string, the way it stands in the "
       "file."},
      {R"({"columns": [{"name": "a", "kind": "date", "size": 2}]})",
       "s.json: columns[1].size belongs to columns of kind 'categorical', and this one is 'date'; "
       "mend one."},
      {R"({"columns": [{"name": "a", "size": 2, "unknwon": 1}]})",
       "s.json: columns[1] has an unknown key 'unknwon'; did you mean 'unknown'?"},
      {R"({"columns": [{"name": "a", "size": 2}], "colum": 1})",
       "s.json has an unknown key 'colum'; did you mean 'column'?"},
      {R"({"format": 2, "columns": [{"name": "a", "size": 2}]})",
       "s.json: format is 2, and this tandem reads 1; use a tandem that knows it."},
      {R"({"columns": [{"name": "a", "size": 2}], "column": [{"name": "b", "size": 2}]})",
       "s.json has both 'columns' and 'column'; keep one."},
      {R"({"columns": [{"name": "a", "size": 2}, {"name": "a", "size": 3}]})",
       "s.json: The schema names column 'a' twice; rename one."},
      {R"({"": 2})", "s.json: Column 1 of the schema has no name; give it one."},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(json_error(text), message) << text;
}

TEST(Schema, TomlErrorsNameTheFileAndTheLineOrPlace) {
  EXPECT_EQ(error_of<UsageError>([] { from_toml("[[column]]\nname = 'a'\nsize = 'x'\n"); }),
            "s.toml: column[1].size is a string; expected a whole number.");
  EXPECT_TRUE(contains(error_of<UsageError>([] { from_toml("[[column]]\nname = \n"); }),
                       "s.toml, line 2: "));
}

TEST(Schema, RefusesMoreColumnsThanATableMayHave) {
  std::string text = "{";
  for (int i = 0; i < 65536; ++i) text += "\"c" + std::to_string(i) + "\":2,";
  EXPECT_EQ(from_json(text.substr(0, text.size() - 1) + "}").domain().size(), 65536U);
  EXPECT_EQ(json_error(text + "\"last\":2}"), "s.json has 65,537 columns; the most is 65,536.");
}

TEST(Schema, MissingFilesAndFoldersAreNamed) {
  const test::TempDir dir;
  EXPECT_TRUE(contains(error_of<UsageError>([&] { Schema::read(dir / "s.json"); }),
                       (dir / "s.json") + " can't be opened"));
  EXPECT_TRUE(contains(error_of<UsageError>([&] { Schema::read(dir.path().string()); }),
                       dir.path().string() + " is a folder"));
}

}  // namespace
}  // namespace tandem
