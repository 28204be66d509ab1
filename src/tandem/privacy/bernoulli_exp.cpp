// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/bernoulli_exp.h"

#include <boost/multiprecision/cpp_int.hpp>

namespace tandem {

namespace {

using boost::multiprecision::cpp_int;

struct Enclosure {
  cpp_int lower;
  cpp_int upper;
};

// 2^bits exp(-num/den), enclosed. Every step rounds `lower` down and `upper` up, so the enclosure
// holds by construction; the guard bits only make it narrow.
Enclosure enclose_exp(const cpp_int& num, const cpp_int& den, unsigned bits) {
  const cpp_int whole = num / den;
  if (whole >= bits) return {0, 1};  // exp(-x) < 2^-bits
  // y = x / 2^halvings < 2^-7 in units of 2^-scale; squaring doubles relative errors each time.
  const unsigned halvings = 9 + (whole == 0 ? 0 : msb(whole));
  const unsigned scale = bits + halvings + 32;
  const cpp_int y_lower = ((num << (scale - halvings)) / den);
  const cpp_int y_upper = y_lower + 1;
  // 1 - y + y^2/2 - ..., terms alternating and shrinking: the rest is at most the last one used.
  const cpp_int one = cpp_int(1) << scale;
  Enclosure e{one, one};
  cpp_int term_lower = one;
  cpp_int term_upper = one;
  for (unsigned k = 1; term_upper > 1; ++k) {
    term_lower = ((term_lower * y_lower) >> scale) / k;
    term_upper = ((term_upper * y_upper) >> scale) / k + 1;
    e.lower += k % 2 == 1 ? cpp_int(-term_upper) : term_lower;
    e.upper += k % 2 == 1 ? cpp_int(-term_lower) : term_upper;
  }
  e.lower -= term_upper;
  e.upper += term_upper;
  for (unsigned i = 0; i < halvings; ++i) {
    e.lower = (e.lower * e.lower) >> scale;
    e.upper = ((e.upper * e.upper) >> scale) + 1;
  }
  const unsigned drop = scale - bits;
  return {e.lower >> drop, (e.upper >> drop) + 1};
}

// U < exp(-num/den). For num > 0 the truth is irrational, and the two are told apart after finitely
// many words with probability one.
bool is_below(std::uint64_t first_word, const cpp_int& num, const cpp_int& den,
              EntropySource& entropy) {
  if (num == 0) return true;
  cpp_int u = first_word;
  for (unsigned bits = 64;; bits += 64) {
    const Enclosure e = enclose_exp(num, den, bits);
    if (u < e.lower) return true;  // so u + 1 <= lower, and U < u + 1
    if (u >= e.upper) return false;
    u = (u << 64) + entropy.word();
  }
}

cpp_int big(UInt128 value) {
  return (cpp_int(static_cast<std::uint64_t>(value >> 64)) << 64) +
         static_cast<std::uint64_t>(value);
}

}  // namespace

bool bernoulli_exp(std::uint64_t num, std::uint64_t den, EntropySource& entropy) {
  const ExpBounds bounds = exp_bounds(Multiples({num, den}).of(1));
  return below_exp(entropy.word(), bounds, {num, den}, entropy);
}

bool below_exp_exactly(std::uint64_t u, const Ratio& x, EntropySource& entropy) {
  return is_below(u, big(x.num), big(x.den), entropy);
}

bool below_gauss_exactly(std::uint64_t u, const Ratio& w, EntropySource& entropy) {
  const cpp_int num = big(w.num);
  const cpp_int den = big(w.den);
  return is_below(u, num * num, 2 * den * den, entropy);
}

}  // namespace tandem
