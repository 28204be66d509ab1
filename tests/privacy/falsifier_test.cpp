// SPDX-License-Identifier: Apache-2.0
// The sensitivity falsifier: reaches every declaration, exceeds none, and sees wrong ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

#include "privacy/proofs/falsifier.h"
#include "privacy/proofs/proofs.h"
#include "tandem/base/error.h"
#include "tandem/privacy/sensitivity.h"

namespace tandem::proofs {
namespace {

constexpr auto kNone = std::nullopt;

TEST(Falsifier, ReachesAndNeverExceedsScores) { EXPECT_EQ(scores_move_as_declared(), kNone); }
TEST(Falsifier, ReachesAndNeverExceedsCellScores) {
  EXPECT_EQ(cell_scores_move_as_declared(), kNone);
}
TEST(Falsifier, ProductsMoveAsDeclared) { EXPECT_EQ(products_move_as_declared(), std::nullopt); }
TEST(Falsifier, StacksMoveAsDeclared) { EXPECT_EQ(stacks_move_as_declared(), std::nullopt); }
TEST(Falsifier, FindsStrategiesExact) { EXPECT_EQ(strategies_move_as_declared(), kNone); }
TEST(Falsifier, ReachesAndNeverExceedsConjunctions) {
  EXPECT_EQ(conjunctions_move_as_declared(), kNone);
}
TEST(Falsifier, FewRowsMoveTheirShare) { EXPECT_EQ(few_rows_move_their_share(), kNone); }

// The error that made a published port of JAM unsafe.
TEST(Falsifier, CatchesTwoForFour) {
  const auto forms = candidate_forms(domain_of({2, 3}));
  const auto jam = std::ranges::find(forms, "an error less another", &ScoreForm::name);
  ASSERT_NE(jam, forms.end());
  const PrivacyUnit unit{Neighbors::ReplaceOne, 1};
  auto found = climb(*jam, unit, 1, 7);
  EXPECT_EQ(judge("JAM", found, 4.0), kNone);
  found.grid.sensitivity /= 2;
  EXPECT_NE(judge("JAM", found, 2.0), kNone);
}

TEST(Falsifier, CatchesADeclarationThatIsTooLarge) {
  const auto forms = candidate_forms(domain_of({2, 3}));
  auto found = climb(forms.front(), {Neighbors::AddRemove, 1}, 1, 8);
  EXPECT_EQ(judge("L1", found, 1.0), kNone);
  found.grid.sensitivity *= 2;
  EXPECT_NE(judge("L1", found, 2.0), kNone);
}

// ---- Beyond what a search meets -----------------------------------------------------------------

// Counts, references and weights at their limits: values saturate, so neighbours stay within the
// declaration, and signs stay right.
TEST(ScoreGrid, SaturatesInsteadOfOverflowing) {
  const std::size_t cells = std::size_t{1} << 16;
  const Domain domain = domain_of({static_cast<Code>(cells)});
  const Clique all{0};
  Factor far{all, std::vector<double>(cells, 0x1p40)};
  Score heavy = 0x1p30 * l1_error(far);
  for (int i = 0; i < 6; ++i) heavy = heavy + 0x1p30 * l1_error(far);
  const std::vector<Candidate> candidates = {{all, Origin::Private, heavy},
                                             {all, Origin::Private, -1.0 * heavy},
                                             {all, Origin::Private, Score(0x1p42)}};
  for (const auto& unit : units(2)) {
    const ScoreGrid grid = ScoreGrid::of(candidates, domain, unit);
    Factor counts{all, std::vector<double>(cells, 0.0)};
    const TrueCounts look = [&](const Clique&) -> const Factor& { return counts; };
    std::vector<std::vector<std::int64_t>> values;
    for (const double rows : {0.0, 1.0, 0x1p39, 0x1p40, 0x1p52}) {
      counts.values[0] = rows;
      values.push_back(evaluate(candidates, grid, look));
      EXPECT_GT(values.back()[0], 0);
      EXPECT_LT(values.back()[1], 0);
      EXPECT_GE(values.back()[2], 0);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      const auto apart = static_cast<std::uint64_t>(std::abs(values[0][i] - values[1][i]));
      EXPECT_LE(apart, grid.sensitivity);
    }
  }
}

TEST(ScoreGrid, SaturatesMapsToo) {
  const Domain domain = domain_of({4});
  const std::int64_t huge = std::int64_t{1} << 40;
  const LinearQuery query{Clique{0},
                          LinearMap::rows({{{0, huge}, {1, -huge}}, {{2, huge}, {3, 1}}}, 4, 12)};
  const std::vector<double> reference = {0x1p40, -0x1p40};
  const std::vector<CellScores> scores = {{query, reference, CellScore::Absolute, 0x1p30},
                                          {query, reference, CellScore::Signed, -0x1p30}};
  for (const auto& unit : units(3)) {
    const ScoreGrid grid = ScoreGrid::of(scores, domain, unit);
    Factor counts{Clique{0}, {0.0, 0.0, 0.0, 0.0}};
    const TrueCounts look = [&](const Clique&) -> const Factor& { return counts; };
    const auto values_at = [&](double rows) {
      counts.values = {rows, 0.0, 0.0, 0.0};
      return evaluate(scores, grid, look);
    };
    for (const double rows : {0.0, 1.0, 0x1p20, 0x1p32, 0x1p43}) {
      const auto here = values_at(rows);
      const auto there = values_at(rows + 1.0);
      for (std::size_t i = 0; i < here.size(); ++i) {
        EXPECT_LE(static_cast<std::uint64_t>(std::abs(here[i] - there[i])), grid.sensitivity);
      }
      EXPECT_LE(there[2], here[2]);  // minus a sum that grows: never wrapped around
    }
  }
}

// A weight of 1/n must not vanish: the better candidate stays better, at the same distance in
// sensitivities, whatever the size of the weights.
TEST(ScoreGrid, KeepsTheDigitsOfSmallAndLargeWeights) {
  const Domain domain = domain_of({3});
  const Factor model{Clique{0}, {10.0, 20.0, 30.0}};
  const Factor counts{Clique{0}, {13.0, 20.0, 27.0}};
  const TrueCounts look = [&](const Clique&) -> const Factor& { return counts; };
  for (const double scale : {1.0, 1.0 / 3.0, 1e-7, 1e-30, 3e12, 1e100}) {
    const std::vector<Candidate> candidates = {
        {Clique{0}, Origin::Private, scale * (l1_error(model) - 2.25)},
        {Clique{0}, Origin::Private, (scale / 1024.0) * absolute_error(model, 0) + scale}};
    const ScoreGrid grid = ScoreGrid::of(candidates, domain, PrivacyUnit{});
    EXPECT_GE(grid.sensitivity, std::uint64_t{1} << 20);
    EXPECT_NEAR(static_cast<double>(grid.sensitivity) * grid.step(), 2.0 * scale, 4e-6 * scale);
    const auto values = evaluate(candidates, grid, look);
    EXPECT_NEAR(static_cast<double>(values[0]) * grid.step(), 3.75 * scale, 4e-6 * scale);
    EXPECT_NEAR(static_cast<double>(values[1]) * grid.step(), (1.0 + 3.0 / 1024.0) * scale,
                4e-6 * scale);
  }
}

TEST(ScoreGrid, RefusesWeightsThatAreNoNumbers) {
  const Domain domain = domain_of({2});
  const Factor model{Clique{0}, {1.0, 2.0}};
  for (const double weight : {HUGE_VAL, std::nan(""), 1e200}) {
    const std::vector<Candidate> candidates = {
        {Clique{0}, Origin::Private, weight * l1_error(model)}};
    EXPECT_THROW(ScoreGrid::of(candidates, domain, PrivacyUnit{}), InternalError);
  }
  const std::vector<Candidate> candidates = {{Clique{0}, Origin::Private, Score(std::nan(""))}};
  const ScoreGrid grid = ScoreGrid::of(candidates, domain, PrivacyUnit{});
  EXPECT_THROW(evaluate(candidates, grid, [&](const Clique&) -> const Factor& { return model; }),
               InternalError);
}

TEST(ScoreGrid, RefusesUnitsItCannotHold) {
  const Domain domain = domain_of({2});
  const std::vector<double> reference = {0.0};
  for (const int exponent : {-21, 21}) {
    const std::vector<CellScores> scores = {{{Clique{0}, LinearMap::rows({{{0, 1}}}, 2, exponent)},
                                             reference,
                                             CellScore::Absolute,
                                             1.0}};
    EXPECT_THROW(ScoreGrid::of(scores, domain, PrivacyUnit{}), UsageError);
  }
}

// Its rows cannot differ there, so it moves no query further and brings none nearer.
TEST(Sensitivity, AColumnOfOneCodeChangesNothing) {
  const Domain domain({{"one", 1, {}}, {"three", 3, {}}});
  const auto shared = [](AxisMap map) { return std::make_shared<const AxisMap>(std::move(map)); };
  for (const auto neighbors : {Neighbors::ReplaceOne, Neighbors::AddRemove}) {
    for (const int rows : {1, 3}) {
      const PrivacyUnit unit{neighbors, rows};
      for (const auto& map :
           {AxisMap::identity(3), AxisMap::centred(3), AxisMap::given({1, 0, 2, -1, 1, 0}, 3)}) {
        const LinearQuery alone{Clique{1}, LinearMap::kronecker({shared(map)})};
        const LinearQuery beside{Clique{0, 1},
                                 LinearMap::kronecker({shared(AxisMap::identity(1)), shared(map)})};
        const auto a = sensitivity_of(alone, domain, unit);
        const auto b = sensitivity_of(beside, domain, unit);
        EXPECT_EQ(a.l1.value(), b.l1.value()) << map.describe();
        EXPECT_EQ(a.squared_l2.value(), b.squared_l2.value()) << map.describe();
      }
    }
  }
}

TEST(Sensitivity, IsRefusedBeforeItOverflows) {
  const Domain domain = domain_of({2});
  const std::int64_t huge = std::int64_t{1} << 40;
  std::vector<std::vector<LinearMap::Entry>> rows(1024, {{0, huge}, {1, -huge}});
  const LinearQuery query{Clique{0}, LinearMap::rows(rows, 2)};
  const auto one = sensitivity_of(query, domain, {Neighbors::ReplaceOne, 1});
  EXPECT_EQ(one.squared_l2.value(), 1024.0 * std::ldexp(1.0, 82));
  EXPECT_THROW(sensitivity_of(query, domain, {Neighbors::ReplaceOne, 1 << 20}), UsageError);
  EXPECT_THROW(sensitivity_of({Clique{0}, LinearMap::rows({{{0, huge + 1}}}, 2)}, domain, {}),
               UsageError);
}

}  // namespace
}  // namespace tandem::proofs
