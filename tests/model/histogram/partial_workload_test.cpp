// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/partial_workload.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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
