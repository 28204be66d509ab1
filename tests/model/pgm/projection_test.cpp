// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/projection.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "model/pgm/dense_model.h"
#include "tandem/base/rng.h"
#include "tandem/query/workload.h"

namespace tandem {
namespace {

Domain sized(std::initializer_list<Code> sizes) {
  std::vector<Attribute> attributes;
  for (const Code size : sizes) {
    attributes.push_back({"c" + std::to_string(attributes.size()), size, {}});
  }
  return Domain(std::move(attributes));
}

std::vector<Factor> potentials_on(const Domain& domain, std::span<const Clique> cliques) {
  Rng rng(7);
  std::vector<Factor> out;
  for (const auto& clique : cliques) {
    Factor factor{clique, std::vector<double>(domain.cells(clique))};
    for (double& value : factor.values) value = 3.0 * rng.uniform();
    out.push_back(std::move(factor));
  }
  return out;
}

RC_GTEST_PROP(Projection, AreThoseOfTheWholeDistributionInSlicesOfAnySize, ()) {
  const Domain domain = test::any_domain({1, 2, 3, 5}, 6);
  const auto potentials = test::any_potentials(domain, 3.0);
  const auto dense = test::dense_model(domain, potentials, 1.0);
  const GraphicalModel model(domain, potentials, 1.0);
  const auto slice = *rc::gen::elementOf(std::vector<std::size_t>{1, 4, 30, 1000});
  std::vector<Clique> cliques;
  for (int i = 0; i < 6; ++i) cliques.push_back(test::any_clique(domain, 400));
  const auto found = Projection(model, slice).project(cliques, Threads{1});
  for (std::size_t i = 0; i < cliques.size(); ++i) {
    RC_ASSERT(test::near(found[i], marginalize(dense, domain, cliques[i]), 1e-10));
  }
}

// A large clique with several beyond it: attributes come alone, in pairs and in triples, and some
// by way of a single other one.
const Domain& wide_domain() {
  static const Domain domain = sized({4, 3, 5, 2, 4, 3, 4, 5, 3, 2, 2, 2});
  return domain;
}

std::vector<Factor> wide_tree() {
  const std::vector<Clique> cliques = {
      {0, 1, 2, 3, 4, 5, 6}, {0, 2, 4, 6, 7}, {1, 3, 5, 8}, {6, 7, 10}, {8, 9}, {7, 11}};
  return potentials_on(wide_domain(), cliques);
}

std::vector<Clique> asked() {
  auto out = Workload::all_k_way(wide_domain(), 3).downward_closure();
  Rng rng(1);
  const auto wide = Workload::all_k_way(wide_domain(), 5);
  for (const auto& [clique, weight] : wide.cliques()) {
    if (rng.below(16) == 0) out.push_back(clique);
  }
  out.push_back(Clique{2, 5, 9});  // for the second time
  return out;
}

const std::vector<Factor>& answers() {
  static const std::vector<Factor> out = [] {
    const auto dense = test::dense_model(wide_domain(), wide_tree(), 1.0);
    std::vector<Factor> found;
    for (const auto& clique : asked()) found.push_back(marginalize(dense, wide_domain(), clique));
    return found;
  }();
  return out;
}

class SlicedTree : public testing::TestWithParam<std::size_t> {};

TEST_P(SlicedTree, AnswerAsTheWholeDistributionDoes) {
  const GraphicalModel model(wide_domain(), wide_tree(), 1.0);
  for (const int threads : {1, 2}) {
    const auto found = Projection(model, GetParam()).project(asked(), Threads{threads});
    ASSERT_EQ(found.size(), answers().size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_TRUE(test::near(found[i], answers()[i], 1e-10))
          << wide_domain().describe(found[i].clique);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, SlicedTree, testing::Values(8, 50, 700, Projection::kSliceCells));

bool has(std::span<const ProjectionRoutes::StandIn> all, AttributeId gone, AttributeId by) {
  return std::ranges::any_of(all, [&](const auto& s) { return s.gone == gone && s.by == by; });
}

TEST(ProjectionRoutes, OneAttributeStandsInForAnotherThatItKeepsApart) {
  const GraphicalModel model(wide_domain(), wide_tree(), 1.0);
  const ProjectionRoutes routes(model);
  const auto far_apart = routes.stand_ins(Clique{2, 9, 11});
  EXPECT_EQ(far_apart.size(), 2U);
  EXPECT_TRUE(has(far_apart, 9, 8));
  EXPECT_TRUE(has(far_apart, 11, 7));
  EXPECT_TRUE(has(routes.stand_ins(Clique{2, 8, 9}), 9, 8));  // it may be asked for itself
  EXPECT_TRUE(has(routes.stand_ins(Clique{9, 11}), 9, 8));
  EXPECT_TRUE(routes.stand_ins(Clique{0, 8, 10}).empty());
}

}  // namespace
}  // namespace tandem
