// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limited-memory BFGS for smooth convex functions on a box, -bound <= x_j <= bound.
//
//   Bertsekas. Projected Newton methods for optimization problems with simple constraints. 1982.
//   Coordinates that are about to leave the box follow their own gradient; the others take a step
//   of L-BFGS. All are brought back into the box.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tandem {

class BoxLbfgs {
 public:
  // Value at x, its gradient, and roughly one over the second derivative of each coordinate.
  using Function = std::function<double(std::span<const double> x, std::span<double> gradient,
                                        std::span<double> inverse_curvature)>;
  // Called after every accepted step; true ends the search.
  using Stop = std::function<bool(std::span<const double> x, std::span<const double> gradient)>;

  explicit BoxLbfgs(std::size_t dimension, std::size_t memory = 20);

  enum class End { Stopped, Stalled, OutOfEvaluations };

  // Moves x, which is in the box, downhill. `evaluations` counts down.
  End minimize(const Function& function, double bound, std::span<double> x, const Stop& stop,
               int& evaluations);

 private:
  struct Pair {
    std::vector<double> step, change;  // of x and of the gradient
  };
  void direction();

  std::vector<Pair> pairs_;
  std::size_t used_ = 0;
  std::size_t newest_ = 0;
  std::vector<double> gradient_, next_gradient_, next_x_, direction_, inverse_, next_inverse_;
  std::vector<char> held_;
};

}  // namespace tandem
