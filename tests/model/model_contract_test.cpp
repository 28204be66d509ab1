// SPDX-License-Identifier: Apache-2.0
#include "model/model_contract.h"

namespace tandem::test {

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
