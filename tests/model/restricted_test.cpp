// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/restricted.h"

#include <gtest/gtest.h>

#include <vector>

#include "model/kinds_of_model.h"

namespace tandem {
namespace {

using test::kinds_of_model;

TEST(Restricted, EveryKindOfModelHasItsConditionalMarginals) {
  const std::vector<Restriction> only = {{0, {0, 2}}, {4, {1}}};
  for (const auto& model : kinds_of_model()) {
    const auto joint = model->project({0, 3, 4});
    const auto [given, share] = restricted(*model, only);
    ASSERT_TRUE(given);
    const auto found = given->project({0, 3, 4});
    double mass = 0.0;
    for (std::size_t i = 0; i < joint.values.size(); ++i) {
      const bool kept = i / 8 != 1 && i % 2 == 1;
      if (kept) mass += joint.values[i];
    }
    EXPECT_NEAR(share, mass / total(joint), 1e-9);
    for (std::size_t i = 0; i < joint.values.size(); ++i) {
      const bool kept = i / 8 != 1 && i % 2 == 1;
      EXPECT_NEAR(found.values[i], kept ? joint.values[i] / share : 0.0, 1e-6);
    }
    Rng rng(1);
    const Table sample = given->sample(100, rng);
    for (std::size_t r = 0; r < sample.rows(); ++r) {
      EXPECT_NE(sample.column(0)[r], 1U);
      EXPECT_EQ(sample.column(4)[r], 1U);
    }
  }
}

TEST(Restricted, WhatHasNoProbabilityHasAShareOfZero) {
  const auto all = kinds_of_model();
  for (const auto& model : all) {
    const auto [given, share] = restricted(*model, std::vector<Restriction>{{0, {}}});
    EXPECT_EQ(share, 0.0);
    EXPECT_FALSE(given);
  }
  // The structural zero of the graphical model: a = 1 with b = 1.
  EXPECT_EQ(restricted(*all[3], std::vector<Restriction>{{0, {1}}, {3, {1}}}).share, 0.0);
}

}  // namespace
}  // namespace tandem
