// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/grouped_model.h"

#include <cmath>

#include "model/model_contract.h"
#include "support/errors.h"
#include "tandem/model/histogram/factored_histogram.h"
#include "tandem/model/histogram/support.h"
#include "tandem/model/model_file.h"

namespace tandem::test {
namespace {

// The rows of each value of 'b' as they are, with their copies: half by weights, half by exponents
// of the value of 'a'.
std::unique_ptr<Model> by_b(const Table& table) {
  const Clique key{3};
  const Clique others = without(table.domain().all(), key);
  const Domain inner = domain_of_group(table.domain(), others);
  std::vector<Column> columns;
  for (const auto id : others) columns.push_back(table.column(id));
  GroupRows shared{.rows = distinct_rows(Table(inner, std::move(columns))).rows,
                   .bases = {},
                   .marginals = {{0}}};
  std::vector<GroupedModel::Group> groups;
  for (Code code = 0; code < table.domain()[3].size; ++code) {
    std::vector<double> weights(shared.rows.rows(), 0.0);
    double sum = 0.0;
    for (std::size_t r = 0; r < table.rows(); ++r) {
      if (table.column(3)[r] != code) continue;
      for (std::size_t x = 0; x < weights.size(); ++x) {
        bool same = true;
        for (std::size_t c = 0; c < others.size(); ++c) {
          same = same &&
                 shared.rows.column(static_cast<AttributeId>(c))[x] == table.column(others[c])[r];
        }
        if (same) weights[x] += std::exp(-1.0 * shared.rows.column(0)[x]);
      }
      sum += 1.0;
    }
    if (sum == 0.0) continue;
    groups.push_back({.key = {code},
                      .rows = sum,
                      .base = static_cast<std::uint32_t>(shared.bases.size()),
                      .u = {900.0, 901.0, 902.0}});
    shared.bases.push_back(std::move(weights));
  }
  return std::make_unique<GroupedModel>(table.domain(), key, std::move(shared), std::move(groups));
}

INSTANTIATE_TEST_SUITE_P(Grouped, ModelContract, testing::Values(ModelMaker(by_b)));

const Domain kDomain({{"area", 3, {}}, {"a", 2, {}}, {"year", 2, {}}});

GroupedModel two_groups() {
  GroupRows shared{.rows = whole_domain(Domain({{"a", 2, {}}})).rows,
                   .bases = {{1.0, 1.0}, {1.0, 2.0}},
                   .marginals = {{0}}};
  std::vector<GroupedModel::Group> groups;
  groups.push_back({.key = {2, 0}, .rows = 30.0, .base = 0, .u = {0.0, 0.0}});
  groups.push_back(
      {.key = {0, 1}, .rows = 10.0, .base = 1, .u = {0.0, 0.0}, .t = {{1, std::log(2.0)}}});
  return {kDomain, Clique{0, 2}, std::move(shared), std::move(groups)};
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9) << i;
}

TEST(GroupedModel, AnswersAreSumsOverGroups) {
  const auto model = two_groups();
  EXPECT_DOUBLE_EQ(model.total(), 40.0);
  expect_near(model.project({0}).values, {10.0, 0.0, 30.0});
  expect_near(model.project({1}).values, {17.0, 23.0});
  expect_near(model.project({1, 2}).values, {15.0, 2.0, 15.0, 8.0});
  expect_near(model.project({}).values, {40.0});
}

TEST(GroupedModel, ExponentsFarFromZeroAndRowsWithoutWeightDoNoHarm) {
  GroupRows shared{
      .rows = whole_domain(Domain({{"a", 2, {}}})).rows, .bases = {{1.0, 0.0}}, .marginals = {{0}}};
  std::vector<GroupedModel::Group> groups;
  groups.push_back({.key = {2, 0}, .rows = 30.0, .base = 0, .u = {-5000.0, 5000.0}});
  const GroupedModel model(kDomain, Clique{0, 2}, std::move(shared), std::move(groups));
  expect_near(model.project({1}).values, {30.0, 0.0});
}

TEST(GroupedModel, RowsHaveTheNumbersOfTheirGroups) {
  Rng rng(1);
  const Table rows = two_groups().sample(40, rng);
  EXPECT_EQ(CountedTable(rows).project({0, 2}).values,
            (std::vector<double>{0.0, 10.0, 0.0, 0.0, 30.0, 0.0}));
}

TEST(GroupedModel, ARestrictionOfTheKeyDropsGroupsAndAnyOtherReweighsThem) {
  const auto model = two_groups();
  const auto area = model.given({0, {0, 1}});
  expect_near(area->project({0}).values, {40.0, 0.0, 0.0});
  EXPECT_NEAR(area->project({1}).values[0], 8.0, 1e-9);
  const auto first = model.given({1, {0}});
  EXPECT_NEAR(first->project({0}).values[0], 40.0 * 2.0 / 17.0, 1e-9);
  EXPECT_NEAR(first->project({1}).values[1], 0.0, 1e-9);
}

TEST(GroupedModel, IsReadAsItWasWritten) {
  const auto model = two_groups();
  const auto bytes = write_model(model);
  ASSERT_TRUE(bytes.has_value());
  const auto again = read_model(*bytes, kDomain, "model.bin", {.most_bytes = 1e9});
  EXPECT_EQ(again->project(kDomain.all()).values, model.project(kDomain.all()).values);
  EXPECT_EQ(write_model(*again), bytes);
}

TEST(GroupedModel, AFileThatIsNoneIsRefused) {
  const auto bytes = *write_model(two_groups());
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string broken = bytes;
    const auto at = broken.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    broken.replace(at, from.size(), to);
    EXPECT_THROW(read_model(broken, kDomain, "model.bin", {.most_bytes = 1e9}), UsageError) << to;
  };
  refused("\"key\":[2,0]", "\"key\":[3,0]");
  refused("\"key\":[2,0]", "\"key\":[0,0]");
  refused("\"rows\":30.0", "\"rows\":31.0");
  refused("\"rows\":30.0", "\"rows\":-1.0");
  refused("\"base\":1", "\"base\":2");
  refused("\"marginals\":[[\"a\"]]", "\"marginals\":[[   ]]");
}

}  // namespace
}  // namespace tandem::test
