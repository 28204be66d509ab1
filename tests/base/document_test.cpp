// SPDX-License-Identifier: Apache-2.0
#include "tandem/base/document.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/files.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

std::string json_error(const std::string& text) {
  return error_of<UsageError>([&] { Document::parse_json(text, "f.json"); });
}

std::string toml_error(const std::string& text) {
  return error_of<UsageError>([&] { Document::parse_toml(text, "f.toml"); });
}

std::string nested_lists(int depth) {
  const auto many = static_cast<std::size_t>(depth);
  return std::string(many, '[') + std::string(many, ']');
}

TEST(Document, JsonAndTomlGiveTheSameTree) {
  const auto json = Document::parse_json(
      R"({"format": 1, "scale": -2.5, "strict": true, "text": "a\"b\nc",
          "columns": [{"name": "age", "values": ["0", "1"]}, {"name": "sex", "size": 2}]})",
      "a");
  const auto toml = Document::parse_toml(
      "format = 1\nscale = -2.5\nstrict = true\ntext = \"a\\\"b\\nc\"\n"
      "[[columns]]\nname = \"age\"\nvalues = ['0', '1']\n"
      "[[columns]]\nname = \"sex\"\nsize = 2\n",
      "b");
  EXPECT_EQ(json.to_json(), toml.to_json());
}

TEST(Document, KeepsTheOrderOfTheFile) {
  const std::string json = R"({"z":1,"a":{"y":2,"b":3},"m":4})";
  EXPECT_EQ(Document::parse_json(json, "f").to_json(), json);
  EXPECT_EQ(Document::parse_toml("z = 1\na.y = 2\na.b = 3\nm = 4\n", "f").to_json(), json);
}

TEST(Document, RefusesRepeatedKeys) {
  EXPECT_EQ(json_error(R"({"a": 1, "b": {"c": 1, "c": 2}})"), "f.json gives 'c' twice; keep one.");
  EXPECT_TRUE(contains(toml_error("a = 1\nb = 2\na = 3\n"), "f.toml, line 3: "));
}

TEST(Document, RefusesRepeatedKeysOfLargeObjects) {
  for (const int repeated : {0, 30, 31, 32, 33, 99}) {
    std::string text = "{";
    for (int i = 0; i < 100; ++i) text += "\"k" + std::to_string(i) + "\": 1, ";
    text += "\"k" + std::to_string(repeated) + "\": 1}";
    EXPECT_TRUE(contains(json_error(text), "'k" + std::to_string(repeated) + "' twice"));
  }
}

TEST(Document, TheSameKeyMayStandInDifferentObjects) {
  const std::string text = R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]})";
  EXPECT_EQ(Document::parse_json(text, "f").to_json(), text);
}

TEST(Document, NestsToTheLimitAndNoDeeper) {
  EXPECT_NO_THROW(Document::parse_json(nested_lists(64), "f"));
  for (const int depth : {65, 1000, 1'000'000}) {
    EXPECT_EQ(json_error(nested_lists(depth)), "f.json nests deeper than 64 levels; flatten it.");
  }
  EXPECT_NO_THROW(Document::parse_toml("x = " + nested_lists(63), "f"));
  for (const int depth : {64, 200, 300, 1'000'000}) {
    EXPECT_TRUE(contains(toml_error("x = " + nested_lists(depth)), "nest"));
  }
}

TEST(Document, RefusesDottedTomlKeysOfAMillionParts) {
  std::string parts;
  for (int i = 0; i < 1'000'000; ++i) parts += "a.";
  const std::string message = "f.toml nests deeper than 64 levels; flatten it.";
  EXPECT_EQ(toml_error(parts + "a = 1\n"), message);
  EXPECT_EQ(toml_error("[" + parts + "a]\n"), message);
  EXPECT_EQ(toml_error("x = {" + parts + "a = 1}\n"), message);
  std::string quoted;
  for (int i = 0; i < 1'000'000; ++i) quoted += "\"=\".";
  EXPECT_EQ(toml_error(quoted + "a = 1\n"), message);
}

TEST(Document, TomlStringsAndCommentsMayHoldAnyNumberOfDots) {
  const std::string dots(1000, '.');
  const auto document = Document::parse_toml("# " + dots + "\na = \"\\\"" + dots + "\"\nb = '" +
                                                 dots + "'\nc = \"\"\"\n\\\"\"\"" + dots +
                                                 "\"\"\"\"\"\nd = '''" + dots + "''''\n",
                                             "f");
  EXPECT_EQ(document.at("a").as_string(), "\"" + dots);
  EXPECT_EQ(document.at("b").as_string(), dots);
  EXPECT_EQ(document.at("c").as_string(), "\"\"\"" + dots + "\"\"");
  EXPECT_EQ(document.at("d").as_string(), dots + "'");
  std::string numbers = "e = [";
  for (int i = 0; i < 1000; ++i) numbers += "0.5, ";
  EXPECT_EQ(Document::parse_toml(numbers + "]", "f").at("e").as_array().size(), 1000U);
}

