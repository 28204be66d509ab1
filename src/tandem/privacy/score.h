// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a selection may prefer: formulas of the private table that the gate evaluates, not numbers.
//
// A mechanism writes w * (l1_error(model) - noise) or l1_error(model) - l1_error(proxy); it never
// sees the value. The gate knows each shape, derives its sensitivity, and evaluates it exactly:
// references, weights and constants are first rounded to a public grid (privacy/score_grid), after
// which a score is a whole number of grid units and no rounding depends on the data.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tandem/data/clique.h"
#include "tandem/query/conjunctions.h"
#include "tandem/query/factor.h"
#include "tandem/query/linear_query.h"
#include "tandem/query/measurement.h"

namespace tandem {

class Score {
 public:
  enum class Shape {
    L1Error,        // sum over cells of |count - reference|
    LargestError,   // largest |count - reference| over chosen cells
    AbsoluteError,  // |count - reference| of one cell
    SignedError     // count - reference of one cell
  };
  struct Term {
    Shape shape = Shape::L1Error;
    double weight = 1.0;
    std::shared_ptr<const Factor> reference;  // shared: formulas are copied, references are large
    std::vector<std::size_t> cells;           // for all shapes but L1Error
  };

  Score(double constant = 0.0) : constant_(constant) {}  // implicit: formulas mix with numbers
  explicit Score(Term term) : terms_{std::move(term)} {}

  std::span<const Term> terms() const { return terms_; }
  double constant() const { return constant_; }

  friend Score operator+(Score a, const Score& b);
  friend Score operator-(const Score& a, const Score& b) { return a + -1.0 * b; }
  friend Score operator*(double factor, Score score);

 private:
  std::vector<Term> terms_;
  double constant_ = 0.0;
};

Score l1_error(Factor reference);
Score largest_error(Factor reference, std::vector<std::size_t> cells);
Score absolute_error(Factor reference, std::size_t cell);
Score signed_error(Factor reference, std::size_t cell);

// A candidate of a selection among marginals, models or anything else with a score.
struct Candidate {
  Clique clique;
  Origin origin = Origin::Private;
  Score score;
};

// Scores of every output of a query at once: for selecting among millions of cells.
enum class CellScore { Absolute, Signed };
struct CellScores {
  LinearQuery query;                  // a marginal, or for example conjunctions on it
  std::span<const double> reference;  // one for each output; borrowed
  CellScore kind = CellScore::Absolute;
  double weight = 1.0;
  double unit = 1.0;  // references are in units of this many counts
  // The outputs that can be chosen, ascending; borrowed, and public like all the rest. Empty: all.
  std::span<const std::uint32_t> among = {};
};

// An output of one of several CellScores.
struct CellChoice {
  std::size_t scores = 0;  // which CellScores
  std::size_t output = 0;  // which of its outputs
  bool operator==(const CellChoice&) const = default;
};

// Scores of conjunctions and of their negations: rows that fulfil one, less a public reference. For
// millions of them; the set is asked as a whole.
struct ConjunctionScores {
  const ConjunctionSet& conjunctions;
  std::span<const double> references;          // in rows, one for each conjunction; borrowed
  std::span<const double> negated_references;  // one for each negation; borrowed
};

struct ConjunctionChoice {
  std::size_t conjunction = 0;
  bool negated = false;
  bool operator==(const ConjunctionChoice&) const = default;
};

}  // namespace tandem
