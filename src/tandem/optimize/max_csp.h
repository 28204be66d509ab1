// SPDX-License-Identifier: Apache-2.0
#pragma once
// The record that satisfies most of some drawn conjunctions and negations of conjunctions: the hard
// step of DualQuery, a weighted constraint satisfaction problem.
//
// A draw of a conjunction and one of its negation cancel out, so a problem is a whole weight, of
// either sign, for each conjunction that was drawn; only what those name takes part. The search is
// tabu search with flips of bits, or changes of a column's value, kept in buckets by gain: a move
// costs what the conjunctions of its variables cost, whatever the size of the problem. It stops by
// a number of moves, so a seed gives the same record on every machine.
//
//   Glover. Tabu Search, Part I. ORSA Journal on Computing, 1989.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/query/conjunctions.h"

namespace tandem {

struct DrawnConjunction {
  std::uint32_t conjunction = 0;  // of a set
  bool negated = false;
};

// Conjunctions with weights, over those indicators that they name. A column has one value, so at
// most one of its indicators holds.
class MaxCsp {
 public:
  MaxCsp(const ConjunctionSet& set, std::span<const DrawnConjunction> drawn);

  struct Clause {
    std::span<const std::uint32_t> literals;  // twice a bit, and 1 more where it must not hold
    std::int64_t weight = 0;                  // never 0
  };

  std::size_t bits() const { return indicators_.size(); }
  std::size_t clauses() const { return weights_.size(); }
  Clause clause(std::size_t c) const {
    return {std::span(literals_).subspan(ends_[c], ends_[c + 1] - ends_[c]), weights_[c]};
  }
  // Position among the set's indicators of each bit; ascending.
  std::span<const std::uint32_t> indicators() const { return indicators_; }

  // Bits that exclude each other follow each other: variable v has those from begins()[v] on.
  std::size_t variables() const { return begins_.size() - 1; }
  std::span<const std::uint32_t> begins() const { return begins_; }
  bool may_be_none(std::size_t variable) const { return may_be_none_[variable] != 0; }

  // How many draws are satisfied is `base` and the weights of the clauses that hold.
  std::int64_t base() const { return base_; }
  std::int64_t drawn() const { return drawn_; }
  std::int64_t satisfied(std::span<const std::uint8_t> bits) const;
  std::int64_t most() const { return most_; }  // an upper bound on what any record satisfies

 private:
  friend class CspReduction;
  MaxCsp() = default;  // without clauses
  void bound();

  std::vector<std::uint32_t> indicators_;
  std::vector<std::uint32_t> begins_;
  std::vector<std::uint8_t> may_be_none_;
  std::vector<std::uint32_t> literals_;
  std::vector<std::uint32_t> ends_ = {0};
  std::vector<std::int64_t> weights_;
  std::int64_t base_ = 0;
  std::int64_t drawn_ = 0;
  std::int64_t most_ = 0;
};

struct CspSolution {
  std::vector<std::uint8_t> bits;
  std::int64_t satisfied = 0;
  bool optimal = false;  // proven: no record satisfies more
  std::uint64_t moves = 0;
  bool failed = false;  // of an exact solver: it crashed, or had nothing to say in its time
};

struct TabuOptions {
  std::uint64_t seed = 0;
  std::size_t moves_per_bit = 20;
  std::size_t least_moves = 20'000;  // a few milliseconds, for small problems
};

// First what is clear without a search (csp_reduction.h), then each part by itself. Starts from
// these bits; several of one variable count as the first of them.
CspSolution search_tabu(const MaxCsp& problem, std::span<const std::uint8_t> start,
                        const TabuOptions& options, const Threads& threads = {});

// ---- By branch and bound, where the program `cbc` is installed ----

struct ExactOptions {
  double seconds = 20.0;                         // of processor time
  double grace = 2.0;                            // seconds more, by the clock
  std::int64_t nodes = 100'000;                  // unlike seconds, the same limit on every machine
  std::uint64_t bytes = std::uint64_t{4} << 30;  // of memory
  std::string program = "cbc";                   // on the PATH, or a path

  // By the clock, before it is killed, for the limit is of processor time.
  double longest() const { return 3.0 * seconds + grace; }
};

bool has_exact_solver(const ExactOptions& options = {});
// Never worse than the warm start: that is what a solver that fails leaves. UsageError where the
// program is missing.
CspSolution solve_exactly(const MaxCsp& problem, std::span<const std::uint8_t> warm_start,
                          const ExactOptions& options, const Threads& threads = {});

// ---- As DualQuery asks ----

enum class CspSolver {
  Local,
  Exact,  // what it finds before its limits may depend on the machine
  // Local; the exact one, where there is one, only says of small problems whether that was optimal.
  // So a seed gives the same record with it and without, and a run that is resumed goes on.
  Auto
};

inline constexpr std::int64_t kMostCertifiedDraws = 500;

struct BestResponseOptions {
  CspSolver solver = CspSolver::Local;
  TabuOptions tabu = {};
  ExactOptions exact = {};
};

struct BestResponse {
  std::vector<std::uint8_t> holds;     // for each indicator of the set
  std::vector<std::uint32_t> touched;  // indicators that mattered; the others are as they were
  std::int64_t satisfied = 0;
  std::int64_t drawn = 0;
  bool optimal = false;
  bool failed = false;  // the exact solver did
};

// `start`: for each indicator of the set whether it holds in the record to start from.
BestResponse best_response(const ConjunctionSet& set, std::span<const DrawnConjunction> drawn,
                           std::span<const std::uint8_t> start, const BestResponseOptions& options,
                           const Threads& threads = {});

// For each indicator of a set whether it holds in a record of codes; and the other way round, into
// a record: a column none of whose indicators hold keeps its code if no indicator names it, and
// otherwise takes the least that none names. Where all are named, those alone count that mattered
// to the answer.
std::vector<std::uint8_t> indicators_of_record(const ConjunctionSet& set,
                                               std::span<const Code> record);
void put_indicators(const ConjunctionSet& set, const BestResponse& answer, std::span<Code> record);

}  // namespace tandem
