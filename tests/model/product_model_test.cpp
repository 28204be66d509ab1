// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/product_model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "model/model_contract.h"
#include "support/random_tables.h"
#include "tandem/base/error.h"

namespace tandem {
namespace {

std::unique_ptr<Model> fit(const Table& table) {
  std::vector<std::vector<double>> weights;
  const CountedTable counted(table);
  for (AttributeId id = 0; id < table.domain().size(); ++id) {
    weights.push_back(counted.project({id}).values);
  }
  return std::make_unique<ProductModel>(table.domain(), std::move(weights),
                                        static_cast<double>(table.rows()));
}

}  // namespace

namespace test {
INSTANTIATE_TEST_SUITE_P(Product, ModelContract, testing::Values(ModelMaker(fit)));
}  // namespace test

namespace {

RC_GTEST_PROP(ProductModel, SamplesHaveEveryOneWayMarginalToWithinOneRow, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 7, 300}, 5);
  const auto model = fit(test::any_table(domain, *rc::gen::inRange<std::size_t>(1, 60)));
  const auto rows = *rc::gen::inRange<std::size_t>(0, 500);
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const CountedTable sample(model->sample(rows, rng));
  for (AttributeId id = 0; id < domain.size(); ++id) {
    const auto expected = model->project({id});
    const auto found = sample.project({id});
    for (std::size_t i = 0; i < found.values.size(); ++i) {
      const double share = expected.values[i] / total(expected) * static_cast<double>(rows);
      RC_ASSERT(std::abs(found.values[i] - share) < 1.0 + 1e-9);
    }
  }
}

TEST(ProductModel, ProjectsToTheProductOfItsMarginals) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}});
  const ProductModel model(domain, {{1.0, 3.0}, {2.0, 0.0, 2.0}}, 16.0);
  EXPECT_EQ(model.project({}).values, (std::vector{16.0}));
  EXPECT_EQ(model.project({0}).values, (std::vector{4.0, 12.0}));
  EXPECT_EQ(model.project({0, 1}).values, (std::vector{2.0, 0.0, 2.0, 6.0, 0.0, 6.0}));
}

TEST(ProductModel, ShufflesColumnsApart) {
  const Domain domain({{"a", 2, {}}, {"b", 2, {}}});
  const ProductModel model(domain, {{1.0, 1.0}, {1.0, 1.0}}, 1.0);
  Rng rng(2);
  const CountedTable sample(model.sample(10'000, rng));
  for (const double count : sample.project({0, 1}).values) EXPECT_NEAR(count, 2500.0, 150.0);
}

TEST(ProductModel, NeedsAUsableMarginalForEachColumn) {
  const Domain domain({{"a", 2, {}}, {"b", 2, {}}});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(ProductModel(domain, {{1.0, 1.0}}, 1.0), InternalError);
  EXPECT_THROW(ProductModel(domain, {{1.0, 1.0}, {1.0}}, 1.0), InternalError);
  EXPECT_THROW(ProductModel(domain, {{1.0, 1.0}, {0.0, 0.0}}, 1.0), InternalError);
  EXPECT_THROW(ProductModel(domain, {{1.0, 1.0}, {nan, 1.0}}, 1.0), InternalError);
}

}  // namespace
}  // namespace tandem
