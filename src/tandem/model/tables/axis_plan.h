// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inner loops of graphical models: sums, largest values and products between a table and a
// smaller one over some of its axes.
//
// Both tables have their axes in the same order, the last one fastest. Neighbouring axes that are
// both kept or both summed out run as one, and the innermost four runs are plain nested loops that
// the compiler vectorises. A plan is made once; using it allocates nothing.

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace tandem {

class AxisPlan {
 public:
  AxisPlan() = default;
  // Sizes of the large table's axes, and which of them the small one has.
  AxisPlan(std::span<const std::size_t> sizes, const std::vector<bool>& kept);

  std::size_t large_cells() const { return large_cells_; }
  std::size_t small_cells() const { return small_cells_; }

  void sum(const double* large, double* small) const;      // small = sum of large
  void largest(const double* large, double* small) const;  // small = largest of large
  void add_sum(const double* large, double* small) const;  // small += sum of large
  void raise(const double* large, double* small) const;    // small = max(small, largest of large)
  // large = from + small, and from * small; `from` may be `large`.
  void add(const double* from, const double* small, double* large) const;
  void multiply(const double* from, const double* small, double* large) const;
  void add(double* large, const double* small) const { add(large, small, large); }

  struct Loops {
    // Sizes of the innermost four runs, outermost first; kept and summed runs alternate.
    std::array<std::size_t, 4> size{1, 1, 1, 1};
    bool last_kept = true;
  };

 private:
  Loops loops_;
  std::size_t large_cells_ = 1;
  std::size_t small_cells_ = 1;
  // Where in the large and the small table each pass of the inner four runs starts.
  std::vector<std::pair<std::size_t, std::size_t>> starts_;
};

// values[i] = exp(values[i]), to within a few units in the last place; exactly 0 below -708.
void exp_in_place(std::span<double> values);

}  // namespace tandem
