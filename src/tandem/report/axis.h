// SPDX-License-Identifier: Apache-2.0
#pragma once
// From values to places in a picture, linearly or by their logarithms, with round values to label.

#include <span>
#include <string>
#include <vector>

namespace tandem::report {

struct Tick {
  double value = 0.0;
  std::string label;
};

class Axis {
 public:
  enum class Kind { Linear, Log };

  // Logarithms where all values are positive and the largest is four times the smallest or more.
  static Kind kind_for(std::span<const double> values);

  // The values low and high lie at the pixels from and to. Log needs low > 0.
  Axis(Kind kind, double low, double high, double from, double to);

  Kind kind() const { return kind_; }
  double at(double value) const;
  bool holds(double value) const { return value >= low_ && value <= high_; }

  // Round values within the axis, in order: 1, 2 or 5 times a power of ten (on a short log axis 3
  // and 7, too), or powers of ten alone; about `most` of them at most.
  std::vector<Tick> ticks(std::size_t most) const;

 private:
  double measure(double value) const;

  Kind kind_;
  double low_;
  double high_;
  double from_;
  double to_;
};

// A number as a reader would write it: 0.05, 2000, 3e-7.
std::string plain_number(double value);

// Places near the wanted ones, in the same order, at least `gap` apart and within low .. high as
// far as there is room: labels that don't lie on each other. The sum of squared moves is the least.
std::vector<double> spread_apart(std::span<const double> wanted, double gap, double low,
                                 double high);

}  // namespace tandem::report
