// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/mixture_model.h"

#include <gtest/gtest.h>

#include "model/model_contract.h"
#include "tandem/model/histogram/support_histogram.h"
#include "tandem/model/pgm/graphical_model.h"

namespace tandem {
namespace {

std::unique_ptr<Model> half_and_half(const Table& table) {
  const auto total = static_cast<double>(table.rows());
  std::vector<MixtureModel::Part> parts;
  parts.push_back({0.5, std::make_unique<GraphicalModel>(table.domain(), total)});
  parts.push_back(
      {0.5, std::make_unique<SupportHistogram>(public_rows({{{"table", table}}}), total)});
  return std::make_unique<MixtureModel>(std::move(parts));
}

TEST(MixtureModel, GivesEachPartItsShare) {
  const Domain domain({{"a", 2, {}}});
  const auto certain = [&](Code code) {
    const std::vector<std::vector<Code>> rows{{code}};
    return std::make_unique<SupportHistogram>(
        public_rows({{{"table", Table::from_rows(domain, rows)}}}), 100.0);
  };
  std::vector<MixtureModel::Part> parts;
  parts.push_back({0.75, certain(0)});
  parts.push_back({0.25, certain(1)});
  const MixtureModel model(std::move(parts));
  EXPECT_EQ(model.project({0}).values, (std::vector<double>{75.0, 25.0}));
  Rng rng(3);
  const Table sample = model.sample(40, rng);
  std::size_t ones = 0;
  for (std::size_t r = 0; r < 40; ++r) ones += sample.column(0)[r];
  EXPECT_EQ(ones, 10U);
}

}  // namespace

namespace test {
INSTANTIATE_TEST_SUITE_P(Mixture, ModelContract, testing::Values(ModelMaker(half_and_half)));
}  // namespace test

}  // namespace tandem
