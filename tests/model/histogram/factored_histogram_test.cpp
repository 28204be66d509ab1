// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/factored_histogram.h"

#include <gtest/gtest.h>

#include "model/model_contract.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

// Groups that are not neighbours in the order of columns.
const std::vector<Clique> kGroups = {{0, 3}, {1}, {2, 4}};

std::unique_ptr<Model> fit(const Table& table) {
  std::vector<FactoredHistogram::Part> parts;
  for (const auto& group : kGroups) {
    std::vector<Column> columns;
    for (const auto id : group) columns.push_back(table.column(id));
    const Table part(domain_of_group(table.domain(), group), std::move(columns));
    auto distinct = distinct_rows(part);
    parts.push_back(
        {group,
         {{std::move(distinct.rows), {distinct.multiplicity.begin(), distinct.multiplicity.end()}},
          static_cast<double>(table.rows())}});
  }
  return std::make_unique<FactoredHistogram>(table.domain(), std::move(parts));
}

}  // namespace

namespace test {
INSTANTIATE_TEST_SUITE_P(Factored, ModelContract, testing::Values(ModelMaker(fit)));
}  // namespace test

namespace {

TEST(FactoredHistogram, KeepsWhatIsInsideAGroupAndMultipliesAcross) {
  const Domain domain({{"a", 2, {}}, {"b", 2, {}}, {"c", 1, {}}, {"d", 2, {}}, {"e", 1, {}}});
  const std::vector<std::vector<Code>> rows = {
      {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {1, 0, 0, 1, 0}, {1, 1, 0, 1, 0}};
  const auto model = fit(Table::from_rows(domain, rows));
  EXPECT_EQ(model->project({0, 3}).values, (std::vector<double>{2, 0, 0, 2}));
  EXPECT_EQ(model->project({0, 1}).values, (std::vector<double>{1.5, 0.5, 1.5, 0.5}));
  EXPECT_EQ(model->project({0, 1, 3}).values,
            (std::vector<double>{1.5, 0, 0.5, 0, 0, 1.5, 0, 0.5}));
}

TEST(FactoredHistogram, NumbersOfAGroup) {
  EXPECT_EQ(within_group({3, 5}, {1, 3, 5}), (Clique{1, 2}));
  EXPECT_THROW(within_group({2}, {1, 3, 5}), InternalError);
}

}  // namespace
}  // namespace tandem
