// SPDX-License-Identifier: Apache-2.0
#pragma once
// Queries of which each row of a support answers one at most, with noisy answers: a marginal, or
// some cells of one.
//
// Rows are sorted into cells once. Cells without a row are dropped, for no weights on these rows
// can fill them, and answers are brought to [0, 1]: what is lost by either is misfit that no
// weights can change, and the rest of the misfit is the same. Costs 4 bytes a row and 16 an
// occupied cell.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tandem/data/table.h"

namespace tandem {

class PartialWorkload {
 public:
  // Of a marginal. `shares`: y~, one for each of its cells.
  PartialWorkload(const Table& rows, const Clique& marginal, std::span<const double> shares);
  // Of some of its cells, each once; `shares` has one for each of these. Rows in none of them are
  // the last cell, which has no answer, where there are such rows.
  PartialWorkload(const Table& rows, const Clique& marginal, std::span<const std::size_t> cells,
                  std::span<const double> shares);

  std::size_t rows() const { return cell_.size(); }
  std::size_t cells() const { return rows_in_.size(); }          // the rest, if there is one, too
  std::size_t answered() const { return answers_.size(); }       // those with an answer
  bool covers() const { return cells() == answered(); }          // every row is in a cell with one
  std::span<const std::uint32_t> cell() const { return cell_; }  // of each row
  std::span<const double> answers() const { return answers_; }   // y~ in [0, 1], of each occupied
  std::span<const double> rows_in() const { return rows_in_; }   // how many rows are in each cell
  double out_of_reach() const { return out_of_reach_; }  // the part of |W q - y~|_1 for every q
  // What was measured where no row is, and in how many cells: about 0 if nothing is there.
  double unseen() const { return unseen_; }
  std::size_t unseen_cells() const { return unseen_cells_; }

  void sum(std::span<const double> weights, std::span<double> b) const;  // b = W q
  double misfit(std::span<const double> b) const;  // |W q - y~|_1 without what is out of reach

 private:
  void sort_rows(const Table& rows, const Clique& marginal, std::vector<std::uint32_t> place,
                 std::span<const double> shares);

  std::vector<std::uint32_t> cell_;
  std::vector<double> answers_;
  std::vector<double> rows_in_;
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
