// SPDX-License-Identifier: Apache-2.0
// How the exponential mechanism is sampled exactly.
//
// With gap_i = max - score_i and x_i = rate * gap_i, candidate i must be drawn with probability
// proportional to exp(-x_i), a number in (0, 1]. Lay the candidates out on a line, where i owns a
// stretch of w_i whole units of 2^-32, w_i being a proven upper bound on 2^32 exp(-x_i) that is
// never more than two units too long. Throw a point uniformly on the line. If it falls in the
// first exp(-x_i) of a stretch, i is drawn; otherwise throw again. Accepted points are uniform on a
// set where i owns exactly exp(-x_i): the law is exact, whatever the bounds.
//
// The whole part of the point is an exactly uniform integer, which names the candidate and its unit
// within the stretch. Unless that unit is among the last two the point is certainly accepted. For
// the last two the fractional part of the point is drawn and compared with exp(-x_i) exactly
// (privacy/bernoulli_exp). At most 2^30 candidates have stretches of up to 2^32 units, so the line
// is at most 2^62; and at most 2 * 2^30 of its units are in excess of the sum of 2^32 exp(-x_i) >=
// 2^32, so a point is accepted more than half of the time.
//
// The best candidate comes first on the line (it changes places with candidate 0), which makes the
// smallest random words select it: tests without noise rely on it.
#include "tandem/privacy/selection.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/privacy/bernoulli_exp.h"

namespace tandem {

namespace {

constexpr std::size_t kMostCandidates = std::size_t{1} << 30;
constexpr std::size_t kBlock = std::size_t{1} << 14;  // candidates for one task of a thread
constexpr std::uint64_t kUnits = std::uint64_t{1} << 32;
constexpr std::uint64_t kUncertain = 2;  // units at the end of a stretch

std::size_t blocks_of(std::size_t count) { return (count + kBlock - 1) / kBlock; }

Threads worth_using(std::size_t count, Threads threads) {
  return count > 4 * kBlock ? threads : Threads{1};
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

// The first of the best scores.
std::size_t find_best(std::span<const std::int64_t> scores, Threads threads) {
  if (scores.empty()) throw UsageError("A private selection needs at least one candidate.");
  check(scores.size() <= kMostCandidates, "a selection has more than 2^30 candidates");
  std::vector<std::size_t> winners(blocks_of(scores.size()));
  parallel_for(winners.size(), worth_using(scores.size(), threads), [&](std::size_t block) {
    const auto part =
        scores.subspan(block * kBlock, std::min(kBlock, scores.size() - block * kBlock));
    winners[block] =
        block * kBlock + static_cast<std::size_t>(std::ranges::max_element(part) - part.begin());
  });
  return *std::ranges::max_element(winners, {}, [&](std::size_t i) { return scores[i]; });
}

// The length w of a stretch: w - kUncertain <= 2^32 exp(-x) <= w.
//
// The upper bound on 2^64 exp(-x) gives 2^32 exp(-x) < floor(upper 2^-32) + 1, and it is at most
// 2^32. The two bounds are less than 2^32 apart, so 2^32 exp(-x) > upper 2^-32 - 1 >= w - 2.
std::uint64_t stretch(const Fixed& x) { return std::min(kUnits, (exp_bounds(x).upper >> 32) + 1); }

// Whether the point in unit `unit` of a stretch of `length` units is accepted.
bool accepts(std::uint64_t unit, std::uint64_t length, std::uint64_t gap, Rate rate,
             const Multiples& multiples, EntropySource& entropy) {
  if (unit + kUncertain < length) return true;
  const std::uint64_t u = (unit << 32) | (entropy.word() >> 32);
  return below_exp(u, exp_bounds(multiples.of(gap)),
                   {static_cast<UInt128>(gap) * rate.num, rate.den}, entropy);
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
  const auto gap_at = [&](std::size_t place) {
    return gap_below(scores[best], scores[candidate_at(place, best)]);
  };

  std::vector<std::uint64_t> totals(blocks_of(scores.size()));
  parallel_for(totals.size(), worth_using(scores.size(), threads), [&](std::size_t block) {
    std::uint64_t total = 0;
    const std::size_t end = std::min(scores.size(), (block + 1) * kBlock);
    for (std::size_t p = block * kBlock; p < end; ++p) total += stretch(multiples.of(gap_at(p)));
    totals[block] = total;
  });
  std::uint64_t line = 0;
  for (const std::uint64_t total : totals) line += total;

  for (;;) {
    std::uint64_t unit = entropy.below(line);
    std::size_t block = 0;
    for (; unit >= totals[block]; ++block) unit -= totals[block];
    std::size_t place = block * kBlock;
    std::uint64_t length = stretch(multiples.of(gap_at(place)));
    while (unit >= length) {
      unit -= length;
      length = stretch(multiples.of(gap_at(++place)));
    }
    if (accepts(unit, length, gap_at(place), rate, multiples, entropy)) {
      return candidate_at(place, best);
    }
  }
}

ExponentialTable::ExponentialTable(std::span<const std::int64_t> scores, Rate rate, Threads threads)
    : best_(find_best(scores, threads)),
      rate_(rate),
      multiples_(rate),
      gaps_(scores.size()),
      ends_(scores.size()) {
  parallel_for(blocks_of(scores.size()), worth_using(scores.size(), threads),
               [&](std::size_t block) {
                 const std::size_t end = std::min(scores.size(), (block + 1) * kBlock);
                 for (std::size_t p = block * kBlock; p < end; ++p) {
                   gaps_[p] = gap_below(scores[best_], scores[candidate_at(p, best_)]);
                   ends_[p] = stretch(multiples_.of(gaps_[p]));
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
    if (accepts(point - start, ends_[place] - start, gaps_[place], rate_, multiples_, entropy)) {
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
        const auto x = multiples.of(gap_below(scores[best], scores[from + i]));
        if (words[i] <= exp_bounds(x).upper) possible[block].push_back(i);
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
