// SPDX-License-Identifier: Apache-2.0
// Scales: where values lie, which are labelled, and labels that keep apart.

#include "tandem/report/axis.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace tandem::report {
namespace {

std::vector<std::string> labels(const Axis& axis, std::size_t most = 8) {
  std::vector<std::string> out;
  for (const auto& tick : axis.ticks(most)) out.push_back(tick.label);
  return out;
}

using Labels = std::vector<std::string>;

TEST(Axis, EqualRatiosAreEqualLengthsOnALogAxis) {
  const Axis axis(Axis::Kind::Log, 0.1, 10.0, 100.0, 300.0);
  EXPECT_NEAR(axis.at(0.1), 100.0, 1e-9);
  EXPECT_NEAR(axis.at(1.0), 200.0, 1e-9);
  EXPECT_NEAR(axis.at(10.0), 300.0, 1e-9);
}

TEST(Axis, ALinearAxisCanRunUpwards) {
  const Axis axis(Axis::Kind::Linear, 0.0, 2.0, 300.0, 100.0);
  EXPECT_NEAR(axis.at(0.5), 250.0, 1e-9);
}

TEST(Axis, LogarithmsAreForPositiveValuesFarApart) {
  EXPECT_EQ(Axis::kind_for(std::vector{0.1, 10.0}), Axis::Kind::Log);
  EXPECT_EQ(Axis::kind_for(std::vector{0.1, 0.2}), Axis::Kind::Linear);
  EXPECT_EQ(Axis::kind_for(std::vector{0.0, 10.0}), Axis::Kind::Linear);
  EXPECT_EQ(Axis::kind_for({}), Axis::Kind::Linear);
}

TEST(Axis, RoundValuesAreLabelled) {
  EXPECT_EQ(labels({Axis::Kind::Log, 0.071, 0.6, 0, 1}), (Labels{"0.1", "0.2", "0.3", "0.5"}));
  EXPECT_EQ(labels({Axis::Kind::Log, 0.1, 5.0, 0, 1}),
            (Labels{"0.1", "0.2", "0.5", "1", "2", "5"}));
  EXPECT_EQ(labels({Axis::Kind::Log, 0.001, 10.0, 0, 1}),
            (Labels{"0.001", "0.01", "0.1", "1", "10"}));
  EXPECT_EQ(labels({Axis::Kind::Linear, 0.0, 0.3, 0, 1}),
            (Labels{"0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3"}));
  EXPECT_EQ(labels({Axis::Kind::Linear, 0.0, 1.0, 0, 1}, 5),
            (Labels{"0", "0.2", "0.4", "0.6", "0.8", "1"}));
}

RC_GTEST_PROP(Axis, TicksLieOnTheAxisAndAreFew, ()) {
  const double low = static_cast<double>(*rc::gen::inRange(1, 1000)) / 1e4;
  const double high = low * (1.0 + static_cast<double>(*rc::gen::inRange(1, 100'000)) / 100.0);
  for (const auto kind : {Axis::Kind::Linear, Axis::Kind::Log}) {
    const Axis axis(kind, low, high, 0.0, 100.0);
    const auto ticks = axis.ticks(8);
    RC_ASSERT(ticks.size() <= 12U);
    for (const auto& tick : ticks) {
      RC_ASSERT(axis.at(tick.value) >= -1e-6 && axis.at(tick.value) <= 100.0 + 1e-6);
    }
  }
}

TEST(Axis, NumbersArePlain) {
  EXPECT_EQ(plain_number(0.0), "0");
  EXPECT_EQ(plain_number(0.0001), "0.0001");
  EXPECT_EQ(plain_number(3.16), "3.16");
  EXPECT_EQ(plain_number(2e-7), "2e-7");
  EXPECT_EQ(plain_number(2.5e9), "2.5e9");
}

TEST(SpreadApart, LeavesWhatIsFarEnough) {
  EXPECT_EQ(spread_apart(std::vector{50.0, 10.0, 90.0}, 15.0, 0.0, 100.0),
            (std::vector{50.0, 10.0, 90.0}));
}

TEST(SpreadApart, MovesNeighboursEvenlyAndStaysInside) {
  EXPECT_EQ(spread_apart(std::vector{50.0, 50.0}, 10.0, 0.0, 100.0), (std::vector{45.0, 55.0}));
  EXPECT_EQ(spread_apart(std::vector{99.0, 98.0}, 10.0, 0.0, 100.0), (std::vector{100.0, 90.0}));
}

RC_GTEST_PROP(SpreadApart, KeepsTheOrderAndTheGap, (const std::vector<std::uint8_t>& bytes)) {
  const std::size_t count = std::min<std::size_t>(bytes.size(), 12);
  const std::vector<double> wanted(bytes.begin(), bytes.begin() + static_cast<long>(count));
  const auto places = spread_apart(wanted, 20.0, 0.0, 255.0);
  for (std::size_t i = 0; i < count; ++i) {
    RC_ASSERT(places[i] >= -1e-9 && places[i] <= 255.0 + 1e-9);
    for (std::size_t j = 0; j < count; ++j) {
      if (wanted[i] < wanted[j]) RC_ASSERT(places[j] - places[i] >= 20.0 - 1e-9);
    }
  }
}

}  // namespace
}  // namespace tandem::report
