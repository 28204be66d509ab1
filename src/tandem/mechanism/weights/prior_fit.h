// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measurements and a prior weighed against each other.

#include "tandem/mechanism/weights/multiplicative_weights.h"

namespace tandem {

// Keeps A at the minimum over distributions of
//
//   K KL(A || A_0) + sum_i (a_i - q_i(A))^2 / (2 sigma_i^2)
//
// where A_0, the distribution at the start, counts as K rows of evidence. It has the form A_0
// exp(sum_i lambda_i q_i), so it is reached by the multiplicative update, with exponents that solve
// for one lambda_i at a time: an answer within its noise hardly moves A, a clear one sets it.
class PriorFit {
 public:
  // A is at its start; `prior_rows` is K > 0.
  PriorFit(MultiplicativeWeights& A, double prior_rows) : A_(A), prior_rows_(prior_rows) {}

  // Takes in whatever A has remembered by now.
  void update();

 private:
  double solve(std::size_t i) const;  // the change of lambda_i that is best while others stay

  MultiplicativeWeights& A_;
  double prior_rows_;
  std::vector<double> lambda_;
};

}  // namespace tandem
