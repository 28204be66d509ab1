// SPDX-License-Identifier: Apache-2.0
// Many equal columns in one part of a schema.

#include <gtest/gtest.h>

#include <string>

#include "support/errors.h"
#include "tandem/base/error.h"
#include "tandem/data/schema.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

Schema from_toml(const std::string& text) {
  return Schema::from_document(Document::parse_toml(text, "s.toml"));
}

std::string toml_error(const std::string& text) {
  return error_of<UsageError>([&] { from_toml(text); });
}

TEST(NumberedColumns, StandBesideOthersInOrder) {
  const Schema schema = from_toml(
      "[[columns]]\nname = 'age'\nsize = 9\n"
      "[[columns]]\nprefix = 'i'\ncount = 3\nsize = 2\n"
      "[[columns]]\nprefix = ''\ncount = 2\nfirst = 10\nvalues = ['no', 'yes']\n");
  const Domain& domain = schema.domain();
  ASSERT_EQ(domain.size(), 6U);
  EXPECT_EQ(domain[0].name, "age");
  EXPECT_EQ(domain[1].name, "i0");
  EXPECT_EQ(domain[3].name, "i2");
  EXPECT_EQ(domain[3].size, 2U);
  EXPECT_EQ(domain[4].name, "10");
  EXPECT_EQ(domain[5].labels, (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(domain.find("11"), 5U);
}

TEST(NumberedColumns, ShareTheirCodec) {
  const Schema schema = from_toml("[[columns]]\nprefix = 'i'\ncount = 2\nsize = 2\n");
  EXPECT_EQ(schema.columns()[0].codec, schema.columns()[1].codec);
}

TEST(NumberedColumns, MayBeHalfAMillion) {
  const Schema schema = from_toml("[[columns]]\nprefix = 'i'\ncount = 512000\nsize = 2\n");
  EXPECT_EQ(schema.domain().size(), 512'000U);
  EXPECT_EQ(schema.domain().find("i511999"), 511'999U);
}

TEST(NumberedColumns, AreRefusedWhereTheyMakeNoSense) {
  EXPECT_TRUE(contains(toml_error("[[columns]]\nprefix = 'i'\nsize = 2\n"), "count"));
  EXPECT_TRUE(contains(toml_error("[[columns]]\nprefix = 'i'\ncount = 0\nsize = 2\n"), "count"));
  EXPECT_TRUE(contains(toml_error("[[columns]]\nprefix = 'i'\ncount = 2\n"), "size"));
  EXPECT_TRUE(contains(toml_error("[[columns]]\nname = 'a'\ncount = 2\nsize = 2\n"), "count"));
  EXPECT_TRUE(
      contains(toml_error("[[columns]]\nprefix = 'i'\ncount = 2\nsize = 2\nname = 'a'\n"), "name"));
  EXPECT_TRUE(contains(toml_error("[[columns]]\nprefix = 'i'\ncount = 2000000\nsize = 2\n"),
                       "the most is 1,048,576"));
  EXPECT_TRUE(contains(toml_error("[[columns]]\nname = 'i1'\nsize = 2\n"
                                  "[[columns]]\nprefix = 'i'\ncount = 2\nsize = 2\n"),
                       "'i1' twice"));
}

}  // namespace
}  // namespace tandem
