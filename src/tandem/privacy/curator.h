// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gate: the one class that sees private data.
//
// Everything a mechanism learns comes out of here as a measurement or a selection, drawn by an
// exact mechanism. Each spending call derives the sensitivity, asks the filter, and only then
// touches the data and draws; the result is durable before it is returned. What follows is
// post-processing.
//
// The filter's currency picks the noise: rho measures with discrete Gaussian noise (or Laplace when
// asked), a pure epsilon with discrete Laplace.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/domain.h"
#include "tandem/privacy/entropy.h"
#include "tandem/privacy/filter.h"
#include "tandem/privacy/pricing.h"
#include "tandem/privacy/privacy_unit.h"
#include "tandem/privacy/score.h"
#include "tandem/privacy/sensitivity.h"
#include "tandem/privacy/step.h"
#include "tandem/privacy/transcript.h"
#include "tandem/query/measurement.h"

namespace tandem {

class PrivateData;

// How rows fall into groups, by public knowledge: each code of one attribute belongs to one group.
struct PublicKey {
  AttributeId attribute = 0;
  std::vector<std::size_t> group;  // one for each code
  std::size_t groups = 0;
  static PublicKey codes_of(const Domain& domain, AttributeId attribute);  // a group for each code
};

// The value of a score, with noise.
struct NoisyScore {
  double value = 0.0;
  NoiseKind noise = NoiseKind::None;
  Sigma sigma;  // standard deviation of the noise, in units of the score
};

// Counts of conjunctions, with noise of one standard deviation.
struct NoisyCounts {
  std::vector<double> values;
  NoiseKind noise = NoiseKind::None;
  Sigma sigma;
};

struct CuratorSettings {
  Threads threads;
  std::size_t cache_bytes = std::size_t{1} << 30;  // of true counts kept between calls
  // Called after each step with the share of the budget spent: public.
  std::function<void(std::size_t step, double spent)> progress;
};

class Curator {
 public:
  Curator(PrivateData data, Filter filter, std::unique_ptr<EntropySource> entropy,
          std::unique_ptr<Transcript> transcript, CuratorSettings settings);
  ~Curator();
  Curator(Curator&&) noexcept;
  Curator& operator=(Curator&&) noexcept;

  // ---- Known without spending ----
  const Domain& domain() const;
  const PrivacyUnit& unit() const;
  Currency currency() const;
  Cost remaining() const;
  Threads threads() const;                // that a mechanism may use
  bool seeded() const;                    // the noise can be repeated: nothing is private
  const Filter& filter() const;           // what was spent
  std::span<const Step> history() const;  // what was done for it, with the steps of all groups
  std::size_t steps() const;              // done so far, free ones and those of groups too
  // Whether the last step was begun and not done: its data, disk or transcript failed. What a
  // resumed run would find there may be better.
  bool interrupted() const;
  Sigma noise_scale(const LinearQuery& query, Cost cost) const;  // what measure() would add
  // The noise of a query of weight 1 in measure_together(), in units of its map.
  Sigma noise_together(std::span<const WeightedQuery> queries, Cost cost, NoiseKind noise) const;
  Cost cost_for(const LinearQuery& query, Sigma sigma) const;  // its price, rounded up
  // The step of a selection: a score lower by this much is 1/e as likely.
  double selection_scale(std::span<const Candidate> candidates, Cost cost,
                         Selection how = Selection::Exponential) const;
  Cost cost_for_rate(std::span<const CellScores> scores, double rate) const;  // of one draw
  Cost cost_for_conjunctions(double rate) const;                              // of one draw
  Sigma conjunction_noise(const ConjunctionSet& conjunctions, Cost cost, NoiseKind noise) const;
  Sigma score_noise(const Score& score, Cost cost) const;  // what measure_score() would add

  // What the filter held back becomes spendable; gives how much that is.
  Cost let_go();

  // ---- Spending ----

  // Privacy: costs `cost`; the values are the exact answer plus discrete Gaussian or Laplace noise
  // calibrated to the query's sensitivity (Canonne, Kamath, Steinke 2020, Theorem 4; Ghosh,
  // Roughgarden, Sundararajan 2009). A query that no person can move (the total under replace-one
  // with one row each) is exact and free.
  Measurement measure(const LinearQuery& query, Cost cost);
  Measurement measure(const LinearQuery& query, Cost cost, NoiseKind noise);

  // Several at once, in one pass over the data: each at its own cost, or at equal shares.
  std::vector<Measurement> measure_all(std::span<const LinearQuery> queries, Cost total);
  std::vector<Measurement> measure_all(std::span<const LinearQuery> queries,
                                       std::span<const Cost> costs);
  std::vector<Measurement> measure_all(std::span<const LinearQuery> queries,
                                       std::span<const Cost> costs, NoiseKind noise);

  // Privacy: costs `cost` for all of them together, at the sensitivity of their stack, which can be
  // less than the sum of their own. A query's noise is the common one divided by its weight.
  std::vector<Measurement> measure_together(std::span<const WeightedQuery> queries, Cost cost,
                                            NoiseKind noise);

  // Privacy: costs `cost`; a candidate drawn by the exponential mechanism (rho = epsilon^2/8) or
  // permute-and-flip (rho = epsilon^2/2), at the largest sensitivity among the scores.
  std::size_t select(std::span<const Candidate> candidates, Cost cost,
                     Selection how = Selection::Exponential);
  CellChoice select_cell(std::span<const CellScores> scores, Cost cost,
                         Selection how = Selection::Exponential);

  // Privacy: costs draws * cost_for_rate(scores, rate); independent draws, each with probability
  // proportional to exp(rate * score).
  std::vector<CellChoice> sample_cells(std::span<const CellScores> scores, double rate,
                                       std::size_t draws);

  // Privacy: costs draws * cost_for_conjunctions(rate); independent draws of conjunctions or
  // negations, each with probability proportional to exp(rate * score).
  std::vector<ConjunctionChoice> sample_conjunctions(const ConjunctionScores& scores, double rate,
                                                     std::size_t draws);

  // Privacy: costs `cost`; how many rows fulfil each conjunction, with noise for all of them
  // together: one row may fulfil every one.
  NoisyCounts measure_conjunctions(const ConjunctionSet& conjunctions, Cost cost, NoiseKind noise);

  // Privacy: costs `cost`; the score's value on its grid plus discrete noise calibrated to its
  // sensitivity there: what a release may say of its own error.
  NoisyScore measure_score(const Score& score, Cost cost);

  // Privacy: costs `each` once. A row belongs to one group, so a person whose rows are spread over
  // groups moves each by their rows there only, and k of m rows cost (k/m)^2 of rho or k/m of
  // epsilon: together at most one group's price. Under add-remove only (UsageError otherwise): a
  // replaced row could leave one group and enter another.
  std::vector<Curator> partition(const PublicKey& key, Cost each);

 private:
  struct Shared;
  struct Impl;
  struct Selecting;
  explicit Curator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem
