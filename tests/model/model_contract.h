// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every Model promises, as one suite. A new kind of model passes it by
//
//   INSTANTIATE_TEST_SUITE_P(Product, ModelContract,
//                            testing::Values(ModelMaker([](const Table& table) { ... })));
//
// where the maker fits a model to a table, as well as models of its kind can.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "tandem/base/rng.h"
#include "tandem/model/model.h"
#include "tandem/query/counting.h"
#include "tandem/query/projectable.h"

namespace tandem::test {

using ModelMaker = std::function<std::unique_ptr<Model>(const Table&)>;

static_assert(Projectable<Model>);

class ModelContract : public testing::TestWithParam<ModelMaker> {
 protected:
  static constexpr std::size_t kRows = 400;

  // One byte, two bytes, a single value, a code that never occurs.
  static Domain domain() {
    return Domain({{"a", 3, {}}, {"wide", 300, {}}, {"one", 1, {}}, {"b", 4, {}}, {"c", 2, {}}});
  }

  static Table table() {
    Table out(domain(), kRows);
    Rng rng(11);
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto a = static_cast<Code>(rng.below(3));
      out.column(0).set(r, a);
      out.column(1).set(r, static_cast<Code>(rng.below(290)));
      out.column(3).set(r, (a + static_cast<Code>(rng.below(2))) % 3);  // never 3
      out.column(4).set(r, static_cast<Code>(rng.below(4) == 0));
    }
    return out;
  }

  static std::vector<Clique> cliques() {
    return {{}, {0}, {1}, {2}, {3}, {4}, {0, 3}, {1, 4}, {0, 2}, {0, 3, 4}, {0, 1, 2, 3, 4}};
  }

  static void expect_near(const Factor& left, const Factor& right, double tolerance) {
    ASSERT_EQ(left.clique, right.clique);
    ASSERT_EQ(left.values.size(), right.values.size());
    for (std::size_t i = 0; i < left.values.size(); ++i) {
      EXPECT_NEAR(left.values[i], right.values[i], tolerance);
    }
  }

  std::unique_ptr<Model> model_ = GetParam()(table());
};

TEST_P(ModelContract, KnowsItsDomain) { EXPECT_EQ(model_->domain(), domain()); }

TEST_P(ModelContract, ProjectionsHaveTheirCellsAndNothingBelowZero) {
  for (const auto& clique : cliques()) {
    const auto factor = model_->project(clique);
    EXPECT_EQ(factor.clique, clique);
    ASSERT_EQ(factor.values.size(), domain().cells(clique));
    for (const double value : factor.values) {
      EXPECT_TRUE(std::isfinite(value));
      EXPECT_GE(value, 0.0);
    }
  }
}

TEST_P(ModelContract, ProjectionsHaveOneTotal) {
  EXPECT_NEAR(total(model_->project({})), static_cast<double>(kRows), 1e-6 * kRows);
  for (const auto& clique : cliques()) {
    EXPECT_NEAR(total(model_->project(clique)), total(model_->project({})), 1e-9 * kRows);
  }
}

TEST_P(ModelContract, ProjectionsAgreeOnWhatTheyShare) {
  for (const auto& large : cliques()) {
    const auto factor = model_->project(large);
    for (const auto& small : cliques()) {
      bool inside = true;
      for (const auto id : small) inside = inside && large.contains(id);
      if (!inside) continue;
      expect_near(marginalize(factor, domain(), small), model_->project(small), 1e-9 * kRows);
    }
  }
}

TEST_P(ModelContract, ProjectingChangesNothing) {
  const auto before = model_->project({0, 3});
  for (const auto& clique : cliques()) model_->project(clique);
  EXPECT_EQ(model_->project({0, 3}), before);
}

TEST_P(ModelContract, SamplesHaveTheShapeAskedForAndCodesOfTheDomain) {
  for (const std::size_t rows :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{997}}) {
    Rng rng(rows);
    const Table sample = model_->sample(rows, rng);
    EXPECT_EQ(sample.domain(), domain());
    ASSERT_EQ(sample.rows(), rows);
    for (AttributeId id = 0; id < domain().size(); ++id) {
      ASSERT_EQ(sample.column(id).rows(), rows);
      for (std::size_t r = 0; r < rows; ++r) ASSERT_LT(sample.column(id)[r], domain()[id].size);
    }
  }
}

TEST_P(ModelContract, TheSameSeedGivesTheSameSample) {
  Rng first(5);
  Rng second(5);
  Rng other(6);
  const Table sample = model_->sample(500, first);
  EXPECT_EQ(sample, model_->sample(500, second));
  EXPECT_NE(sample, model_->sample(500, other));
}

TEST_P(ModelContract, ABigSampleHasTheModelsMarginals) {
  constexpr std::size_t kSample = 200'000;
  Rng rng(8);
  const CountedTable sample(model_->sample(kSample, rng));
  for (const auto& clique : cliques()) {
    if (domain().cells(clique) > 1000) continue;
    const auto expected = model_->project(clique);
    const auto found = sample.project(clique);
    const double all = total(expected);
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      const double p = expected.values[i] / all;
      const double deviation = std::sqrt(p * (1.0 - p) / kSample) + 1.0 / kSample;
      EXPECT_NEAR(found.values[i] / kSample, p, 6.0 * deviation);
    }
  }
}

}  // namespace tandem::test
