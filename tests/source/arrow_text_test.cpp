// SPDX-License-Identifier: Apache-2.0
#include "tandem/source/arrow_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/arrow_for_tests.h"

namespace tandem {
namespace {

using test::ArrowColumn;

std::vector<std::string> texts(const ArrowColumn& column, const CellTexts& how = {}) {
  ArrowArrayStream stream = test::stream_of({.columns = {column}, .batch = 100});
  OwnedStream rows(&stream);
  OwnedSchema schema;
  OwnedArray batch;
  EXPECT_EQ((*rows).get_schema(rows.get(), schema.get()), 0);
  EXPECT_EQ((*rows).get_next(rows.get(), batch.get()), 0);
  const ArrowType type = arrow_type(*(*schema).children[0]);
  const TextColumn found =
      texts_of(type, *(*batch).children[0], (*batch).offset, (*batch).length, how);
  std::vector<std::string> out;
  for (std::size_t r = 0; r < found.rows(); ++r) out.emplace_back(found[r]);
  return out;
}

using Texts = std::vector<std::string>;

TEST(ArrowText, CellsAreWrittenAsPlainText) {
  EXPECT_EQ(texts(test::numbers_column<std::int64_t>("a", "l", {-7, 0, 24}, {true, false, true})),
            (Texts{"-7", "", "24"}));
  EXPECT_EQ(texts(test::numbers_column<double>("a", "g", {0.1, 24.0, 1e16})),
            (Texts{"0.1", "24.0", "1e+16"}));
  EXPECT_EQ(texts(test::texts_column("a", "u", {"", "a,b", "Łódź"})), (Texts{"", "a,b", "Łódź"}));
  EXPECT_EQ(texts(test::numbers_column<std::int32_t>("a", "tdD", {0, 18262})),
            (Texts{"1970-01-01", "2020-01-01"}));
}

TEST(ArrowText, AnEntryOfADictionaryIsItsText) {
  ArrowColumn column = test::numbers_column<std::int8_t>("a", "c", {1, 0, 5}, {true, true, true});
  column.dictionary = std::make_shared<ArrowColumn>(test::texts_column("", "u", {"x", "yy"}));
  EXPECT_EQ(texts(column), (Texts{"yy", "x", std::string(kNowhere)}));
}

TEST(ArrowText, AColumnOfASchemaIsWrittenAsItWritesIt) {
  const ColumnSchema day = read_column(Document::parse_toml(
      "name = 'd'\nkind = 'date'\npattern = '%d.%m.%Y'\nmin = '01.01.2020'\nmax = "
      "'31.12.2020'\nnull = 'none'",
      "s.toml"));
  EXPECT_EQ(texts(test::numbers_column<std::int32_t>("d", "tdD", {18262, 0}, {true, false}),
                  CellTexts(day)),
            (Texts{"01.01.2020", "none"}));
}

TEST(ArrowText, FieldsAreQuotedWhereTheyMustBe) {
  const auto field = [](std::string_view value) {
    std::string out;
    append_field(value, out);
    return out;
  };
  EXPECT_EQ(field("plain text"), "plain text");
  EXPECT_EQ(field("a,b"), "\"a,b\"");
  EXPECT_EQ(field("a \"b\""), "\"a \"\"b\"\"\"");
  EXPECT_EQ(field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(field("\r"), "\"\r\"");
  EXPECT_EQ(field(""), "");
}

}  // namespace
}  // namespace tandem
