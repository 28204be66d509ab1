// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/graphical_model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "model/model_contract.h"
#include "model/pgm/dense_model.h"
#include "tandem/base/error.h"
#include "tandem/base/math.h"
#include "tandem/base/rng.h"
#include "tandem/query/workload.h"

namespace tandem {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Exact for the chain of pairs: log P(a) + log P(b | a) + ...
std::unique_ptr<Model> fit_chain(const Table& table) {
  const CountedTable counted(table);
  std::vector<Factor> potentials;
  for (const auto& [clique, sign] : std::vector<std::pair<Clique, double>>{
           {{0, 3}, 1.0}, {{3}, -1.0}, {{3, 4}, 1.0}, {{1}, 1.0}}) {
    Factor factor = counted.project(clique);
    for (double& value : factor.values) {
      value = value > 0.0 ? sign * std::log(value) : sign > 0.0 ? -kInfinity : 0.0;
    }
    potentials.push_back(std::move(factor));
  }
  return std::make_unique<GraphicalModel>(table.domain(), std::move(potentials),
                                          static_cast<double>(table.rows()));
}

}  // namespace

namespace test {
INSTANTIATE_TEST_SUITE_P(Graphical, ModelContract, testing::Values(ModelMaker(fit_chain)));
}  // namespace test

namespace {

RC_GTEST_PROP(GraphicalModel, ProjectsAsTheWholeDistributionDoes, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 5}, 6);
  const double spread = *rc::gen::elementOf(std::vector<double>{1.0, 8.0, 500.0});
  const auto potentials = test::any_potentials(domain, spread);
  const auto dense = test::dense_model(domain, potentials, 10.0);
  const GraphicalModel model(domain, potentials, 10.0);
  std::vector<Clique> cliques;
  for (int i = 0; i < 6; ++i) cliques.push_back(test::any_clique(domain, 400));
  const auto together = model.project_all(cliques);
  for (std::size_t i = 0; i < cliques.size(); ++i) {
    RC_ASSERT(test::near(together[i], marginalize(dense, domain, cliques[i]), 1e-10));
    RC_ASSERT(test::near(model.project(cliques[i]), together[i], 1e-12));
  }
}

// Cliques large enough that sums are shared, wide separators, and parts that are far apart.
TEST(GraphicalModel, ProjectsAcrossLargeCliquesAsTheWholeDistributionDoes) {
  std::vector<Attribute> attributes;
  for (const Code size : {4U, 3U, 5U, 2U, 4U, 3U, 4U, 5U, 3U, 2U}) {
    attributes.push_back({"c" + std::to_string(attributes.size()), size, {}});
  }
  const Domain domain(std::move(attributes));
  Rng rng(7);
  std::vector<Factor> potentials;
  for (const Clique& clique :
       std::vector<Clique>{{0, 1, 2, 3, 4, 5, 6}, {0, 2, 4, 6, 7}, {1, 3, 5, 8}, {6, 7}, {8, 9}}) {
    Factor factor{clique, std::vector<double>(domain.cells(clique))};
    for (double& value : factor.values) value = 3.0 * rng.uniform();
    potentials.push_back(std::move(factor));
  }
  const auto dense = test::dense_model(domain, potentials, 10.0);
  const GraphicalModel model(domain, potentials, 10.0, {}, Threads{2});
  auto cliques = Workload::all_k_way(domain, 3).downward_closure();
  const auto wide = Workload::all_k_way(domain, 5);
  for (const auto& [clique, weight] : wide.cliques()) {
    if (rng.below(4) == 0) cliques.push_back(clique);
  }
  cliques.push_back(cliques.front());  // asked for twice
  const auto answers = model.project_all(cliques);
  for (std::size_t i = 0; i < cliques.size(); ++i) {
    EXPECT_TRUE(test::near(answers[i], marginalize(dense, domain, cliques[i]), 1e-10))
        << domain.describe(cliques[i]);
  }
}

RC_GTEST_PROP(GraphicalModel, AnswersDoNotDependOnThreads, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 5}, 6);
  const auto potentials = test::any_potentials(domain, 2.0);
  std::vector<Clique> cliques;
  for (int i = 0; i < 6; ++i) cliques.push_back(test::any_clique(domain, 400));
  const GraphicalModel one(domain, potentials, 10.0, {}, Threads{1});
  const GraphicalModel three(domain, potentials, 10.0, {}, Threads{3});
  RC_ASSERT(one.project_all(cliques) == three.project_all(cliques));
}

RC_GTEST_PROP(GraphicalModel, SamplesFollowTheTreeToWithinOneRow, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 5}, 6);
  const GraphicalModel model(domain, test::any_potentials(domain, 3.0), 1.0);
  const auto rows = *rc::gen::inRange<std::size_t>(0, 300);
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const CountedTable sample(model.sample(rows, rng));
  RC_ASSERT(sample.table().rows() == rows);
  // The first column of each clique beyond its separator: rows alike in the separator share out its
  // codes by the model's conditional probabilities.
  const auto& tree = model.tree();
  for (std::size_t c = 0; c < tree.cliques.size(); ++c) {
    const auto fresh = model.order().axes(without(tree.cliques[c], tree.separators[c]));
    const Clique with = join(tree.separators[c], Clique{fresh.front()});
    const auto given = model.project(tree.separators[c]);
    const auto expected = model.project(with);
    const auto groups = sample.project(tree.separators[c]);
    const auto found = sample.project(with);
    for_each_cell(domain, with, tree.separators[c], [&](std::size_t cell, std::size_t group) {
      if (groups.values[group] == 0.0) {
        RC_ASSERT(found.values[cell] == 0.0);
        return;
      }
      const double share = expected.values[cell] / given.values[group] * groups.values[group];
      RC_ASSERT(std::abs(found.values[cell] - share) < 1.0 + 1e-6);
    });
  }
}

