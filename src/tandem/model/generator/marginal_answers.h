// SPDX-License-Identifier: Apache-2.0
#pragma once
// Marginals of rows whose columns are distributions, and the way back from them.
//
// A matrix P has a column for each of K rows that a generator makes, and a row for each code of
// each column of the table; a generated row's codes of one column hold a distribution. A marginal
// is the mean over generated rows of products of probabilities: the codes of its first columns
// multiplied out, times those of the others transposed, so one matrix product. The same results for
// any number of threads.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/base/team.h"
#include "tandem/data/domain.h"
#include "tandem/model/generator/float_math.h"

namespace tandem {

// Where each column's codes lie among those of all.
struct CodeLayout {
  explicit CodeLayout(const Domain& domain);
  std::vector<std::size_t> first;
  std::vector<std::size_t> size;
  std::size_t codes = 0;  // of all columns
};

// Cells of several marginals, one after the other.
class MarginalAnswers {
 public:
  // REQUIRES: each clique has a column; the layout outlives this.
  MarginalAnswers(const CodeLayout& layout, std::vector<Clique> cliques);

  std::size_t size() const { return cliques_.size(); }
  const std::vector<Clique>& cliques() const { return cliques_; }
  std::size_t cells() const { return start_.back(); }  // of all marginals
  std::size_t start(std::size_t marginal) const { return start_[marginal]; }
  std::size_t cells(std::size_t marginal) const { return start_[marginal + 1] - start_[marginal]; }

  // Proportions: each marginal's cells sum to 1.
  void answer(ConstMatrix P, std::span<float> answers, Team& team) const;
  // The gradient of P from that of the cells. A marginal that is not `wanted` adds nothing.
  void back(ConstMatrix P, std::span<const float> of_cells, const std::vector<char>& wanted,
            Matrix of_P, Team& team) const;

 private:
  // The columns of a marginal in two groups, whose products of codes are multiplied.
  struct Sides {
    std::span<const AttributeId> left, right;
    std::size_t left_cells = 1;
    std::size_t right_cells = 1;
  };
  Sides sides_of(std::size_t marginal) const;

  const CodeLayout& layout_;
  std::vector<Clique> cliques_;
  std::vector<std::size_t> start_;
};

}  // namespace tandem
