// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/partial_workload.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tandem/base/rng.h"

namespace tandem {
namespace {

const Domain kDomain({{"a", 2, {}}, {"b", 3, {}}});

Table three_rows() {
  const std::vector<std::vector<Code>> rows = {{0, 0}, {0, 2}, {1, 2}};
  return Table::from_rows(kDomain, rows);
}

TEST(PartialWorkload, SortsRowsIntoTheCellsThatHaveSome) {
  const PartialWorkload W(three_rows(), {1}, std::vector<double>{0.5, 0.2, 0.3});
  EXPECT_TRUE(W.covers());
  ASSERT_EQ(W.cells(), 2U);
  EXPECT_EQ(std::vector<std::uint32_t>(W.cell().begin(), W.cell().end()),
            (std::vector<std::uint32_t>{0, 1, 1}));
  EXPECT_EQ(std::vector<double>(W.rows_in().begin(), W.rows_in().end()),
            (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(W.unseen_cells(), 1U);
  EXPECT_DOUBLE_EQ(W.unseen(), 0.2);
  EXPECT_DOUBLE_EQ(W.out_of_reach(), 0.2);
  std::vector<double> b(2);
  W.sum(std::vector<double>{0.1, 0.2, 0.7}, b);
  EXPECT_DOUBLE_EQ(b[0], 0.1);
  EXPECT_DOUBLE_EQ(b[1], 0.9);
  EXPECT_DOUBLE_EQ(W.misfit(b), 0.4 + 0.6);
}

// |x - y~| is |x - clamp(y~)| plus a constant for every x from 0 to 1.
TEST(PartialWorkload, ImpossibleAnswersAreOutOfReachAndMisfitIsTheSame) {
  const std::vector<double> shares = {-0.5, 0.25, 4.0};
  const PartialWorkload W(three_rows(), {1}, shares);
  const std::vector<double> q = {0.1, 0.2, 0.7};
  std::vector<double> b(2);
  W.sum(q, b);
  EXPECT_NEAR(W.misfit(b) + W.out_of_reach(), 0.6 + 0.25 + 3.1, 1e-12);
  EXPECT_NEAR(misfit_of(std::span(&W, 1), q) + out_of_reach(std::span(&W, 1)), 3.95, 1e-12);
}

TEST(PartialWorkload, RowsOutsideSomeCellsAreTheLast) {
  const std::vector<std::size_t> cells = {5, 1};  // a=1 b=2 and a=0 b=1 of both columns
  const PartialWorkload W(three_rows(), {0, 1}, cells, std::vector<double>{0.4, 0.1});
  EXPECT_FALSE(W.covers());
  EXPECT_EQ(W.answered(), 1U);
  ASSERT_EQ(W.cells(), 2U);
  EXPECT_EQ(W.cell()[0], 1U);
  EXPECT_EQ(W.cell()[2], 0U);
  EXPECT_DOUBLE_EQ(W.out_of_reach(), 0.1);
}

TEST(PartialWorkload, SumsAreThoseOfAPlainLoopWhateverTheNumberOfCells) {
  for (const Code size : {Code{1}, Code{3}, Code{500}, Code{700}}) {
    Table rows(Domain({{"a", size, {}}}), 1003);
    Rng rng(1);
    std::vector<double> weights;
    for (std::size_t r = 0; r < rows.rows(); ++r) {
      rows.column(0).set(r, static_cast<Code>(rng.below(size)));
      weights.push_back(rng.uniform());
    }
    const PartialWorkload W(rows, {0}, std::vector<double>(size, 0.0));
    std::vector<double> found(W.cells());
    std::vector<double> slow(W.cells(), 0.0);
    W.sum(weights, found);
    for (std::size_t r = 0; r < rows.rows(); ++r) slow[W.cell()[r]] += weights[r];
    for (std::size_t j = 0; j < slow.size(); ++j) EXPECT_NEAR(found[j], slow[j], 1e-9);
  }
}

TEST(PartialWorkload, SortedRowsCanBeShared) {
  Table rows(Domain({{"a", 3, {}}}), 2);
  rows.column(0).set(1, 2);
  const auto sorted = std::make_shared<const SortedRows>(rows, Clique{0});
  const PartialWorkload one(sorted, std::vector<double>{0.5, 0.25, 0.25});
  const PartialWorkload other(sorted, std::vector<double>{0.1, 0.0, 0.9});
  EXPECT_EQ(one.cell().data(), other.cell().data());
  EXPECT_EQ(std::vector<double>(one.answers().begin(), one.answers().end()),
            (std::vector<double>{0.5, 0.25}));
  EXPECT_DOUBLE_EQ(one.unseen(), 0.25);
  EXPECT_DOUBLE_EQ(other.unseen(), 0.0);
}

TEST(PartialWorkload, RelativeEntropyIsInfiniteOutsideThePrior) {
  EXPECT_DOUBLE_EQ(relative_entropy(std::vector<double>{0.5, 0.5}, std::vector<double>{0.5, 0.5}),
                   0.0);
  EXPECT_NEAR(relative_entropy(std::vector<double>{1.0, 0.0}, std::vector<double>{0.5, 0.5}),
              std::log(2.0), 1e-12);
  EXPECT_EQ(relative_entropy(std::vector<double>{0.5, 0.5}, std::vector<double>{1.0, 0.0}),
            std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace tandem