TEST(Document, TomlTakesLettersBeyondAsciiInQuotesOnly) {
  for (const char* letter : {"é", "ς", "あ", "\u1680", "ﬦ", "𝄞", "\xff"}) {
    const std::string text = letter;
    EXPECT_EQ(toml_error("a = 1\n" + text + " = 2\n"),
              "f.toml, line 2: a letter beyond ASCII stands outside quotes; quote it.");
    EXPECT_TRUE(contains(toml_error("[1e00" + text), "f.toml, line 1: "));
    if (text == "\xff") continue;
    const auto document = Document::parse_toml(
        fmt::format("\xef\xbb\xbf# {0}\n'{0}' = \"\"\"\\\n  {0}\"\"\"\n", text), "f");
    EXPECT_EQ(document.at(text).is_string(), true);
  }
}

TEST(Document, HoldsTheWholeRangeOfIntegers) {
  for (const char* text : {"9223372036854775807", "-9223372036854775808", "0"}) {
    EXPECT_EQ(Document::parse_json(text, "f").to_json(), text);
    const auto toml = Document::parse_toml("x = " + std::string(text), "f");
    EXPECT_EQ(toml.at("x").to_json(), text);
  }
}

TEST(Document, RefusesNumbersOutOfRange) {
  EXPECT_TRUE(contains(json_error("9223372036854775808"), "f.json holds the number"));
  EXPECT_TRUE(contains(json_error("[1, 1e999]"), "f.json is not valid JSON"));
  EXPECT_TRUE(contains(json_error("[1, 1e999]"), "too large"));
  EXPECT_TRUE(contains(toml_error("a = 1\nx = 9223372036854775808"), "f.toml, line 2"));
  EXPECT_THROW(Document(std::uint64_t{1} << 63), InternalError);
}

TEST(Document, RefusesTomlNumbersThatAreNotFinite) {
  for (const char* text : {"inf", "-inf", "nan"}) {
    EXPECT_TRUE(contains(toml_error("a = 1\nx = " + std::string(text)), "f.toml, line 2"));
  }
}

TEST(Document, RefusesTomlDates) {
  EXPECT_EQ(toml_error("a = 1\n\nx = 1979-05-27\n"),
            "f.toml, line 3: dates and times are written as strings, in quotes.");
}

TEST(Document, SaysWhereJsonIsBroken) {
  EXPECT_TRUE(contains(json_error("{\n \"a\": [1,\n 2,,]}"), "f.json is not valid JSON: line 3"));
  for (const char* text : {"", " ", "{", "[1", "{\"a\"}", "nul", "[1] 2", "\"\xff\"", "\"a\nb\""}) {
    EXPECT_TRUE(contains(json_error(text), "f.json is not valid JSON: line "));
  }
}

TEST(Document, SaysWhereTomlIsBroken) {
  EXPECT_TRUE(contains(toml_error("a = 1\nb = \n"), "f.toml, line 2: "));
  EXPECT_TRUE(contains(toml_error("a = 1\n\nb = '\xff'\n"), "f.toml, line "));
}

TEST(Document, MessagesAreShortWhateverTheFile) {
  const std::string message = json_error("[\"" + std::string(1'000'000, 'x'));
  EXPECT_LT(message.size(), 200U);
  const std::string key(1'000'000, 'k');
  const auto document = Document::parse_json("{\"" + key + "\": [1, \"x\"]}", "f.json");
  const auto& list = document.as_object().front().second;
  EXPECT_LT(list.as_array()[1].where().size(), 200U);
  EXPECT_LT(json_error("{\"" + key + "\": 1, \"" + key + "\": 2}").size(), 200U);
}

TEST(Document, MessagesAreOneLineWhateverTheKeys) {
  const auto document = Document::parse_json(R"({"a\nb": {"": {"\u007f": 1}}})", "f.json");
  const Document* value = &document;
  while (value->is_object()) value = &value->as_object().front().second;
  EXPECT_EQ(value->where(), R"(f.json: 'a\x0ab'.''.'\x7f')");
}

TEST(Document, MessagesAreOneLineWhateverTheToml) {
  for (const char* text : {"a = f\nalse", "a = +n\n", "a = \"\\\x01\"", "a\x7f = 1"}) {
    const std::string message = toml_error(text);
    EXPECT_TRUE(contains(message, "f.toml, line "));
    EXPECT_EQ(message.find_first_of("\n\x01"), std::string::npos) << message;
  }
}