TEST(GraphicalModel, PartsThatKnowNothingOfEachOtherAreIndependent) {
  const Domain domain({{"a", 2, {}}, {"b", 3, {}}, {"c", 2, {}}});
  const GraphicalModel model(domain, {{Clique{0}, {std::log(1.0), std::log(3.0)}}}, 12.0);
  EXPECT_EQ(model.tree().cliques.size(), 3U);
  const auto factor = model.project({0, 1});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(factor.values[i], 1.0, 1e-12);
    EXPECT_NEAR(factor.values[3 + i], 3.0, 1e-12);
  }
}

TEST(GraphicalModel, OneAttributeOfOneCodeIsAModel) {
  const Domain domain({{"a", 1, {}}});
  const GraphicalModel model(domain, 5.0);
  EXPECT_EQ(model.project({0}).values, (std::vector{5.0}));
  EXPECT_EQ(model.project({}).values, (std::vector{5.0}));
  Rng rng(1);
  EXPECT_EQ(model.sample(3, rng).rows(), 3U);
}

TEST(GraphicalModel, NothingFallsIntoAStructuralZero) {
  const Domain domain({{"a", 3, {}}, {"b", 3, {}}, {"c", 4, {}}});
  Factor mask{{0, 1}, std::vector<double>(9, 0.0)};
  for (std::size_t i = 0; i < 3; ++i) mask.values[i * 3 + i] = -kInfinity;
  const Factor pull{{1, 2}, {9, 0, 0, 0, 0, 5, 0, 0, 0, 0, 2, 1}};
  const GraphicalModel model(domain, {mask, pull}, 100.0);
  const auto factor = model.project({0, 1});
  Rng rng(3);
  const auto sample = CountedTable(model.sample(5000, rng)).project({0, 1});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(factor.values[i * 3 + i], 0.0);
    EXPECT_EQ(sample.values[i * 3 + i], 0.0);
  }
  EXPECT_NEAR(total(factor), 100.0, 1e-9);
}

TEST(GraphicalModel, RefusesZerosThatLeaveNothing) {
  const Domain domain({{"a", 2, {}}, {"b", 2, {}}});
  const Factor never{{0}, {-kInfinity, -kInfinity}};
  EXPECT_THROW(GraphicalModel(domain, {never}, 1.0), UsageError);
  const Factor first{{0}, {0.0, -kInfinity}};
  const Factor second{{0, 1}, {-kInfinity, -kInfinity, 0.0, 0.0}};
  EXPECT_THROW(GraphicalModel(domain, {first, second}, 1.0), UsageError);
}

TEST(GraphicalModel, GivenRestrictionsIsTheConditionalDistribution) {
  const Domain domain({{"a", 3, {}}, {"b", 2, {}}, {"c", 4, {}}});
  const Factor ab{{0, 1}, {1, 2, 0, 1, 3, 0}};
  const Factor bc{{1, 2}, {0, 1, 2, 3, 3, 1, 1, 0}};
  const GraphicalModel model(domain, {ab, bc}, 60.0);
  const auto given = model.given({0, {0, 2}})->given({2, {3}});
  const auto whole = model.project({0, 1, 2});
  const auto part = given->project({0, 1, 2});
  double left = 0.0;
  for_each_cell(domain, whole.clique, Clique{0, 2}, [&](std::size_t cell, std::size_t ac) {
    if (ac / 4 != 1 && ac % 4 == 3) left += whole.values[cell];
  });
  for_each_cell(domain, whole.clique, Clique{0, 2}, [&](std::size_t cell, std::size_t ac) {
    const double expected = ac / 4 != 1 && ac % 4 == 3 ? whole.values[cell] * 60.0 / left : 0.0;
    EXPECT_NEAR(part.values[cell], expected, 1e-10);
  });
  Rng rng(1);
  const Table sample = given->sample(200, rng);
  for (std::size_t r = 0; r < 200; ++r) {
    EXPECT_NE(sample.column(0)[r], 1U);
    EXPECT_EQ(sample.column(2)[r], 3U);
  }
  EXPECT_THROW(model.given({0, {}}), UsageError);
}

TEST(GraphicalModel, RefusesMarginalsTooLargeToHold) {
  std::vector<Attribute> attributes;
  for (int i = 0; i < 40; ++i) attributes.push_back({"c" + std::to_string(i), 4, {}});
  const Domain domain(attributes);
  const GraphicalModel model(domain, 1.0);
  std::vector<AttributeId> ids(20);
  for (AttributeId i = 0; i < 20; ++i) ids[i] = i;
  EXPECT_THROW(model.project(Clique(ids)), UsageError);
  Rng rng(1);
  EXPECT_EQ(model.sample(10, rng).rows(), 10U);
}

}  // namespace
}  // namespace tandem
