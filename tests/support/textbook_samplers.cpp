// SPDX-License-Identifier: Apache-2.0
#include "support/textbook_samplers.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <numeric>
#include <vector>

namespace tandem::test {

namespace {

using boost::multiprecision::cpp_int;

// Uniform on 0 .. bound-1: as many bits as bound has, again while too large.
cpp_int uniform(const cpp_int& bound, Rng& rng) {
  const unsigned bits = msb(bound) + 1;
  for (;;) {
    cpp_int draw = 0;
    for (unsigned have = 0; have < bits; have += 64) draw = (draw << 64) + rng.next();
    draw &= (cpp_int(1) << bits) - 1;
    if (draw < bound) return draw;
  }
}

bool bernoulli(const cpp_int& num, const cpp_int& den, Rng& rng) { return uniform(den, rng) < num; }

// Algorithm 1: Bernoulli(exp(-num/den)).
bool bernoulli_exp(const cpp_int& num, const cpp_int& den, Rng& rng) {
  if (num <= den) {
    unsigned k = 1;
    while (bernoulli(num, den * k, rng)) ++k;
    return k % 2 == 1;
  }
  for (cpp_int i = 1; i <= num / den; ++i) {
    if (!bernoulli_exp(1, 1, rng)) return false;
  }
  return bernoulli_exp(num % den, den, rng);
}

// Algorithm 2: scale t/s.
cpp_int laplace(const cpp_int& s, const cpp_int& t, Rng& rng) {
  for (;;) {
    const cpp_int u = uniform(t, rng);
    if (!bernoulli_exp(u, t, rng)) continue;
    cpp_int v = 0;
    while (bernoulli_exp(1, 1, rng)) ++v;
    const cpp_int x = u + t * v;
    const cpp_int y = x / s;
    const bool negative = bernoulli(1, 2, rng);
    if (negative && y == 0) continue;
    return negative ? cpp_int(-y) : y;
  }
}

}  // namespace

bool textbook_bernoulli_exp(std::uint64_t num, std::uint64_t den, Rng& rng) {
  return bernoulli_exp(num, den, rng);
}

std::int64_t textbook_laplace(std::uint64_t num, int shift, Rng& rng) {
  return laplace(cpp_int(1) << shift, num, rng).convert_to<std::int64_t>();
}

// Algorithm 3, with sigma^2 = a / b.
std::int64_t textbook_gaussian(std::uint64_t num, int shift, Rng& rng) {
  const cpp_int a = cpp_int(num) * num;
  const cpp_int b = cpp_int(1) << (2 * shift);
  const cpp_int t = cpp_int(num >> shift) + 1;
  for (;;) {
    const cpp_int y = laplace(1, t, rng);
    // (|y| - a/(b t))^2 / (2 a/b) = (|y| b t - a)^2 / (2 a b t^2)
    const cpp_int distance = abs(y) * b * t - a;
    if (bernoulli_exp(distance * distance, 2 * a * b * t * t, rng)) {
      return y.convert_to<std::int64_t>();
    }
  }
}

std::size_t textbook_permute_and_flip(std::span<const std::int64_t> scores, std::uint64_t num,
                                      std::uint64_t den, Rng& rng) {
  const cpp_int best = *std::ranges::max_element(scores);
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  rng.shuffle(std::span(order));
  for (const std::size_t i : order) {
    if (bernoulli_exp((best - scores[i]) * num, den, rng)) return i;
  }
  return order.front();  // not reached: the best candidate is always accepted
}

}  // namespace tandem::test