TEST(Document, ErrorsSayWhereWhatAndWhatWasExpected) {
  const auto document =
      Document::parse_toml("n = 5\n[[column]]\nname = 'a'\nvalues = ['x', 2.5]\n", "s.toml");
  EXPECT_EQ(error_of<UsageError>([&] { document.at("n").as_string(); }),
            "s.toml: n is a whole number; expected a string.");
  const auto& value = document.at("column").as_array()[0].at("values").as_array()[1];
  EXPECT_EQ(value.where(), "s.toml: column[1].values[2]");
  EXPECT_EQ(error_of<UsageError>([&] { value.as_integer(); }),
            "s.toml: column[1].values[2] is a number; expected a whole number.");
  EXPECT_EQ(error_of<UsageError>([&] { document.at("m"); }), "s.toml has no 'm'; add it.");
  EXPECT_EQ(error_of<UsageError>([&] { document.at("n").as_integer(6, 9); }),
            "s.toml: n is 5; choose 6 to 9.");
}

TEST(Document, EveryTypeRefusesToBeAnother) {
  const std::array<Document, 7> values = {Document(),
                                          Document(true),
                                          Document(7),
                                          Document(0.5),
                                          Document("text"),
                                          Document::array({1, 2}),
                                          Document::object({{"a", 1}})};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& value = values[i];
    const auto accepts = [&](auto read) {
      try {
        read();
        return true;
      } catch (const UsageError&) {
        return false;
      }
    };
    EXPECT_EQ(accepts([&] { value.as_bool(); }), i == 1);
    EXPECT_EQ(accepts([&] { value.as_integer(); }), i == 2);
    EXPECT_EQ(accepts([&] { value.as_number(); }), i == 2 || i == 3);
    EXPECT_EQ(accepts([&] { value.as_string(); }), i == 4);
    EXPECT_EQ(accepts([&] { value.as_array(); }), i == 5);
    EXPECT_EQ(accepts([&] { value.as_object(); }), i == 6);
    EXPECT_EQ(accepts([&] { value.find("a"); }), i == 6);
  }
}

TEST(Document, SuggestsTheKeyThatWasMeant) {
  static constexpr std::array<std::string_view, 2> kKeys = {"columns", "weight"};
  const auto document = Document::parse_json(R"({"wieght": 1})", "w.json");
  EXPECT_EQ(error_of<UsageError>([&] { document.allow_only(kKeys); }),
            "w.json has an unknown key 'wieght'; did you mean 'weight'?");
  const auto other = Document::parse_json(R"({"temperature": 1})", "w.json");
  EXPECT_TRUE(contains(error_of<UsageError>([&] { other.allow_only(kKeys); }),
                       "known keys are 'columns' and 'weight'"));
}

TEST(Document, IsBuiltByHand) {
  Document document;
  document.set("b", 1);
  document.set("a", Document::array());
  document.set("b", "two");
  Document list;
  list.push(0.5);
  list.push(Document());
  document.set("list", std::move(list));
  EXPECT_EQ(document.to_json(), R"({"b":"two","a":[],"list":[0.5,null]})");
  EXPECT_EQ(document.to_json(2),
            "{\n  \"b\": \"two\",\n  \"a\": [],\n  \"list\": [\n    0.5,\n    null\n  ]\n}");
  EXPECT_EQ(document.find("c"), nullptr);
}

TEST(Document, WritesTextThatIsNoUtf8AsOneThatIs) {
  for (const std::string bad :
       {"\xff", "\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf0\x80\x80\x80", "\xe2\x82", "\xc1\xbf"}) {
    const auto text = Document("a" + bad + "b").to_json();
    const auto back = Document::parse_json(text, "f").as_string();
    EXPECT_TRUE(back.starts_with("a\xef\xbf\xbd") && back.ends_with("b")) << text;
  }
  for (const std::string good :
       {"\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xef\xbf\xbf", "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf", "z\xc3\xa9y"}) {
    EXPECT_EQ(Document(good).to_json(), "\"" + good + "\"");
  }
}

TEST(Document, WritesWholeDoublesAsDoubles) {
  for (const double number : {0.0, -0.0, 1.0, 1e15, 1e16, 1e300, -5e-324}) {
    const auto back = Document::parse_json(Document(number).to_json(), "f");
    EXPECT_FALSE(back.is_integer());
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back.as_number()), std::bit_cast<std::uint64_t>(number));
  }
}

TEST(Document, RefusesToWriteNumbersThatAreNotFinite) {
  EXPECT_THROW(Document(std::numeric_limits<double>::infinity()).to_json(), InternalError);
  EXPECT_THROW(Document(std::nan("")).to_json(), InternalError);
}

