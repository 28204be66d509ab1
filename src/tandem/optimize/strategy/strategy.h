// SPDX-License-Identifier: Apache-2.0
#pragma once
// A strategy: what is measured so that a workload's answers, which follow from it, err least.
//
// A strategy is a list of maps, measured together under one sensitivity: map k with the weight w_k
// gets noise of the standard deviation s / w_k, where s = sqrt(v) S, v is the noise's variance at
// sensitivity 1 (Laplace 2/epsilon^2, Gaussian 1/(2 rho)) and S the sensitivity of the stack of all
// w_k M_k. Everything is in whole numbers times powers of two, so that the gate can hold it
// exactly. What is predicted here is predicted: noise follows the gate's own sensitivity.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/optimize/strategy/planning_problem.h"

namespace tandem {

// What is measured of one column: a small matrix of whole numbers times 2^exponent.
struct ColumnMap {
  enum class Kind {
    Identity,
    Residual,  // n I - J
    Given
  };
  Kind kind = Kind::Identity;
  std::size_t values = 0;             // n
  std::vector<std::int64_t> entries;  // Given: row-major, n a row
  int exponent = 0;                   // Given: of the unit of its entries

  std::size_t outputs() const { return kind == Kind::Given ? entries.size() / values : values; }
  DenseMatrix matrix() const;
};

struct DyadicWeight {
  std::int64_t mantissa = 1;
  int exponent = 0;
  double value() const;
  // The nearest number with so many significant bits.
  static DyadicWeight nearest(double value, int bits);
};

// The gate holds noise of up to 2^40 units, and the units of a map are the product of its columns'
// units and of its weight's. So much of that is for the sensitivity, as a power of two; the rest is
// for small budgets.
inline constexpr int kSensitivityBits = 30;
inline constexpr int kLeastWeightBits = 6;  // of that, where several maps have weights

// How many bits, up to `most`, each of a map's column maps may have where `columns` of them are of
// the kind Given and the others take `others` bits together. Less is left for persons of many rows.
int bits_of_column(std::size_t columns, double others, bool several_maps, const PlanningUnit& unit,
                   int most);

struct PlannedMap {
  Clique clique;
  std::vector<std::size_t> columns;  // for each attribute of the clique: which of Strategy::columns
  DyadicWeight weight;
};

struct Strategy {
  enum class Shape {
    Sets,     // each attribute has one map, and what is measured together tells of residual spaces
    Products  // queries are answered by the first map whose clique holds theirs, by itself
  };
  std::string planner;
  Shape shape = Shape::Sets;
  std::vector<ColumnMap> columns;
  std::vector<PlannedMap> maps;

  // Predicted, for v = 1.
  double sensitivity = 0.0;            // S: L1 for Laplace, L2 for Gaussian noise
  double squared_error = 0.0;          // of all queries together, each times its weight
  std::vector<double> item_errors;     // of each item of the workload
  double planned_squared_error = 0.0;  // before numbers were rounded to dyadic ones

  double outputs() const;                           // numbers that are measured
  std::size_t map_for(const Clique& clique) const;  // Products: which one answers
};

// Fills in what is predicted from the maps alone. Takes as long as the sensitivity does.
void predict(const PlanningProblem& problem, Strategy& strategy, const Threads& threads);
double unit_rmse(const PlanningProblem& problem, const Strategy& strategy);

// What a strategy of the shape Sets knows of each residual space R, for s = 1: an unbiased estimate
// of (kron_R (I - pi 1')) x_R with the covariance kron_R K_i / precision_R, independent of the
// others.
//
// M_i'M_i = c_i J + Y_i (ColumnSplit), so kron_A M_i'M_i is the sum over R in A of prod_{A\R} c_i
// kron_R Y_i kron_{A\R} J: precision_R = sum_{A >= R} w_A^2 prod_{A\R} c_i. For marginals c_i =
// 1/n_i; for residual maps c_i = 0, and each map tells of its own space alone.
struct ResidualKnowledge {
  std::unordered_map<Clique, double> precision;  // without the empty one where the total is public
  std::vector<ColumnSplit> splits;               // of all attributes

  // What multiplies kron_R of K_i without their own scales; nothing where R isn't told of.
  std::optional<double> scale(const Clique& clique) const;
};
ResidualKnowledge residual_knowledge(const PlanningProblem& problem, const Strategy& strategy);

// What estimates and variances of every query follow from, found once for a strategy: it takes as
// long as the cubes of the columns' values and the number of maps together.
struct StrategyKnowledge {
  ResidualKnowledge residuals;           // Sets
  std::vector<DenseMatrix> covariances;  // Products: (M'M)^-1 of each of Strategy::columns
};
StrategyKnowledge knowledge_of(const PlanningProblem& problem, const Strategy& strategy,
                               const Threads& threads);

// Variances of the queries of one product, for v = 1 and without its weight. A query is named by
// its row in each factor; the variance is a sum over few products.
class QueryVariances {
 public:
  QueryVariances(const PlanningProblem& problem, const Strategy& strategy,
                 const StrategyKnowledge& known, const ProductQueries& item);
  double at(std::span<const std::size_t> rows) const;
  double sum() const;
  std::vector<double> all() const;  // of every query, the last factor's row moving fastest

 private:
  struct Term {
    double scale = 0.0;
    std::vector<std::vector<double>> factors;  // a number for each row of each factor
  };
  std::vector<std::size_t> rows_;
  std::vector<Term> terms_;
};

}  // namespace tandem
