// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/generator/product_mixture.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "model/model_contract.h"
#include "support/random_tables.h"
#include "tandem/base/error.h"
#include "tandem/model/restricted.h"

namespace tandem {
namespace {

// One kind of rows for each row of the table: its own codes, and a little of every other.
std::unique_ptr<Model> kind_for_each_row(const Table& table) {
  std::vector<std::vector<double>> probabilities;
  for (AttributeId id = 0; id < table.domain().size(); ++id) {
    const std::size_t size = table.domain()[id].size;
    probabilities.emplace_back(size * table.rows(), 0.1 / static_cast<double>(size));
    for (std::size_t r = 0; r < table.rows(); ++r) {
      probabilities.back()[r * size + table.column(id)[r]] += 0.9;
    }
  }
  return std::make_unique<ProductMixture>(table.domain(), std::vector<double>(table.rows(), 1.0),
                                          std::move(probabilities),
                                          static_cast<double>(table.rows()));
}

ProductMixture any_mixture(const Domain& domain, std::size_t kinds) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<double> weights(kinds);
  for (double& weight : weights) weight = 0.1 + rng.uniform();
  std::vector<std::vector<double>> probabilities;
  for (const auto& attribute : domain.attributes()) {
    probabilities.emplace_back(kinds * attribute.size);
    for (double& p : probabilities.back()) p = rng.below(4) == 0 ? 0.0 : rng.uniform();
    for (std::size_t k = 0; k < kinds; ++k) probabilities.back()[k * attribute.size] += 0.05;
  }
  return {domain, std::move(weights), std::move(probabilities), 1000.0};
}

// Over all rows there could be, one at a time.
Factor plainly(const ProductMixture& model, const Clique& clique) {
  const Domain& domain = model.domain();
  Factor whole{domain.all(), std::vector<double>(domain.cells(domain.all()), 0.0)};
  for (std::size_t cell = 0; cell < whole.values.size(); ++cell) {
    for (std::size_t k = 0; k < model.kinds(); ++k) {
      double product = model.total() * model.weights()[k];
      std::size_t rest = cell;
      for (auto id = static_cast<AttributeId>(domain.size()); id-- > 0;) {
        product *= model.probabilities(id)[k * domain[id].size + rest % domain[id].size];
        rest /= domain[id].size;
      }
      whole.values[cell] += product;
    }
  }
  return marginalize(whole, domain, clique);
}

RC_GTEST_PROP(ProductMixture, ProjectsAsAllItsRowsDo, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 5}, 4);
  const auto model = any_mixture(domain, *rc::gen::inRange<std::size_t>(1, 20));
  const Clique clique = test::any_clique(domain, 1000);
  const auto expected = plainly(model, clique);
  const auto found = model.project(clique);
  RC_ASSERT(found.clique == clique);
  for (std::size_t c = 0; c < expected.values.size(); ++c) {
    RC_ASSERT(std::abs(found.values[c] - expected.values[c]) < 1e-8);
  }
}

// What is left of every marginal where the column has a wanted code, scaled to the total.
RC_GTEST_PROP(ProductMixture, GivenARestrictionIsTheRestOfItsRows, ()) {
  const Domain domain = test::any_domain({2, 3, 5}, 4);
  const auto model = any_mixture(domain, *rc::gen::inRange<std::size_t>(1, 20));
  const auto id = *rc::gen::inRange<AttributeId>(0, static_cast<AttributeId>(domain.size()));
  Restriction only{id, {0}};
  for (Code code = 1; code < domain[id].size; ++code) {
    if (*rc::gen::arbitrary<bool>()) only.allowed.push_back(code);
  }
  const double share = allowed_rows(model, only) / model.total();
  const auto restricted = model.given(only);
  auto whole = plainly(model, domain.all());
  const auto wanted = only.mask(domain[id].size);
  std::size_t after = 1;  // codes of the columns after it
  for (std::size_t i = id + 1; i < domain.size(); ++i) {
    after *= domain[static_cast<AttributeId>(i)].size;
  }
  for (std::size_t cell = 0; cell < whole.values.size(); ++cell) {
    const bool stays = wanted[cell / after % domain[id].size];
    whole.values[cell] = stays ? whole.values[cell] / share : 0.0;
  }
  const auto found = restricted->project(domain.all());
  for (std::size_t c = 0; c < whole.values.size(); ++c) {
    RC_ASSERT(std::abs(found.values[c] - whole.values[c]) < 1e-8);
  }
}

TEST(ProductMixture, LeavesOutKindsThatARestrictionExcludes) {
  const Domain domain({{"a", 2, {}}, {"b", 2, {}}});
  const ProductMixture model(domain, {1.0, 3.0}, {{1.0, 0.0, 0.5, 0.5}, {0.2, 0.8, 0.6, 0.4}}, 8.0);
  const auto only_second = model.given({0, {1}});
  const auto* mixture = dynamic_cast<const ProductMixture*>(only_second.get());
  ASSERT_NE(mixture, nullptr);
  EXPECT_EQ(mixture->kinds(), 1U);
  EXPECT_NEAR(mixture->project({1}).values[0], 0.6 * 8.0, 1e-12);
}

TEST(ProductMixture, SamplesKindsAndColumnsToWithinOneRow) {
  const Domain domain({{"a", 2, {}}, {"b", 4, {}}});
  const ProductMixture model(domain, {1.0, 1.0},
                             {{1.0, 0.0, 0.0, 1.0}, {0.5, 0.5, 0.0, 0.0, 0.25, 0.25, 0.25, 0.25}},
                             1.0);
  Rng rng(1);
  const CountedTable sample(model.sample(80, rng));
  EXPECT_EQ(sample.project({0, 1}).values, (std::vector<double>{20, 20, 0, 0, 10, 10, 10, 10}));
}

TEST(ProductMixture, NeedsUsableWeights) {
  const Domain domain({{"a", 2, {}}});
  EXPECT_THROW(ProductMixture(domain, {1.0}, {{0.0, 0.0}}, 1.0), InternalError);
  EXPECT_THROW(ProductMixture(domain, {1.0}, {{1.0}}, 1.0), InternalError);
  EXPECT_THROW(ProductMixture(domain, {-1.0}, {{1.0, 1.0}}, 1.0), InternalError);
  EXPECT_THROW(ProductMixture(domain, {1.0}, {}, 1.0), InternalError);
}

}  // namespace

namespace test {
INSTANTIATE_TEST_SUITE_P(ProductMixture, ModelContract,
                         testing::Values(ModelMaker(kind_for_each_row)));
}  // namespace test

}  // namespace tandem
