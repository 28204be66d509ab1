// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limited-memory BFGS for smooth convex functions that are dear to evaluate, with a diagonal, fresh
// at every step, that says how steep each coordinate is.
//
//   Nocedal and Wright. Numerical Optimization. 2006, Algorithms 7.4 and 7.5.
//
// The function may be infinite in places: a step there is shortened. Allocates when it is made and
// not again.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tandem {

class Lbfgs {
 public:
  // Value at x, and the gradient. Infinite or NaN where the function can't be evaluated.
  using Function = std::function<double(std::span<const double> x, std::span<double> gradient)>;
  // One over the second derivative of each coordinate, roughly, at the last x evaluated.
  using Curvature =
      std::function<void(std::span<const double> gradient, std::span<double> inverse)>;
  // Called after every accepted step; true ends the search.
  using Stop = std::function<bool(std::span<const double> x, std::span<const double> gradient)>;

  explicit Lbfgs(std::size_t dimension, std::size_t memory = 20);

  enum class End { Stopped, Stalled, OutOfEvaluations };

  // Moves x downhill from where it is, or from zero if that can't be evaluated. Forgets what an
  // earlier call learned. `evaluations` counts down.
  End minimize(const Function& function, const Curvature& curvature, std::span<double> x,
               const Stop& stop, int& evaluations);

 private:
  void direction();

  struct Pair {
    std::vector<double> step, change;  // of x and of the gradient
    double inverse_product = 0.0;
  };
  std::size_t memory_;
  std::size_t used_ = 0;  // pairs_[0 .. used_) hold something, the newest at newest_
  std::size_t newest_ = 0;
  std::vector<Pair> pairs_;
  std::vector<double> gradient_, next_gradient_, next_x_, direction_, inverse_;
};

}  // namespace tandem
