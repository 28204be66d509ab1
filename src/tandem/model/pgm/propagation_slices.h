// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products and sums between the table of a clique and several smaller ones inside it, slice by
// slice.
//
// A slice has few enough cells for a core's nearest cache, so that a large table is read once for
// all the small ones. Where its outer axes stand still, the small tables are smaller yet: those
// that then lie inside one another are folded together before they meet the slice, and most of the
// passes over it fall away. Slices can be worked on by several threads, each with its own scratch.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/model/tables/axis_order.h"

namespace tandem {

class PropagationSlices {
 public:
  PropagationSlices(const AxisOrder& order, const Clique& clique, std::span<const Clique> pieces);

  std::size_t slices() const { return slices_; }
  std::size_t slice_cells() const { return slice_cells_; }
  std::size_t scratch_cells() const { return scratch_cells_; }  // what the functions below need

  // out = from * the pieces' tables, cell by cell of a slice; or from + them. `from` and `out` are
  // the slice's cells and may be the same.
  void multiply(std::size_t slice, const double* from, std::span<const double* const> tables,
                double* out, double* scratch) const;
  void add(std::size_t slice, const double* from, std::span<const double* const> tables,
           double* out, double* scratch) const;
  // Each table += the sums of the slice's cells.
  void add_sums(std::size_t slice, const double* from, std::span<double* const> tables,
                double* scratch) const;
  // Each table = the largest of itself and of the slice's cells.
  void raise(std::size_t slice, const double* from, std::span<double* const> tables) const;

  // Whether two slices on different sides of one of these bounds write to the same cells of a
  // piece.
  bool shared(std::size_t piece, std::span<const std::size_t> bounds) const;

 private:
  struct Piece {
    std::size_t position = 0;          // in the caller's list
    std::size_t into = 0;              // what it folds into, or kWhole: the slice
    bool first = false;                // of those that fold into the same
    bool holds = false;                // others fold into it
    AxisPlan plan;                     // within a slice, from `into`
    AxisPlan from_slice;               // the same from the slice
    std::vector<std::size_t> offsets;  // of its part in each slice
    std::size_t scratch = 0;
  };
  template <class Combine>
  void combine(std::size_t slice, const double* from, std::span<const double* const> tables,
               double* out, double* scratch, Combine&& plan) const;

  std::size_t slices_ = 1;
  std::size_t slice_cells_ = 1;
  std::size_t scratch_cells_ = 0;
  std::vector<Piece> pieces_;         // small ones first
  std::vector<std::size_t> of_list_;  // where each of the caller's pieces is
};

}  // namespace tandem
