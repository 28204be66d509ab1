// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/score_grid.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tandem/base/rng.h"

namespace tandem {
namespace {

// The definition, cell by cell in wide whole numbers.
std::int64_t by_definition(const Score& score, const ScoreGrid& grid, const Factor& counts) {
  auto units =
      static_cast<Int128>(std::nearbyint(std::ldexp(score.constant(), 40 - grid.exponent)));
  for (const auto& term : score.terms()) {
    Int128 sum = 0;
    for (std::size_t i = 0; i < counts.values.size(); ++i) {
      const Int128 difference =
          static_cast<Int128>(std::nearbyint(counts.values[i] * 0x1p20)) -
          static_cast<Int128>(std::nearbyint(term.reference->values[i] * 0x1p20));
      sum += difference < 0 ? -difference : difference;
    }
    units += sum * static_cast<Int128>(std::nearbyint(std::ldexp(term.weight, 20 - grid.exponent)));
  }
  constexpr Int128 kMost = Int128{1} << 61;
  return static_cast<std::int64_t>(std::clamp(units >> grid.shift, -kMost, kMost));
}

// Whole counts, and references beside them: some half a unit of the grid off, where rounding is to
// even, and below zero.
Factor counts_up_to(double most, std::size_t cells, Rng& rng) {
  Factor out{Clique{0}, {}};
  for (std::size_t i = 0; i < cells; ++i) out.values.push_back(std::floor(rng.uniform() * most));
  return out;
}
Factor reference_up_to(double most, std::size_t cells, Rng& rng) {
  auto out = counts_up_to(most, cells, rng);
  for (double& value : out.values) {
    value += rng.below(2) == 0 ? rng.uniform() : std::ldexp(rng.uniform() < 0.5 ? 1.0 : 3.0, -21);
    if (rng.below(8) == 0) value = -value;
  }
  return out;
}

void check_scores(double most, std::uint32_t cells, std::size_t marginals, Rng& rng) {
  const Domain domain({{"a", cells, {}}});
  const auto counts = counts_up_to(most, cells, rng);
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < marginals; ++i) {
    const Score model = l1_error(reference_up_to(most, cells, rng));
    const Score proxy = l1_error(reference_up_to(most, cells, rng));
    candidates.push_back({Clique{0}, Origin::Private, 1.5 * rng.uniform() * (model - 17.3)});
    candidates.push_back({Clique{0}, Origin::Public, model - proxy + model});
  }
  const auto grid = ScoreGrid::of(candidates, domain, {});
  for (const int threads : {1, 3}) {
    const auto values = evaluate(
        candidates, grid, [&](const Clique&) -> const Factor& { return counts; }, Threads{threads});
    ASSERT_EQ(values.size(), candidates.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(values[i], by_definition(candidates[i].score, grid, counts)) << i;
    }
  }
}

RC_GTEST_PROP(ScoreGrid, L1ErrorsAreTheirDefinition, ()) {
  // Up to 2^30 sums are quick, beyond it they are not.
  const double most = *rc::gen::element(3.0, 1e5, 0x1p30, 0x1p31, 0x1p36);
  const auto cells = *rc::gen::inRange<std::uint32_t>(1, 70);
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  check_scores(most, cells, 3, rng);
}

TEST(ScoreGrid, ARateIsWhatItsEpsilonPaysForAndNoLess) {
  for (const std::uint64_t sensitivity : {1ULL, 3ULL, 1ULL << 20, 123456789123ULL}) {
    for (const double epsilon : {1e-9, 0.1, 0.3, 1.0, 7.0, 1000.0}) {
      ScoreGrid grid;
      grid.shift = 33;
      grid.sensitivity = sensitivity;
      const double rate = grid.rate_for(epsilon);
      EXPECT_LT(rate * 2.0 * static_cast<double>(sensitivity), epsilon * (1.0 + 1e-15));
      EXPECT_GT(rate * 2.0 * static_cast<double>(sensitivity), epsilon * (1.0 - 1e-15));
      const double back = grid.epsilon_for(rate / grid.step());
      EXPECT_NEAR(back, epsilon, epsilon * 1e-14);
    }
  }
  EXPECT_EQ(ScoreGrid().rate_for(0.0), 0.0);
  EXPECT_GT(ScoreGrid().rate_for(1.0), 0.49);  // what nobody can move
}

TEST(ScoreGrid, L1ErrorsOfManyCellsAreTheirDefinition) {
  Rng rng(7);
  check_scores(1e6, 100'000, 3, rng);  // enough for several threads
  check_scores(0x1p30, 5'000, 2, rng);
  check_scores(0x1p30 + 2.0, 5'000, 2, rng);
}

}  // namespace
}  // namespace tandem
