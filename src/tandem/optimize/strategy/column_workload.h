// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a workload asks of one column, taken together over all its items.

#include <cstddef>
#include <utility>
#include <vector>

#include "tandem/optimize/strategy/planning_problem.h"

namespace tandem {

// Beyond so many values a p-identity takes the place of the dense optimum, whose steps cost 10 n^3.
inline constexpr std::size_t kMostValuesOfDenseOptimum = 400;

// Rows of a p-identity for n values.
std::size_t p_of(std::size_t n);

struct ColumnWorkload {
  std::size_t attribute = 0;
  std::vector<std::pair<ColumnQueries, double>> asked;  // each kind once, with the sum of weights
  bool values_alike = true;  // the Gram matrix is a I + b J: only values and totals are asked for

  void add(const ColumnQueries& queries, double weight);
  // The sum of weight W'W, scaled to a mean diagonal of 1, and a ridge: queries that leave some
  // differences of values out (a few rows of whole numbers) get a strategy that can be inverted.
  DenseMatrix gram(std::size_t n) const;
  // a and b of values that are alike, with the same ridge.
  std::pair<double, double> identity_and_total() const;
};

// For each attribute that some item asks about by more than its total. A kind's weight is what its
// items weigh in the error where every column is measured by itself.
std::vector<ColumnWorkload> column_workloads(const PlanningProblem& problem);

}  // namespace tandem
