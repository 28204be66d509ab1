// SPDX-License-Identifier: Apache-2.0
// How the exponential mechanism is sampled exactly.
//
// With gap_i = max - score_i and x_i = rate * gap_i, candidate i must be drawn with probability
// proportional to exp(-x_i), a number in (0, 1]. Lay the candidates out on a line, where i owns a
// stretch of w_i whole units of 2^-32, w_i being a proven upper bound on 2^32 exp(-x_i). Throw a
// point uniformly on the line. If it falls in the first exp(-x_i) of a stretch, i is drawn;
// otherwise throw again. Accepted points are uniform on a set where i owns exactly exp(-x_i): the
// law is exact, whatever the bounds. They only decide how often a point is thrown again.
//
// So the bounds may be coarse and quick (`Stretches`: a table look-up a candidate), and exactness
// costs something for the one candidate that is hit: the whole part of the point is an exactly
// uniform integer, which names the candidate and its unit within the stretch; unless that unit lies
// below a certified lower bound, the fractional part is drawn too and compared with exp(-x_i)
// exactly (privacy/bernoulli_exp).
//
// At most 2^30 candidates have stretches of up to 2^32 units, so the line is at most 2^62. A
// stretch is at most 2 + 1.01 * 2^32 exp(-x_i) long, and the sum of 2^32 exp(-x_i) is at least
// 2^32: a point is accepted more than 0.6 of the time.
//
// The best candidate comes first on the line (it changes places with candidate 0), which makes the
// smallest random words select it: tests without noise rely on it.
#include "tandem/privacy/selection.h"

#include <algorithm>
#include <cmath>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/multiversion.h"
#include "tandem/privacy/bernoulli_exp.h"

