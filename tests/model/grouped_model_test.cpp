// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/grouped_model.h"

#include "model/model_contract.h"
#include "support/errors.h"
#include "tandem/model/histogram/factored_histogram.h"
#include "tandem/model/model_file.h"
#include "tandem/model/product_model.h"

namespace tandem::test {
namespace {

// The rows of each value of 'b' as they are, with their copies.
std::unique_ptr<Model> by_b(const Table& table) {
  const Clique key{3};
  const Clique others = without(table.domain().all(), key);
  const Domain inner = domain_of_group(table.domain(), others);
  std::vector<GroupedModel::Group> groups;
  for (Code code = 0; code < table.domain()[3].size; ++code) {
    std::vector<std::size_t> mine;
    for (std::size_t r = 0; r < table.rows(); ++r) {
      if (table.column(3)[r] == code) mine.push_back(r);
    }
    if (mine.empty()) continue;
    const Table rows = table.select(mine);
    std::vector<Column> columns;
    for (const auto id : others) columns.push_back(rows.column(id));
    auto distinct = distinct_rows(Table(inner, std::move(columns)));
    std::vector<double> weights(distinct.multiplicity.begin(), distinct.multiplicity.end());
    groups.push_back({{code},
                      static_cast<double>(mine.size()),
                      std::make_unique<SupportHistogram>(
                          Support{std::move(distinct.rows), std::move(weights)}, 5.0)});
  }
  return std::make_unique<GroupedModel>(table.domain(), key, std::move(groups));
}

INSTANTIATE_TEST_SUITE_P(Grouped, ModelContract, testing::Values(ModelMaker(by_b)));

const Domain kDomain({{"area", 3, {}}, {"a", 2, {}}, {"year", 2, {}}});

std::unique_ptr<Model> share_of_first(double share) {
  return std::make_unique<ProductModel>(
      Domain({{"a", 2, {}}}), std::vector<std::vector<double>>{{share, 1.0 - share}}, 1.0);
}

GroupedModel two_groups() {
  std::vector<GroupedModel::Group> groups;
  groups.push_back({{2, 0}, 30.0, share_of_first(0.5)});
  groups.push_back({{0, 1}, 10.0, share_of_first(0.2)});
  return {kDomain, Clique{0, 2}, std::move(groups)};
}

TEST(GroupedModel, AnswersAreSumsOverGroups) {
  const auto model = two_groups();
  EXPECT_DOUBLE_EQ(model.total(), 40.0);
  EXPECT_EQ(model.project({0}).values, (std::vector<double>{10.0, 0.0, 30.0}));
  EXPECT_EQ(model.project({1}).values, (std::vector<double>{17.0, 23.0}));
  EXPECT_EQ(model.project({1, 2}).values, (std::vector<double>{15.0, 2.0, 15.0, 8.0}));
  EXPECT_EQ(model.project({}).values, (std::vector<double>{40.0}));
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
  EXPECT_EQ(area->project({0}).values, (std::vector<double>{40.0, 0.0, 0.0}));
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
}

}  // namespace
}  // namespace tandem::test
