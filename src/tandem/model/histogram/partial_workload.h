// SPDX-License-Identifier: Apache-2.0
#pragma once
// Queries of which each row of a support answers one at most, with noisy answers: a marginal, or
// some cells of one.
//
// Rows are sorted into cells once. Cells without a row are dropped, for no weights on these rows
// can fill them, and answers are brought to [0, 1]: what is lost by either is misfit that no
// weights can change, and the rest of the misfit is the same. Costs 4 bytes a row and 16 an
// occupied cell; answers to the same queries, of many groups of rows, can share the former.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "tandem/data/table.h"

namespace tandem {

// Rows sorted into the cells of a marginal.
struct SortedRows {
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

  SortedRows(const Table& rows, const Clique& marginal);
  // Into some of its cells, each once; rows in none of them are the last one.
  SortedRows(const Table& rows, const Clique& marginal, std::span<const std::size_t> cells);

  std::vector<std::uint32_t> cell;      // of each row, among those that have rows
  std::vector<double> rows_in;          // of each of these
  std::vector<std::uint32_t> occupied;  // of each cell which of these it is, or nowhere
};

class PartialWorkload {
 public:
  // Of a marginal. `shares`: y~, one for each of its cells.
  PartialWorkload(const Table& rows, const Clique& marginal, std::span<const double> shares);
  // Of some of its cells, each once; `shares` has one for each of these. Rows in none of them are
  // the last cell, which has no answer, where there are such rows.
  PartialWorkload(const Table& rows, const Clique& marginal, std::span<const std::size_t> cells,
                  std::span<const double> shares);
  // The rows are shared by all who ask the same of them.
  PartialWorkload(std::shared_ptr<const SortedRows> sorted, std::span<const double> shares);

  std::size_t rows() const { return sorted_->cell.size(); }
  std::size_t cells() const { return sorted_->rows_in.size(); }  // the rest, if there is one, too
  std::size_t answered() const { return answers_.size(); }       // those with an answer
  bool covers() const { return cells() == answered(); }          // every row is in a cell with one
  std::span<const std::uint32_t> cell() const { return sorted_->cell; }  // of each row
  std::span<const double> answers() const { return answers_; }  // y~ in [0, 1], of each occupied
  std::span<const double> rows_in() const { return sorted_->rows_in; }  // how many are in each cell
  double out_of_reach() const { return out_of_reach_; }  // the part of |W q - y~|_1 for every q
  // What was measured where no row is, and in how many cells: about 0 if nothing is there.
  double unseen() const { return unseen_; }
  std::size_t unseen_cells() const { return unseen_cells_; }

  void sum(std::span<const double> weights, std::span<double> b) const;  // b = W q
  double misfit(std::span<const double> b) const;  // |W q - y~|_1 without what is out of reach

 private:
  std::shared_ptr<const SortedRows> sorted_;
  std::vector<double> answers_;
  double out_of_reach_ = 0.0;
  double unseen_ = 0.0;
  std::size_t unseen_cells_ = 0;
};

// The most cells that any of them has.
std::size_t most_cells(std::span<const PartialWorkload> workloads);
// The sum of their misfits that weights can change, and of what they can't.
double misfit_of(std::span<const PartialWorkload> workloads, std::span<const double> weights);
double out_of_reach(std::span<const PartialWorkload> workloads);

// sum_i q_i ln(q_i / p_i), infinite where q is above zero and p is not.
double relative_entropy(std::span<const double> q, std::span<const double> p);

}  // namespace tandem
