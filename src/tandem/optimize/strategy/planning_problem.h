// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is to be planned: which linear queries matter, how much, and what noise they will meet.
//
// Queries come as products: a small matrix of queries for each column of a clique, and every
// combination of their rows is one query. A column outside the clique is summed over.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tandem/optimize/strategy/dense_matrix.h"
#include "tandem/query/linear_query.h"
#include "tandem/query/measurement.h"
#include "tandem/query/product_queries.h"

namespace tandem {

// Of the queries W_i on one column: W'W; and diag(W K W').
DenseMatrix gram_of(const ColumnQueries& queries, std::size_t n);
std::vector<double> variances_of(const ColumnQueries& queries, const DenseMatrix& covariance);
// diag(W K W') where K 1 = 0, so that nothing is left of what queries have in common for all
// values: large whole numbers that are nearly alike keep their small differences.
std::vector<double> variances_within(const ColumnQueries& queries, const DenseMatrix& within);

// Whether each query counts all values alike, so that it sees no more than the column's total.
std::vector<bool> only_totals(const ColumnQueries& queries, std::size_t n);
bool asks_only_totals(const ColumnQueries& queries, std::size_t n);  // all of them do
// How often such a query counts the total; 0 for every other.
std::vector<double> times_total(const ColumnQueries& queries, std::size_t n);

// Whom noise protects, as far as a planner must know.
struct PlanningUnit {
  bool replace_one = false;      // otherwise add-remove
  bool total_is_public = false;  // all neighbours have as many rows: only under replace-one
  int rows_per_person = 1;

  // From the largest norm of a column of the strategy and the largest distance of two: the
  // sensitivity. The squares of both give its square for one row a person.
  double worst(double norm, double distance) const;
};

struct PlanningProblem {
  std::vector<std::size_t> sizes;  // of all attributes
  std::vector<ProductQueries> workload;
  NoiseKind noise = NoiseKind::Gaussian;
  PlanningUnit unit;

  double cells(const Clique& clique) const;  // N_A
  double queries() const;                    // of all items
};

// How a column's counts are split into their total and a rest that sums to zero: x = pi 1'x + r.
// What is measured of the column, M x, tells of the two independently of each other if M'M = c J +
// Y with Y pi = 0; then r is known with the covariance K = Y^+ on the vectors that sum to zero.
struct ColumnSplit {
  std::vector<double> profile;  // pi; empty: 1/n each
  DenseMatrix within;           // K / within_scale; empty: I - J/n
  double within_scale = 1.0;
  double shared = 0.0;  // c: what M tells of the total

  std::vector<double> profile_of(std::size_t n) const;
  DenseMatrix within_of(std::size_t n) const;  // without the scale
};

// The split that suits M'M. REQUIRES: M tells all differences of values apart.
ColumnSplit split_by(const DenseMatrix& measured_gram);

// What one column's queries add to an error: inside the residual, tr(W K W') without K's scale, and
// outside it, |W pi|^2. Remembered for each column, since workloads ask the same again and again.
class ColumnErrors {
 public:
  // Without splits, all are even.
  explicit ColumnErrors(std::size_t attributes, std::span<const ColumnSplit> splits = {})
      : splits_(splits), known_(attributes) {}
  struct Pair {
    double inside = 0.0;
    double outside = 0.0;
  };
  Pair of(std::size_t attribute, const ColumnQueries& queries, std::size_t n);

 private:
  std::span<const ColumnSplit> splits_;
  std::vector<std::vector<std::pair<ColumnQueries, Pair>>> known_;  // of each attribute
};

// The columns of which an item asks more than their total.
Clique asked_columns(const PlanningProblem& problem, const ProductQueries& item);

// A set of columns on which the workload has something to say beyond its parts: the queries
// restricted to tables over A that sum to zero along every axis (the residual space of A).
struct ResidualPart {
  Clique clique;
  // Sum over items B >= A of w^2 prod_{A} tr(W_i K_i W_i') prod_{B\A} |W_i pi_i|^2: the workload's
  // squared error where the residual of A has the covariance kron_A K_i. With even splits and
  // marginals this is w^2 prod_A (n_i - 1) prod_{B\A} 1/n_i.
  double error = 0.0;
};

// All residual parts with an error above zero, smaller cliques first. The empty one is left out
// where the total is public.
std::vector<ResidualPart> residual_parts(const PlanningProblem& problem,
                                         std::span<const ColumnSplit> splits = {});

}  // namespace tandem
