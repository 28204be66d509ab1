// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/axis_plan.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "tandem/base/check.h"
#include "tandem/base/multiversion.h"

namespace tandem {
namespace {

using Loops = AxisPlan::Loops;

// Each kernel below is the same four nested loops around a different innermost one. Where the last
// run is kept, the small table moves with the large one there; otherwise it stands still.

[[gnu::always_inline]] inline void add_row(const double* __restrict from, std::size_t n,
                                           double* __restrict to) {
  for (std::size_t j = 0; j < n; ++j) to[j] += from[j];
}

// Four partial sums, in a fixed order: they vectorise, and the result is the same everywhere.
[[gnu::always_inline]] inline double sum_row(const double* from, std::size_t n) {
  if (n < 4) {
    double sum = 0.0;
    for (std::size_t j = 0; j < n; ++j) sum += from[j];
    return sum;
  }
  double part[4] = {0.0, 0.0, 0.0, 0.0};
  std::size_t j = 0;
  for (; j + 4 <= n; j += 4) {
    for (std::size_t t = 0; t < 4; ++t) part[t] += from[j + t];
  }
  double sum = (part[0] + part[2]) + (part[1] + part[3]);
  for (; j < n; ++j) sum += from[j];
  return sum;
}

// Calls f(offset of a run in the large table, in the small one) for every innermost run.
template <class F>
[[gnu::always_inline]] inline void for_each_run(const Loops& loops, F&& f) {
  const auto [n0, n1, n2, n3] = loops.size;
  // Strides in the small table: kept runs only, innermost first.
  const std::size_t s2 = loops.last_kept ? 0 : 1;
  const std::size_t s1 = loops.last_kept ? n3 : 0;
  const std::size_t s0 = loops.last_kept ? 0 : n2;
  std::size_t large = 0;
  for (std::size_t i0 = 0; i0 < n0; ++i0) {
    for (std::size_t i1 = 0; i1 < n1; ++i1) {
      const std::size_t small = i0 * s0 + i1 * s1;
      for (std::size_t i2 = 0; i2 < n2; ++i2, large += n3) f(large, small + i2 * s2);
    }
  }
}

TANDEM_MULTIVERSION void sum_kernel(const Loops& loops, const double* large, double* small) {
  const std::size_t n = loops.size[3];
  if (loops.last_kept) {
    for_each_run(loops, [=](std::size_t l, std::size_t s) { add_row(large + l, n, small + s); });
  } else {
    for_each_run(loops, [=](std::size_t l, std::size_t s) { small[s] += sum_row(large + l, n); });
  }
}

TANDEM_MULTIVERSION void largest_kernel(const Loops& loops, const double* large, double* small) {
  const std::size_t n = loops.size[3];
  if (loops.last_kept) {
    for_each_run(loops, [=](std::size_t l, std::size_t s) {
      const double* __restrict from = large + l;
      double* __restrict to = small + s;
      for (std::size_t j = 0; j < n; ++j) to[j] = from[j] > to[j] ? from[j] : to[j];
    });
  } else {
    for_each_run(loops, [=](std::size_t l, std::size_t s) {
      const double* from = large + l;
      double part[4] = {small[s], small[s], small[s], small[s]};
      std::size_t j = 0;
      for (; j + 4 <= n; j += 4) {
        for (std::size_t t = 0; t < 4; ++t) part[t] = from[j + t] > part[t] ? from[j + t] : part[t];
      }
      for (; j < n; ++j) part[0] = from[j] > part[0] ? from[j] : part[0];
      small[s] = std::max(std::max(part[0], part[1]), std::max(part[2], part[3]));
    });
  }
}

TANDEM_MULTIVERSION void add_kernel(const Loops& loops, double* large, const double* small) {
  const std::size_t n = loops.size[3];
  if (loops.last_kept) {
    for_each_run(loops, [=](std::size_t l, std::size_t s) { add_row(small + s, n, large + l); });
  } else {
    for_each_run(loops, [=](std::size_t l, std::size_t s) {
      double* to = large + l;
      const double value = small[s];
      for (std::size_t j = 0; j < n; ++j) to[j] += value;
    });
  }
}

TANDEM_MULTIVERSION void multiply_kernel(const Loops& loops, const double* from,
                                         const double* small, double* large) {
  const std::size_t n = loops.size[3];
  if (loops.last_kept) {
    for_each_run(loops, [=](std::size_t l, std::size_t s) {
      const double* in = from + l;
      const double* by = small + s;
      double* out = large + l;
#pragma GCC ivdep  // `from` may be `large` itself, cell by cell; `small` is another table
      for (std::size_t j = 0; j < n; ++j) out[j] = in[j] * by[j];
    });
  } else {
    for_each_run(loops, [=](std::size_t l, std::size_t s) {
      const double* in = from + l;
      double* out = large + l;
      const double by = small[s];
#pragma GCC ivdep
      for (std::size_t j = 0; j < n; ++j) out[j] = in[j] * by;
    });
  }
}

// exp by 2^k exp(r), |r| <= ln 2 / 2, with the Taylor series to r^13 (error below 2e-17 there):
// no branch and no call, so that a loop of it vectorises.
[[gnu::always_inline]] inline double fast_exp(double x) {
  constexpr double kLog2E = 1.4426950408889634074;
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kShift = 0x1.8p52;  // adding it rounds to a whole number, in the low bits
  const double clamped = x < -708.0 ? -708.0 : (x > 709.0 ? 709.0 : x);
  const double shifted = clamped * kLog2E + kShift;
  const double k = shifted - kShift;
  const double r = (clamped - k * kLn2High) - k * kLn2Low;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const auto exponent = std::bit_cast<std::uint64_t>(shifted)
                        << 52;  // k, wrapped, where it belongs
  const double value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(p) + exponent);
  return x < -708.0 ? 0.0 : (x > 709.0 ? std::numeric_limits<double>::infinity() : value);
}

TANDEM_MULTIVERSION void exp_kernel(double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = fast_exp(values[i]);
}

}  // namespace

