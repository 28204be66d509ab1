// SPDX-License-Identifier: Apache-2.0
#pragma once
// Private selection over integer scores on a public grid, sampled exactly.
//
// The exponential mechanism draws i with probability proportional to exp(rate * score_i) (McSherry
// and Talwar 2007); permute-and-flip visits candidates in random order and accepts i with
// probability exp(rate * (score_i - max)) (McKenna and Sheldon 2020). At privacy parameter epsilon
// the rate is epsilon / (2 * sensitivity of the scores on their grid); what each costs in rho is in
// privacy/accountant.h.
//
// No floating point is involved. About 1 ns a candidate on one thread (5 for permute-and-flip); the
// result for a given stream of random words does not depend on the number of threads. 2^30
// candidates at most.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/privacy/entropy.h"
#include "tandem/privacy/exp_bounds.h"

namespace tandem {

// The largest binary fraction with at most 63 bits after the point that is not above `rate`, which
// is from 0 to 2^32; UsageError outside.
// Privacy: a rate is only ever rounded down, towards more noise.
Rate rate_at_most(double rate);

// Privacy: exactly the exponential mechanism. With rate = epsilon / (2 sensitivity) it is
// epsilon-differentially private (McSherry and Talwar 2007), of bounded range epsilon, and so
// epsilon^2/8-zCDP (Cesar and Rogers 2021). UsageError if there is no candidate.
std::size_t exponential_draw(std::span<const std::int64_t> scores, Rate rate,
                             EntropySource& entropy, Threads threads = {});

// Privacy: exactly permute-and-flip. With rate = epsilon / (2 sensitivity) it is
// epsilon-differentially private (McKenna and Sheldon 2020), and so epsilon^2/2-zCDP.
// UsageError if there is no candidate.
std::size_t permute_and_flip_draw(std::span<const std::int64_t> scores, Rate rate,
                                  EntropySource& entropy, Threads threads = {});

// The exponential mechanism prepared for many draws from the same scores.
class ExponentialTable {
 public:
  ExponentialTable(std::span<const std::int64_t> scores, Rate rate, Threads threads = {});

  // Privacy: each draw is one exact, independent run of the exponential mechanism, and is charged
  // as one. The table itself is private data: it never leaves the gate.
  std::size_t draw(EntropySource& entropy) const;
  void draw_many(std::span<std::size_t> draws, EntropySource& entropy) const;

 private:
  std::size_t best_ = 0;
  Rate rate_;
  Multiples multiples_;
  std::vector<std::uint64_t> gaps_;  // below the best score, in the order of the line (see .cpp)
  std::vector<std::uint64_t> ends_;  // where each candidate's stretch of the line ends
};

}  // namespace tandem
