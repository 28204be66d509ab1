// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/domain.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/errors.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

using test::contains;
using test::error_of;

TEST(Domain, FindsItsAttributesByName) {
  const Domain domain({{"age", 85, {}}, {"sex", 2, {"F", "M"}}});
  EXPECT_EQ(domain.size(), 2U);
  EXPECT_EQ(domain.find("sex"), 1U);
  EXPECT_EQ(domain.find("SEX"), std::nullopt);
  EXPECT_EQ(domain[1].labels[0], "F");
  EXPECT_EQ(domain.at("age", "here"), 0U);
  EXPECT_THROW(domain[2], InternalError);
}

TEST(Domain, StaysValidWhenCopiedAndMoved) {
  Domain first({{"a", 2, {}}});
  const Domain copy = first;
  const Domain moved = std::move(first);
  EXPECT_EQ(copy.find("a"), 0U);
  EXPECT_EQ(moved, copy);
}

TEST(Domain, SuggestsTheColumnThatWasMeant) {
  const Domain domain({{"age", 85, {}}, {"sex", 2, {}}});
  EXPECT_EQ(error_of<UsageError>([&] { domain.at("agee", "w.json: marginals[1]"); }),
            "w.json: marginals[1] names 'agee', which is not a column of the schema; did you mean "
            "'age'?");
  EXPECT_EQ(error_of<UsageError>([&] { domain.at("temperature", "w.json"); }),
            "w.json names 'temperature', which is not a column of the schema; its columns are "
            "'age' and 'sex'.");
}

TEST(Domain, RefusesRepeatedAndEmptyNamesAndEmptyColumns) {
  const auto message = [](std::vector<Attribute> attributes) {
    return error_of<SchemaError>([&] { Domain(std::move(attributes)); });
  };
  EXPECT_EQ(message({{"a", 2, {}}, {"b", 2, {}}, {"a", 3, {}}}),
            "The schema names column 'a' twice; rename one.");
  EXPECT_EQ(message({{"a", 2, {}}, {"", 2, {}}}),
            "Column 2 of the schema has no name; give it one.");
  EXPECT_TRUE(contains(message({{"a", 0, {}}}), "Column 'a' has no values"));
  EXPECT_THROW(Domain({{"a", 3, {"x", "y"}}}), InternalError);
}

TEST(Domain, CountsTheCellsOfAMarginal) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 1, {}}, {"d", 1U << 31, {}}});
  EXPECT_EQ(domain.cells({}), 1U);
  EXPECT_EQ(domain.cells({0, 1, 2}), 6U);
  EXPECT_EQ(domain.cells({1, 3}), std::size_t{3} << 31);
  EXPECT_EQ(domain.all(), (Clique{0, 1, 2, 3}));
}

TEST(Domain, CellsThatOverflowAreAnErrorThatNamesTheColumns) {
  const Domain domain({{"a", 1U << 31, {}}, {"b", 1U << 31, {}}, {"c", 2, {}}, {"d", 1, {}}});
  EXPECT_EQ(domain.cells({0, 1, 3}), std::size_t{1} << 62);
  EXPECT_EQ(domain.try_cells({0, 1, 2}), std::nullopt);
  EXPECT_EQ(error_of<UsageError>([&] {
              domain.cells({0, 1, 2});
            }),
            "The combinations of 'a', 'b' and 'c' overflow a 62-bit count; take fewer columns or "
            "coarser ones.");
  std::vector<Attribute> many;
  for (int i = 0; i < 200; ++i) many.push_back({"c" + std::to_string(i), 3, {}});
  const Domain wide(std::move(many));
  EXPECT_EQ(wide.try_cells(wide.all()), std::nullopt);
  EXPECT_LT(error_of<UsageError>([&] { wide.cells(wide.all()); }).size(), 200U);
}

TEST(Domain, IsEqualWhenItsAttributesAre) {
  const Domain domain({{"a", 2, {"x", "y"}}});
  EXPECT_EQ(domain, Domain({{"a", 2, {"x", "y"}}}));
  EXPECT_FALSE(domain == Domain({{"a", 2, {"x", "z"}}}));
  EXPECT_FALSE(domain == Domain({{"a", 2, {}}}));
  EXPECT_FALSE(domain == Domain({{"b", 2, {"x", "y"}}}));
  EXPECT_FALSE(domain == Domain());
  EXPECT_EQ(Domain().size(), 0U);
}

TEST(Domain, DescribesACliqueByItsNames) {
  const Domain domain({{"a", 2, {}}, {"b", 2, {}}, {"c", 2, {}}});
  EXPECT_EQ(domain.describe({2, 0}), "'a' and 'c'");
  EXPECT_EQ(domain.describe({}), "the total");
}

}  // namespace
}  // namespace tandem
