// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/checked.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/errors.h"
#include "support/files.h"

namespace tandem {
namespace {

const std::string kSchema = "[[column]]\nname = 'a'\nsize = 2\n";

TEST(Checked, HoldsForThisFileAndThisSchema) {
  const test::TempDir dir;
  const auto schema = dir.write("schema.toml", kSchema);
  const auto file = dir.write("private.csv", "a\n1\n");
  EXPECT_FALSE(was_checked(schema, file));
  EXPECT_TRUE(remember_check(schema, file));
  EXPECT_TRUE(was_checked(schema, file));
  EXPECT_TRUE(was_checked(schema, dir / "./private.csv"));

  dir.write("schema.toml", kSchema + "description = 'changed'\n");
  EXPECT_FALSE(was_checked(schema, file));
  dir.write("schema.toml", kSchema);
  EXPECT_TRUE(was_checked(schema, file));
  dir.write("private.csv", "a\n1\n0\n");
  EXPECT_FALSE(was_checked(schema, file));
}

TEST(Checked, KnowsSeveralFilesAndNothingOfTheirContent) {
  const test::TempDir dir;
  const auto schema = dir.write("schema.toml", kSchema);
  const auto one = dir.write("one.csv", "a\nsecret\n");
  const auto two = dir.write("two.csv", "a\n1\n");
  EXPECT_TRUE(remember_check(schema, one));
  EXPECT_TRUE(remember_check(schema, two));
  EXPECT_TRUE(remember_check(schema, one));
  EXPECT_TRUE(was_checked(schema, one));
  EXPECT_TRUE(was_checked(schema, two));
  const auto stamp = test::read_file(schema + ".checked");
  EXPECT_EQ(stamp.find("secret"), std::string::npos);
  EXPECT_EQ(stamp.find("one.csv"), stamp.rfind("one.csv"));
}

TEST(Checked, AStampThatIsNoneOrCannotBeWrittenDoesNoHarm) {
  const test::TempDir dir;
  const auto schema = dir.write("schema.toml", kSchema);
  const auto file = dir.write("private.csv", "a\n1\n");
  dir.write("schema.toml.checked", "{ broken");
  EXPECT_FALSE(was_checked(schema, file));
  EXPECT_TRUE(remember_check(schema, file));
  EXPECT_TRUE(was_checked(schema, file));
  EXPECT_FALSE(remember_check(dir / "none.toml", file));
  EXPECT_FALSE(remember_check(schema, dir / "none.csv"));
  std::filesystem::remove(schema + ".checked");
  std::filesystem::create_directories(schema + ".checked.part");
  EXPECT_FALSE(remember_check(schema, file));
}

}  // namespace
}  // namespace tandem
