// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/tables/axis_plan.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "tandem/base/check.h"
#include "tandem/base/four.h"
#include "tandem/base/multiversion.h"

namespace tandem {
namespace {

using Loops = AxisPlan::Loops;

// Each kernel below is the same four nested loops around a different innermost one. Where the last
// run is kept, the small table moves with the large one there; otherwise it stands still.

[[gnu::always_inline]] inline void add_row(const double* from, std::size_t n, double* to) {
  std::size_t j = 0;
  Four a;
  Four b;
  for (; j + 4 <= n; j += 4) {
    load(from + j, a);
    load(to + j, b);
    b += a;
    store(b, to + j);
  }
  for (; j < n; ++j) to[j] += from[j];
}

[[gnu::always_inline]] inline void plus_row(const double* in, const double* by, std::size_t n,
                                            double* out) {
  std::size_t j = 0;
  Four a;
  Four b;
  for (; j + 4 <= n; j += 4) {
    load(in + j, a);
    load(by + j, b);
    a += b;
    store(a, out + j);
  }
  for (; j < n; ++j) out[j] = in[j] + by[j];
}

[[gnu::always_inline]] inline void plus_constant(const double* in, double by, std::size_t n,
                                                 double* out) {
  std::size_t j = 0;
  Four a;
  for (; j + 4 <= n; j += 4) {
    load(in + j, a);
    a += by;
    store(a, out + j);
  }
  for (; j < n; ++j) out[j] = in[j] + by;
}

// Eight partial sums in a fixed order: the result is the same everywhere.
[[gnu::always_inline]] inline double sum_row(const double* from, std::size_t n) {
  double sum = 0.0;
  std::size_t j = 0;
  if (n >= 8) {
    Four a = {};
    Four b = {};
    Four next;
    for (; j + 8 <= n; j += 8) {
      load(from + j, next);
      a += next;
      load(from + j + 4, next);
      b += next;
    }
    a += b;
    sum = sum_of(a);
  }
  for (; j < n; ++j) sum += from[j];
  return sum;
}

[[gnu::always_inline]] inline void largest_row(const double* from, std::size_t n, double* to) {
  std::size_t j = 0;
  Four a;
  Four b;
  for (; j + 4 <= n; j += 4) {
    load(from + j, a);
    load(to + j, b);
    b = a > b ? a : b;
    store(b, to + j);
  }
  for (; j < n; ++j) to[j] = from[j] > to[j] ? from[j] : to[j];
}

[[gnu::always_inline]] inline double largest_of(const double* from, std::size_t n, double most) {
  std::size_t j = 0;
  if (n >= 4) {
    Four a = {most, most, most, most};
    Four b;
    for (; j + 4 <= n; j += 4) {
      load(from + j, b);
      a = b > a ? b : a;
    }
    for (int t = 0; t < 4; ++t) most = a[t] > most ? a[t] : most;
  }
  for (; j < n; ++j) most = from[j] > most ? from[j] : most;
  return most;
}

[[gnu::always_inline]] inline void multiply_row(const double* in, const double* by, std::size_t n,
                                                double* out) {
  std::size_t j = 0;
  Four a;
  Four b;
  for (; j + 4 <= n; j += 4) {
    load(in + j, a);
    load(by + j, b);
    a *= b;
    store(a, out + j);
  }
  for (; j < n; ++j) out[j] = in[j] * by[j];
}

[[gnu::always_inline]] inline void multiply_constant(const double* in, double by, std::size_t n,
                                                     double* out) {
  std::size_t j = 0;
  Four a;
  for (; j + 4 <= n; j += 4) {
    load(in + j, a);
    a *= by;
    store(a, out + j);
  }
  for (; j < n; ++j) out[j] = in[j] * by;
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
    for_each_run(loops,
                 [=](std::size_t l, std::size_t s) { largest_row(large + l, n, small + s); });
  } else {
    for_each_run(loops, [=](std::size_t l, std::size_t s) {
      small[s] = largest_of(large + l, n, small[s]);
    });
  }
}

TANDEM_MULTIVERSION void add_kernel(const Loops& loops, const double* from, const double* small,
                                    double* large) {
  const std::size_t n = loops.size[3];
  if (loops.last_kept) {
    for_each_run(
        loops, [=](std::size_t l, std::size_t s) { plus_row(from + l, small + s, n, large + l); });
  } else {
    for_each_run(loops, [=](std::size_t l, std::size_t s) {
      plus_constant(from + l, small[s], n, large + l);
    });
  }
}

TANDEM_MULTIVERSION void multiply_kernel(const Loops& loops, const double* from,
                                         const double* small, double* large) {
  const std::size_t n = loops.size[3];
  if (loops.last_kept) {
    for_each_run(loops, [=](std::size_t l, std::size_t s) {
      multiply_row(from + l, small + s, n, large + l);
    });
  } else {
    for_each_run(loops, [=](std::size_t l, std::size_t s) {
      multiply_constant(from + l, small[s], n, large + l);
    });
  }
}

// exp by 2^k exp(r), |r| <= ln 2 / 2, with the Taylor series to r^13 (error below 2e-17 there).
[[gnu::always_inline]] inline void exp_of(Four& x) {
  constexpr double kLog2E = 1.4426950408889634074;
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kShift = 0x1.8p52;  // adding it rounds to a whole number, in the low bits
  constexpr double kLeast = -708.0;
  constexpr double kMost = 709.0;
  // Of the even and the odd powers, highest first: two sums side by side take half as long.
  constexpr double kEven[] = {
      1.0 / 479001600.0, 1.0 / 3628800.0, 1.0 / 40320.0, 1.0 / 720.0, 1.0 / 24.0, 0.5, 1.0};
  constexpr double kOdd[] = {1.0 / 6227020800.0,
                             1.0 / 39916800.0,
                             1.0 / 362880.0,
                             1.0 / 5040.0,
                             1.0 / 120.0,
                             1.0 / 6.0,
                             1.0};
  const Four least = {kLeast, kLeast, kLeast, kLeast};
  const Four most = {kMost, kMost, kMost, kMost};
  Four clamped = x < least ? least : x;
  clamped = clamped > most ? most : clamped;
  const Four shifted = clamped * kLog2E + kShift;
  const Four k = shifted - kShift;
  const Four r = (clamped - k * kLn2High) - k * kLn2Low;
  const Four square = r * r;
  Four even = {};
  Four odd = {};
  for (int i = 0; i < 7; ++i) {
    even = even * square + kEven[i];
    odd = odd * square + kOdd[i];
  }
  Four p = even + r * odd;
  FourInts exponent;
  FourInts bits;
  std::memcpy(&exponent, &shifted, sizeof exponent);
  std::memcpy(&bits, &p, sizeof bits);
  bits += exponent << 52;  // k, wrapped, where the exponent belongs
  std::memcpy(&p, &bits, sizeof p);
  const Four zero = {};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Four infinity = {kInfinity, kInfinity, kInfinity, kInfinity};
  p = x < least ? zero : p;
  x = x > most ? infinity : p;
}

TANDEM_MULTIVERSION void exp_kernel(double* values, std::size_t n) {
  std::size_t i = 0;
  Four x;
  for (; i + 4 <= n; i += 4) {
    load(values + i, x);
    exp_of(x);
    store(x, values + i);
  }
  if (i < n) {
    x = Four{};
    std::memcpy(&x, values + i, (n - i) * sizeof(double));
    exp_of(x);
    std::memcpy(values + i, &x, (n - i) * sizeof(double));
  }
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
  add_sum(large, small);
}

void AxisPlan::add_sum(const double* large, double* small) const {
  for (const auto& [l, s] : starts_) sum_kernel(loops_, large + l, small + s);
}

void AxisPlan::largest(const double* large, double* small) const {
  std::fill_n(small, small_cells_, -std::numeric_limits<double>::infinity());
  raise(large, small);
}

void AxisPlan::raise(const double* large, double* small) const {
  for (const auto& [l, s] : starts_) largest_kernel(loops_, large + l, small + s);
}

void AxisPlan::add(const double* from, const double* small, double* large) const {
  for (const auto& [l, s] : starts_) add_kernel(loops_, from + l, small + s, large + l);
}

void AxisPlan::multiply(const double* from, const double* small, double* large) const {
  for (const auto& [l, s] : starts_) multiply_kernel(loops_, from + l, small + s, large + l);
}

void exp_in_place(std::span<double> values) { exp_kernel(values.data(), values.size()); }

}  // namespace tandem