bool same(const Document& a, const Document& b) {
  if (a.type_name() != b.type_name()) return false;
  if (a.is_array()) {
    return std::ranges::equal(a.as_array(), b.as_array(), same);
  }
  if (a.is_object()) {
    return std::ranges::equal(a.as_object(), b.as_object(), [](const auto& x, const auto& y) {
      return x.first == y.first && same(x.second, y.second);
    });
  }
  if (a.is_string()) return a.as_string() == b.as_string();
  if (a.type_name() == "a number") {
    return std::bit_cast<std::uint64_t>(a.as_number()) ==
           std::bit_cast<std::uint64_t>(b.as_number());
  }
  return a.to_json() == b.to_json();
}

rc::Gen<std::string> any_text() {
  const auto piece = rc::gen::oneOf(
      rc::gen::map(rc::gen::inRange(0, 128),
                   [](int c) { return std::string(1, static_cast<char>(c)); }),
      rc::gen::element<std::string>("\"", "\\", "\n", "\r\n", "/", "é", "语", "𝄞", "\u2028"));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece), [](const auto& pieces) {
    std::string text;
    for (const auto& part : pieces) text += part;
    return text;
  });
}

Document any_document(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 8 : 6)) {
    case 0:
      return {};
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::arbitrary<std::int64_t>();
    case 3:
      return std::bit_cast<std::int64_t>(*rc::gen::arbitrary<std::uint64_t>());
    case 4: {
      const auto number = std::bit_cast<double>(*rc::gen::arbitrary<std::uint64_t>());
      return std::isfinite(number) ? number : 0.1;
    }
    case 5:
      return *any_text();
    case 6: {
      auto list = Document::array();
      for (int i = *rc::gen::inRange(0, 5); i > 0; --i) list.push(any_document(depth - 1));
      return list;
    }
    default: {
      auto object = Document::object();
      for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
        object.set(*any_text(), any_document(depth - 1));
      }
      return object;
    }
  }
}

RC_GTEST_PROP(Document, ReadsBackWhatItWrites, ()) {
  const auto document = any_document(4);
  const int indent = *rc::gen::inRange(0, 4);
  RC_ASSERT(same(Document::parse_json(document.to_json(indent), "f"), document));
}

RC_GTEST_PROP(Document, AnyTextGivesATreeOrOneLine, (const std::string& noise)) {
  const std::string text =
      *rc::gen::element<std::string>("", "{\"a\":", "[1,", "a = ", "[[b]]\n") + noise;
  for (const auto& parse : {Document::parse_json, Document::parse_toml}) {
    try {
      parse(text, "file");
    } catch (const UsageError& error) {
      const std::string message = error.what();
      RC_ASSERT(message.starts_with("file"));
      RC_ASSERT(message.find('\n') == std::string::npos);
      RC_ASSERT(message.size() < 400U);
    }
  }
}

TEST(ReadTextFile, GivesTheWholeFile) {
  const test::TempDir dir;
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += static_cast<char>(i * 7);
  EXPECT_EQ(read_text_file(dir.write("f", text)), text);
  EXPECT_EQ(read_text_file(dir.write("empty", "")), "");
}

TEST(ReadTextFile, RefusesWhatItCannotRead) {
  const test::TempDir dir;
  const auto message = [](const std::string& path) {
    return error_of<UsageError>([&] { read_text_file(path); });
  };
  EXPECT_EQ(message(dir / "none"),
            (dir / "none") + " can't be opened (No such file or directory); check the path.");
  EXPECT_EQ(message(dir.path().string()), dir.path().string() + " is a folder; name a file.");
  EXPECT_TRUE(contains(message(dir / std::string(5000, 'x')), "can't be opened"));
}

TEST(ReadTextFile, RefusesMoreThanItsLimit) {
  const test::TempDir dir;
  const std::string path = dir.write("f", std::string(1000, 'x'));
  EXPECT_EQ(read_text_file(path, 1000).size(), 1000U);
  EXPECT_EQ(error_of<UsageError>([&] { read_text_file(path, 999); }),
            path + " is larger than 999 B; is it the right file?");
}

TEST(ReadDocument, TellsTomlByItsName) {
  const test::TempDir dir;
  EXPECT_EQ(Document::read(dir.write("a.toml", "x = 1")).to_json(), R"({"x":1})");
  EXPECT_EQ(Document::read(dir.write("a.json", "{\"x\": 1}")).to_json(), R"({"x":1})");
  EXPECT_THROW(Document::read(dir.write("b.json", "x = 1")), UsageError);
}

}  // namespace
}  // namespace tandem
