// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every Model promises, as one suite. A new kind of model passes it by
//
//   INSTANTIATE_TEST_SUITE_P(Product, ModelContract,
//                            testing::Values(ModelMaker([](const Table& table) { ... })));
//
// where the maker fits a model to a table, as well as models of its kind can. The claims are in
// model_contract_test.cpp.

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

}  // namespace tandem::test
