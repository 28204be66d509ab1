// SPDX-License-Identifier: Apache-2.0
// Scores of candidates: weighted sums of errors of marginals, plus a constant.
#include <algorithm>
#include <unordered_map>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/multiversion.h"
#include "tandem/privacy/quick_units.h"
#include "tandem/privacy/score_grid.h"
#include "tandem/privacy/score_units.h"
#include "tandem/privacy/sensitivity.h"

namespace tandem {

using namespace score_units;

namespace {

// How far one row moves a term of weight one, in counts.
UInt128 term_sensitivity(const Score::Term& term, const Domain& domain, const PrivacyUnit& unit) {
  const auto of_marginal = sensitivity_of({term.reference->clique}, domain, unit);
  return for_one_row(
      term.shape == Score::Shape::L1Error ? of_marginal.l1.value() : of_marginal.largest, unit);
}

// Sum over cells of |count - reference|. False if QuickUnits is of no use.
TANDEM_MULTIVERSION
bool add_up_quickly(const double* counts, const double* reference, std::size_t cells,
                    UInt128& sum) {
  constexpr std::size_t kBlock = 2048;  // of at most 2^51 each: below 2^63
  QuickUnits quick(1.0, CellScore::Absolute);
  for (std::size_t start = 0; start < cells; start += kBlock) {
    const std::size_t end = std::min(cells, start + kBlock);
    std::uint64_t part = 0;
    for (std::size_t i = start; i < end; ++i) {
      part += static_cast<std::uint64_t>(quick.of(counts[i], reference[i]));
    }
    sum += part;
  }
  return quick.all_within();
}

// In units of 2^-20.
Int128 evaluate_term(const Score::Term& term, const Factor& counts) {
  const auto& reference = term.reference->values;
  check(counts.values.size() == reference.size(), "a score's reference has a value for each cell");
  switch (term.shape) {
    case Score::Shape::L1Error: {
      UInt128 sum = 0;
      if (add_up_quickly(counts.values.data(), reference.data(), reference.size(), sum)) {
        return static_cast<Int128>(sum);
      }
      sum = 0;
      for (std::size_t i = 0; i < reference.size(); ++i) {
        sum += distance(counts.values[i], reference[i]);
      }
      return static_cast<Int128>(sum);
    }
    case Score::Shape::LargestError: {
      std::uint64_t largest = 0;
      for (const auto cell : term.cells) {
        check(cell < reference.size(), "a score names a cell of its marginal");
        largest = std::max(largest, distance(counts.values[cell], reference[cell]));
      }
      return static_cast<Int128>(largest);
    }
    case Score::Shape::AbsoluteError:
    case Score::Shape::SignedError: {
      const std::size_t cell = term.cells.front();
      check(cell < reference.size(), "a score names a cell of its marginal");
      if (term.shape == Score::Shape::AbsoluteError) {
        return static_cast<Int128>(distance(counts.values[cell], reference[cell]));
      }
      return static_cast<Int128>(count_on_grid(counts.values[cell])) -
             reference_on_grid(reference[cell]);
    }
  }
  throw InternalError("A score has an unknown shape.");
}

}  // namespace

ScoreGrid ScoreGrid::of(std::span<const Candidate> candidates, const Domain& domain,
                        const PrivacyUnit& unit) {
  WeightUnit weights;
  for (const auto& candidate : candidates) {
    for (const auto& term : candidate.score.terms()) weights.include(term.weight);
  }
  const int exponent = weights.exponent();
  UInt128 largest = 0;
  for (const auto& candidate : candidates) {
    UInt128 sum = 0;
    for (const auto& term : candidate.score.terms()) {
      const UInt128 moved =
          weight_in_sensitivity(term.weight, exponent) * term_sensitivity(term, domain, unit);
      sum = mutant(Mutant::LargestTermOnly) ? std::max(sum, moved) : sum + moved;
    }
    largest = std::max(largest, sum);
  }
  return grid_from(largest << kFractionBits, exponent, unit);
}

std::vector<std::int64_t> evaluate(std::span<const Candidate> candidates, const ScoreGrid& grid,
                                   const TrueCounts& counts, Threads threads) {
  // Formulas share terms: JAM's two candidates for a marginal both have the model's error.
  struct Distinct {
    const Score::Term* term;
    const Factor* counts;
    Int128 value;
  };
  std::vector<Distinct> distinct;
  std::vector<std::size_t> terms;  // of one candidate after the other: which it is
  std::unordered_map<const Factor*, std::size_t> l1_errors;  // by reference
  std::size_t cells = 0;
  for (const auto& candidate : candidates) {
    for (const auto& term : candidate.score.terms()) {
      terms.push_back(distinct.size());
      if (term.shape == Score::Shape::L1Error) {
        terms.back() = l1_errors.emplace(term.reference.get(), distinct.size()).first->second;
      }
      if (terms.back() < distinct.size()) continue;
      distinct.push_back({&term, &counts(term.reference->clique), 0});
      cells += term.reference->values.size();
    }
  }
  parallel_for(distinct.size(), cells < kWorthThreads ? threads.one() : threads,
               [&](std::size_t i) {
                 distinct[i].value = evaluate_term(*distinct[i].term, *distinct[i].counts);
               });

  std::vector<std::int64_t> values;
  values.reserve(candidates.size());
  auto next = terms.begin();
  for (const auto& candidate : candidates) {
    Int128 units = constant_on_grid(candidate.score.constant(), grid.exponent);
    for (const auto& term : candidate.score.terms()) {
      const Int128 value = saturated(distinct[*next++].value, kMostUnits);
      units = saturated(units + weight_on_grid(term.weight, grid.exponent) * value, kMostWeighted);
    }
    values.push_back(to_steps(units, grid.shift));
  }
  return values;
}

}  // namespace tandem
