// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/schema.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

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
      {R"({"columns": [{"name": "a", "size": 2}], "rule": [], "rules": []})",
       "s.json has both 'rules' and 'rule'; keep one."},
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

TEST(Schema, ReadsTheFormatOfItsFiles) {
  const std::string column = "[[column]]\nname = 'a'\nsize = 2\n";
  EXPECT_EQ(from_toml(column).format(), TextFormat{});
  EXPECT_EQ(from_toml(column + "[csv]\n").format(), TextFormat{});
  EXPECT_EQ(
      from_toml(column +
                "[csv]\nencoding = 'latin-1'\ndelimiter = ';'\nquote = \"'\"\ndecimal = ','")
          .format(),
      (TextFormat{
          .encoding = Encoding::Latin1, .delimiter = ';', .quote = '\'', .decimal_mark = ','}));
  for (const char* tab : {"'tab'", "\"\\t\""}) {
    EXPECT_EQ(from_toml(column + "[csv]\ndelimiter = " + tab).format().delimiter, '\t');
  }
  const std::pair<const char*, Encoding> encodings[] = {{"utf-8", Encoding::Utf8},
                                                        {"utf-16le", Encoding::Utf16LittleEndian},
                                                        {"utf-16be", Encoding::Utf16BigEndian}};
  for (const auto& [name, encoding] : encodings) {
    const auto schema = from_toml(column + "[csv]\nencoding = '" + name + "'");
    EXPECT_EQ(schema.format().encoding, encoding);
  }
  for (const auto records : {Records::Lines, Records::Quoted}) {
    const std::string key(records_key(records));
    EXPECT_EQ(from_toml(column + "[csv]\nrecords = '" + key + "'").format().records, records);
  }
  const struct {
    const char* line;
    const char* message;
  } cases[] = {
      {"encoding = 'ascii'",
       "s.toml: csv.encoding is 'ascii'; choose 'utf-8', 'latin-1', 'utf-16le' or 'utf-16be'."},
      {"delimiter = ''", "s.toml: csv.delimiter is ''; write one character, or 'tab'."},
      {"delimiter = ';;'", "s.toml: csv.delimiter is ';;'; write one character, or 'tab'."},
      {"delimiter = 'é'", "s.toml: csv.delimiter is 'é'; write one character, or 'tab'."},
      {"delimiter = \"\\n\"", "s.toml: csv.delimiter is '\\x0a'; write one character, or 'tab'."},
      {"delimiter = 5", "s.toml: csv.delimiter is a whole number; expected a string."},
      {"delimiter = '\"'",
       "s.toml: csv can't be used: the quote and the delimiter are the same; change one."},
      {"decimal = ';'", "s.toml: csv.decimal is ';'; choose '.' or ','."},
      {"separator = ';'",
       "s.toml: csv has an unknown key 'separator'; known keys are 'encoding', 'delimiter', "
       "'quote', 'decimal' and 'records'."},
      {"records = 'rows'", "s.toml: csv.records is 'rows'; choose 'lines' or 'quoted'."},
  };
  for (const auto& [line, message] : cases) {
    const std::string text = column + "[csv]\n" + line;
    EXPECT_EQ(error_of<UsageError>([&] { from_toml(text); }), message) << line;
  }
}

TEST(Schema, ReadsRules) {
  const std::string columns =
      "[[column]]\nname = 'age'\nkind = 'integer'\nmin = 0\nmax = 99\nbins = 10\n"
      "[[column]]\nname = 'married'\nkind = 'boolean'\n[[rule]]\n";
  const auto schema =
      from_toml(columns + "if = 'age < 10'\nthen = 'married = no'\ndescription = 'children'\n");
  ASSERT_EQ(schema.rules().size(), 1U);
  EXPECT_EQ(schema.rules()[0].text, "if age < 10 then married = no");
  EXPECT_EQ(schema.rules()[0].when[0].truth[0], Truth::Always);
  EXPECT_EQ(schema.rules()[0].then[0].attribute, 1U);
  const struct {
    const char* lines;
    const char* message;
  } cases[] = {
      {"if = 'age < 10'", "s.toml: rule[1] has no 'then'; add it."},
      {"then = 'age < 10'", "s.toml: rule[1] has no 'if'; add it."},
      {"if = 5\nthen = 'age < 10'", "s.toml: rule[1].if is a whole number; expected a string."},
      {"when = 'age < 10'", "s.toml: rule[1] has an unknown key 'when'; did you mean 'then'?"},
      {"if = 'ages < 10'\nthen = 'married = no'",
       "s.toml: rule[1].if is wrong: the condition 'ages < 10' can't be read: 'ages' is not a "
       "column."},
      {"if = 'age < 10'\nthen = 'married'",
       "s.toml: rule[1].then is wrong: the condition 'married' can't be read: 'married' needs =, "
       "!=, <, <=, >, >= or 'in' after it."},
      {"if = 'married = yes'\nthen = 'age > 200'",
       "s.toml: rule[1].then can't be fulfilled: no value of 'age' does."},
      {"if = 'age < 5'\nthen = 'married = no'",
       "s.toml: rule[1].if never holds: no value or whole range of 'age' fulfils it; cut ranges "
       "where the rule begins."},
      {"if = 'married = yes'\nthen = 'age >= 5'",
       "s.toml: rule[1].then rules nothing out: every value or range fulfils it, at least in "
       "part."},
  };
  for (const auto& [lines, message] : cases) {
    const std::string text = columns + lines;
    EXPECT_EQ(error_of<UsageError>([&] { from_toml(text); }), message) << lines;
  }
}

TEST(Schema, CopiesShareTheirCodecs) {
  const auto schema = from_json(R"({"a": 3})");
  const Schema copy = schema;  // NOLINT(performance-unnecessary-copy-initialization): on purpose
  EXPECT_EQ(copy.columns()[0].codec, schema.columns()[0].codec);
  EXPECT_EQ(copy.domain(), schema.domain());
}

// The blocks of docs/schema.md between ```LANGUAGE and ```.
std::vector<std::string> examples(const std::string& language) {
  const auto page = test::read_file(TANDEM_SOURCE_DIR "/docs/schema.md");
  const std::string fence = "```" + language + "\n";
  std::vector<std::string> out;
  for (auto at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    const auto end = page.find("```", at);
    out.push_back(page.substr(at, end - at));
    at = end + 3;
  }
  return out;
}

TEST(Schema, TheExamplesOfItsPageAreRead) {
  const auto toml = examples("toml");
  const auto json = examples("json");
  EXPECT_GE(toml.size(), 4U);
  EXPECT_GE(json.size(), 2U);
  for (const auto& text : json) EXPECT_NO_THROW(from_json(text)) << text;
  std::string columns;  // a block without columns goes with those before it
  for (const auto& text : toml) {
    const bool whole = text.find("[[column]]") != std::string::npos;
    EXPECT_NO_THROW(from_toml(whole ? text : columns + text)) << text;
    if (whole) columns = text;
  }
  EXPECT_EQ(from_toml(toml.at(0)).domain(), from_json(json.at(0)).domain());
}

}  // namespace
}  // namespace tandem