namespace tandem {

namespace {

constexpr std::size_t kMostCandidates = std::size_t{1} << 30;
constexpr std::size_t kBlock = std::size_t{1} << 14;  // candidates for one task of a thread

std::size_t blocks_of(std::size_t count) { return (count + kBlock - 1) / kBlock; }

Threads worth_using(std::size_t count, Threads threads) {
  return count > 4 * kBlock ? threads : threads.one();
}

// The candidate at a place of the line.
std::size_t candidate_at(std::size_t place, std::size_t best) {
  if (place == 0) return best;
  return place == best ? 0 : place;
}

// best - score without overflow: it is below 2^64, and unsigned subtraction is modulo 2^64.
std::uint64_t gap_below(std::int64_t best, std::int64_t score) {
  return static_cast<std::uint64_t>(best) - static_cast<std::uint64_t>(score);
}

TANDEM_MULTIVERSION
std::int64_t largest_of(std::span<const std::int64_t> scores) {
  std::int64_t largest = scores.front();
  for (const std::int64_t score : scores) largest = std::max(largest, score);
  return largest;
}

TANDEM_MULTIVERSION
std::uint64_t sum_of_stretches(std::span<const std::int64_t> scores, std::int64_t best,
                               const Stretches& stretches) {
  std::uint64_t sum = 0;
  for (const std::int64_t score : scores) sum += stretches.of(gap_below(best, score));
  return sum;
}

// The first of the best scores.
std::size_t find_best(std::span<const std::int64_t> scores, Threads threads) {
  if (scores.empty()) throw UsageError("A private selection needs at least one candidate.");
  check(scores.size() <= kMostCandidates, "a selection has more than 2^30 candidates");
  std::vector<std::int64_t> largest(blocks_of(scores.size()));
  parallel_for(largest.size(), worth_using(scores.size(), threads), [&](std::size_t block) {
    largest[block] = largest_of(
        scores.subspan(block * kBlock, std::min(kBlock, scores.size() - block * kBlock)));
  });
  const auto winner = std::ranges::max_element(largest);  // the first of them
  const auto from = scores.subspan(static_cast<std::size_t>(winner - largest.begin()) * kBlock);
  return static_cast<std::size_t>(std::ranges::find(from, *winner) - scores.begin());
}

// Whether the point in unit `unit` of a stretch is accepted: in its first exp(-x).
bool accepts(std::uint64_t unit, std::uint64_t gap, Rate rate, const Multiples& multiples,
             EntropySource& entropy) {
  const ExpBounds bounds = exp_bounds(multiples.of(gap));
  if (unit < bounds.lower >> 32) return true;
  const std::uint64_t u = (unit << 32) | (entropy.word() >> 32);
  return below_exp(u, bounds, {static_cast<UInt128>(gap) * rate.num, rate.den}, entropy);
}

}  // namespace

// floor(rate * 2^shift) / 2^shift with the finest shift <= 63 at which the numerator fits 63 bits;
// scaling by a power of two and floor are exact.
Rate rate_at_most(double rate) {
  if (!(rate >= 0.0 && rate <= 0x1p32)) {
    throw UsageError("The sharpness of a selection must be from 0 to 2^32; change the budget.");
  }
  int exponent = 0;
  std::frexp(rate, &exponent);  // rate < 2^exponent
  const int shift = std::clamp(63 - exponent, 0, 63);
  return {static_cast<std::uint64_t>(std::floor(std::ldexp(rate, shift))),
          std::uint64_t{1} << shift};
}

std::size_t exponential_draw(std::span<const std::int64_t> scores, Rate rate,
                             EntropySource& entropy, Threads threads) {
  const std::size_t best = find_best(scores, threads);
  const Multiples multiples(rate);
  const Stretches stretches(multiples);
  const auto gap_at = [&](std::size_t place) {
    return gap_below(scores[best], scores[candidate_at(place, best)]);
  };

  // The sum of a block's stretches, as if the best were at its own place: made good below.
  std::vector<std::uint64_t> totals(blocks_of(scores.size()));
  parallel_for(totals.size(), worth_using(scores.size(), threads), [&](std::size_t block) {
    totals[block] = sum_of_stretches(
        scores.subspan(block * kBlock, std::min(kBlock, scores.size() - block * kBlock)),
        scores[best], stretches);
  });
  const std::uint64_t first = stretches.of(gap_below(scores[best], scores[0]));
  totals[0] += stretches.of(0) - first;
  totals[best / kBlock] -= stretches.of(0) - first;
  std::uint64_t line = 0;
  for (const std::uint64_t total : totals) line += total;

  for (;;) {
    std::uint64_t unit = entropy.below(line);
    std::size_t block = 0;
    for (; unit >= totals[block]; ++block) unit -= totals[block];
    std::size_t place = block * kBlock;
    std::uint64_t length = stretches.of(gap_at(place));
    while (unit >= length) {
      unit -= length;
      length = stretches.of(gap_at(++place));
    }
    if (accepts(unit, gap_at(place), rate, multiples, entropy)) return candidate_at(place, best);
  }
}

ExponentialTable::ExponentialTable(std::span<const std::int64_t> scores, Rate rate, Threads threads)
    : best_(find_best(scores, threads)),
      rate_(rate),
      multiples_(rate),
      gaps_(scores.size()),
      ends_(scores.size()) {
  const Stretches stretches(multiples_);
  parallel_for(blocks_of(scores.size()), worth_using(scores.size(), threads),
               [&](std::size_t block) {
                 const std::size_t end = std::min(scores.size(), (block + 1) * kBlock);
                 for (std::size_t p = block * kBlock; p < end; ++p) {
                   gaps_[p] = gap_below(scores[best_], scores[candidate_at(p, best_)]);
                   ends_[p] = stretches.of(gaps_[p]);
                 }
               });
  std::uint64_t end = 0;
  for (auto& length : ends_) length = end += length;
}

std::size_t ExponentialTable::draw(EntropySource& entropy) const {
  for (;;) {
    const std::uint64_t point = entropy.below(ends_.back());
    const auto place =
        static_cast<std::size_t>(std::ranges::upper_bound(ends_, point) - ends_.begin());
    const std::uint64_t start = place == 0 ? 0 : ends_[place - 1];
    if (accepts(point - start, gaps_[place], rate_, multiples_, entropy)) {
      return candidate_at(place, best_);
    }
  }
}

void ExponentialTable::draw_many(std::span<std::size_t> draws, EntropySource& entropy) const {
  for (auto& i : draws) i = draw(entropy);
}

// The first accepted candidate of a random order is a uniformly random one of those whose coins
// fall heads, because coins and order are independent: so toss every coin, then choose among the
// heads. The best candidate's coin always falls heads.
std::size_t permute_and_flip_draw(std::span<const std::int64_t> scores, Rate rate,
                                  EntropySource& entropy, Threads threads) {
  const std::size_t best = find_best(scores, threads);
  const Multiples multiples(rate);
  const Stretches stretches(multiples);
  constexpr std::size_t kSlab = 16 * kBlock;  // words are drawn here, coins decided on all threads
  std::vector<std::uint64_t> words(std::min(scores.size(), kSlab));
  std::vector<std::size_t> heads;
  for (std::size_t from = 0; from < scores.size(); from += kSlab) {
    const std::size_t count = std::min(kSlab, scores.size() - from);
    // Read from the other end (~), so that the smallest words leave only the best candidates.
    for (std::size_t i = 0; i < count; ++i) words[i] = ~entropy.word();
    std::vector<std::vector<std::size_t>> possible(blocks_of(count));
    parallel_for(possible.size(), worth_using(count, threads), [&](std::size_t block) {
      const std::size_t end = std::min(count, (block + 1) * kBlock);
      for (std::size_t i = block * kBlock; i < end; ++i) {
        // Beyond the stretch a word is certainly not below exp(-x).
        const std::uint64_t gap = gap_below(scores[best], scores[from + i]);
        if (words[i] >> 32 < stretches.of(gap)) possible[block].push_back(i);
      }
    });
    for (const auto& part : possible) {
      for (const std::size_t i : part) {
        const std::uint64_t gap = gap_below(scores[best], scores[from + i]);
        const Ratio x{static_cast<UInt128>(gap) * rate.num, rate.den};
        if (below_exp(words[i], exp_bounds(multiples.of(gap)), x, entropy))
          heads.push_back(from + i);
      }
    }
  }
  return heads[entropy.below(heads.size())];
}

}  // namespace tandem
