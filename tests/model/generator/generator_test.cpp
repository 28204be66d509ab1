// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/generator/generator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace tandem {
namespace {

NetworkShape small_shape() { return {.rows = 300, .inputs = 6, .hidden = {70, 9}, .codes = 11}; }

// The sum of logits times fixed numbers, and its gradient.
struct Loss {
  NetworkShape shape = small_shape();
  std::unique_ptr<Generator> network;
  Floats above;
  Team team;

  explicit Loss(int threads = 1) : team(Threads{.count = threads}) {
    Rng rng(3);
    network = network_generator(shape, rng);
    above = normal_numbers(shape.rows * shape.codes, 1.0F, rng);
  }
  double value() {
    Floats logits(above.size());
    network->forward({logits.data(), shape.codes, shape.rows, shape.rows}, team);
    double sum = 0.0;
    for (std::size_t i = 0; i < above.size(); ++i) sum += 1.0 * logits[i] * above[i];
    return sum;
  }
  Floats gradient() {
    value();
    Floats out(shape.parameters(), 5.0F);
    auto copy = above;
    network->back({copy.data(), shape.codes, shape.rows, shape.rows}, out, team);
    return out;
  }
};

// Along random directions in each part of the parameters: weights, scales and shifts of each block.
// Shifts keep every output of a block well above zero or well below, where it has a derivative.
TEST(Network, TheWayBackIsItsDerivative) {
  Loss loss;
  const std::vector<std::size_t> parts = {
      0, 420, 490, 560, 1244, 1253, 1262, 1262 + 85 * 11, 1262 + 86 * 11};
  for (const std::size_t shift : {2, 5}) {
    for (std::size_t i = parts[shift]; i < parts[shift + 1]; ++i) {
      loss.network->parameters()[i] = i % 3 == 0 ? -10.0F : 10.0F;
    }
  }
  const auto gradient = loss.gradient();
  ASSERT_EQ(loss.network->parameters().size(), gradient.size());
  ASSERT_EQ(parts.back(), gradient.size());
  Rng rng(4);
  for (std::size_t p = 0; p + 1 < parts.size(); ++p) {
    const std::size_t count = parts[p + 1] - parts[p];
    for (int i = 0; i < 3; ++i) {
      const auto direction = normal_numbers(count, 1.0F, rng);
      const auto move = [&](float by) {
        for (std::size_t j = 0; j < count; ++j) {
          loss.network->parameters()[parts[p] + j] += by * direction[j];
        }
      };
      double expected = 0.0;
      for (std::size_t j = 0; j < count; ++j) expected += gradient[parts[p] + j] * direction[j];
      constexpr float kStep = 2e-3F;
      move(kStep);
      const double up = loss.value();
      move(-2.0F * kStep);
      const double down = loss.value();
      move(kStep);
      EXPECT_NEAR((up - down) / (2.0 * kStep), expected, 0.01 * std::abs(expected) + 1.0)
          << "part " << p;
    }
  }
}

TEST(Network, IsTheSameForAnyNumberOfThreads) {
  Loss one(1);
  Loss three(3);
  EXPECT_EQ(one.value(), three.value());
  EXPECT_EQ(one.gradient(), three.gradient());
}

TEST(Network, WithoutBlocksIsALinearMap) {
  NetworkShape shape = small_shape();
  shape.hidden.clear();
  EXPECT_EQ(shape.parameters(), 7U * 11U);
  Rng rng(1);
  const auto network = network_generator(shape, rng);
  Team team(Threads{});
  Floats logits(shape.rows * shape.codes);
  network->forward({logits.data(), shape.codes, shape.rows, shape.rows}, team);
  for (const float value : logits) ASSERT_TRUE(std::isfinite(value));
}

TEST(Rows, HandOverTheirNumbersAndTheirGradient) {
  const auto rows = rows_generator({1.0F, 2.0F, 3.0F, 4.0F});
  Team team(Threads{});
  Floats logits(4);
  rows->forward({logits.data(), 2, 2, 2}, team);
  EXPECT_EQ(logits, (Floats{1.0F, 2.0F, 3.0F, 4.0F}));
  Floats gradient(4);
  rows->back({logits.data(), 2, 2, 2}, gradient, team);
  EXPECT_EQ(gradient, logits);
}

}  // namespace
}  // namespace tandem