AxisPlan::AxisPlan(std::span<const std::size_t> sizes, const std::vector<bool>& kept) {
  check(sizes.size() == kept.size(), "a plan says of each axis whether it is kept");
  struct Run {
    std::size_t size;
    bool kept;
  };
  std::vector<Run> runs;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    large_cells_ *= sizes[i];
    if (kept[i]) small_cells_ *= sizes[i];
    if (sizes[i] == 1) continue;  // neither here nor there
    if (!runs.empty() && runs.back().kept == kept[i]) {
      runs.back().size *= sizes[i];
    } else {
      runs.push_back({sizes[i], kept[i]});
    }
  }
  if (!runs.empty()) loops_.last_kept = runs.back().kept;
  std::size_t inner_large = 1;
  std::size_t inner_small = 1;
  for (std::size_t level = 4; level-- > 0 && !runs.empty();) {
    loops_.size[level] = runs.back().size;
    inner_large *= runs.back().size;
    if (runs.back().kept) inner_small *= runs.back().size;
    runs.pop_back();
  }
  starts_.emplace_back(0, 0);
  while (!runs.empty()) {  // the runs further out, listed from the inside
    const auto [size, is_kept] = runs.back();
    runs.pop_back();
    const std::size_t inside = starts_.size();
    starts_.reserve(inside * size);
    for (std::size_t i = 1; i < size; ++i) {
      for (std::size_t j = 0; j < inside; ++j) {
        starts_.emplace_back(starts_[j].first + i * inner_large,
                             starts_[j].second + (is_kept ? i * inner_small : 0));
      }
    }
    inner_large *= size;
    if (is_kept) inner_small *= size;
  }
}

void AxisPlan::sum(const double* large, double* small) const {
  std::fill_n(small, small_cells_, 0.0);
  for (const auto& [l, s] : starts_) sum_kernel(loops_, large + l, small + s);
}

void AxisPlan::largest(const double* large, double* small) const {
  std::fill_n(small, small_cells_, -std::numeric_limits<double>::infinity());
  for (const auto& [l, s] : starts_) largest_kernel(loops_, large + l, small + s);
}

void AxisPlan::add(double* large, const double* small) const {
  for (const auto& [l, s] : starts_) add_kernel(loops_, large + l, small + s);
}

void AxisPlan::multiply(const double* from, const double* small, double* large) const {
  for (const auto& [l, s] : starts_) multiply_kernel(loops_, from + l, small + s, large + l);
}

void exp_in_place(std::span<double> values) { exp_kernel(values.data(), values.size()); }

}  // namespace tandem
