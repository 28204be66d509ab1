// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/exp_bounds.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>

#include "tandem/base/error.h"
#include "tandem/privacy/entropy.h"

namespace tandem {
namespace {

using boost::multiprecision::cpp_int;
using Real = boost::multiprecision::cpp_bin_float_100;

cpp_int big(UInt128 value) {
  return (cpp_int(static_cast<std::uint64_t>(value >> 64)) << 64) +
         static_cast<std::uint64_t>(value);
}

const Real kTwo64 = pow(Real(2), 64);

void expect_encloses(UInt128 x, std::uint64_t width) {
  const ExpBounds bounds = exp_bounds({x, width});
  const Real most = kTwo64 * exp(-Real(big(x)) / kTwo64);
  const Real least = kTwo64 * exp(-(Real(big(x)) + width) / kTwo64);
  EXPECT_LE(Real(bounds.lower), least) << big(x);
  const bool capped = bounds.upper == ~std::uint64_t{0};
  EXPECT_TRUE(capped || Real(bounds.upper) >= most) << big(x);
  EXPECT_LE(Real(bounds.upper) - Real(bounds.lower), width + 14) << big(x);  // and tight
}

TEST(ExpBounds, EncloseAtTheSeamsOfTheTables) {
  for (std::uint64_t whole = 0; whole < 50; ++whole) {
    const UInt128 base = static_cast<UInt128>(whole) << 64;
    for (const std::uint64_t fraction :
         {0ULL, 1ULL, (1ULL << 52) - 1, 1ULL << 52, (1ULL << 58) - 1, 1ULL << 58, ~0ULL}) {
      expect_encloses(base + fraction, 0);
      expect_encloses(base + fraction, 100);
    }
  }
  for (std::uint64_t j = 0; j < 4096; j += 7) expect_encloses(static_cast<UInt128>(j) << 52, 3);
  expect_encloses(kFar, 5);
  expect_encloses(~static_cast<UInt128>(0), 5);
}

TEST(ExpBounds, EncloseRandomNumbers) {
  SeededEntropy entropy(11);
  for (int i = 0; i < 4000; ++i) {
    const std::uint64_t whole = entropy.below(46);
    expect_encloses((static_cast<UInt128>(whole) << 64) + entropy.word(), entropy.below(1000));
  }
}

void expect_multiple(Rate rate, std::uint64_t k) {
  const Fixed fixed = Multiples(rate).of(k);
  const cpp_int exact = (cpp_int(k) * rate.num) << 64;  // over den, in units of 2^-64
  EXPECT_LE(big(fixed.lower) * rate.den, exact) << k << " * " << rate.num << "/" << rate.den;
  if (fixed.lower < kFar) {
    EXPECT_GE((big(fixed.lower) + fixed.width) * rate.den, exact)
        << k << " * " << rate.num << "/" << rate.den;
    EXPECT_LE(fixed.width, 2 + 2 * static_cast<std::uint64_t>(fixed.lower >> 64) + 1);
  } else {
    EXPECT_GE(exact, (cpp_int(128) << 64) * rate.den);
  }
}

TEST(Multiples, EncloseAtTheEdges) {
  const std::uint64_t most = ~std::uint64_t{0};
  const std::vector<std::uint64_t> edges = {
      1,          2,        3,   127, 128, 129, (1ULL << 32) - 1, 1ULL << 32, (1ULL << 63) - 1,
      1ULL << 63, most - 1, most};
  for (const std::uint64_t num : edges) {
    for (const std::uint64_t den : edges) {
      expect_multiple({num, den}, 0);
      for (const std::uint64_t k : edges) expect_multiple({num, den}, k);
    }
  }
  for (const std::uint64_t k : edges) expect_multiple({0, 7}, k);
  EXPECT_THROW(Multiples({1, 0}), InternalError);
}

RC_GTEST_PROP(Multiples, Enclose, (std::uint64_t num, std::uint64_t den, std::uint64_t k)) {
  const int drop = *rc::gen::inRange(0, 64);
  const int drop_k = *rc::gen::inRange(0, 64);
  expect_multiple({num, (den >> drop) | 1}, k >> drop_k);
}

// ---- Coarse bounds ------------------------------------------------------------------------------

void expect_stretch(Rate rate, std::uint64_t k) {
  const std::uint64_t stretch = Stretches(Multiples(rate)).of(k);
  const Real x = Real(cpp_int(k) * rate.num) / rate.den;
  const Real truth = pow(Real(2), 32) * exp(x < 1000 ? Real(-x) : Real(-1000));
  EXPECT_LE(truth, Real(stretch)) << k << " * " << rate.num << "/" << rate.den;
  EXPECT_LE(Real(stretch), Real(std::uint64_t{1} << 32));
  EXPECT_LE(Real(stretch), 2 + Real(1.01) * truth) << k << " * " << rate.num << "/" << rate.den;
}

TEST(Stretches, BoundFromAboveAtTheEdges) {
  const std::uint64_t most = ~std::uint64_t{0};
  const std::vector<std::uint64_t> edges = {
      1, 2, 3, 127, 128, 129, (1ULL << 32) - 1, 1ULL << 32, (1ULL << 63) - 1, 1ULL << 63, most};
  for (const std::uint64_t num : edges) {
    for (const std::uint64_t den : edges) {
      for (const std::uint64_t k : edges) expect_stretch({num, den}, k);
    }
  }
  for (std::uint64_t j = 0; j < 3000; ++j) {  // the seams of the table
    for (const std::uint64_t k : {j << 20, (j << 20) + 1, (j << 20) - (j > 0 ? 1 : 0)}) {
      expect_stretch({1, std::uint64_t{1} << 27}, k);
    }
  }
}

RC_GTEST_PROP(Stretches, BoundFromAbove, (std::uint64_t num, std::uint64_t den, std::uint64_t k)) {
  const int drop = *rc::gen::inRange(0, 64);
  const int drop_k = *rc::gen::inRange(0, 64);
  expect_stretch({num, (den >> drop) | 1}, k >> drop_k);
}

}  // namespace
}  // namespace tandem
