// SPDX-License-Identifier: Apache-2.0
#pragma once
// What MWEM and its descendants share: a distribution A on a support, its answers to the workload,
// the cells measured so far, and the multiplicative update.
//
// Everything here works with public values and with what the gate has returned.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/base/rng.h"
#include "tandem/mechanism/plan.h"
#include "tandem/mechanism/problem.h"
#include "tandem/mechanism/release.h"
#include "tandem/model/histogram/factored_histogram.h"
#include "tandem/model/histogram/workload_answers.h"
#include "tandem/privacy/score.h"
#include "tandem/query/measurement.h"
#include "tandem/query/workload.h"

namespace tandem {

// A cell that is measured again has the mean of its answers, by their precision; or, as the authors
// of MW-Pub have it, the newest; or it is not chosen again, as in their later code.
enum class Repeats { Average, Replace, Never };

// A measured cell.
struct MeasuredCell {
  CellChoice cell;
  double answer = 0.0;    // in counts, as measured
  double variance = 0.0;  // of its noise; 0: exact
};

class MultiplicativeWeights {
 public:
  struct Part {  // a group of attributes with its own distribution; usually one with all of them
    Clique group;
    Support support;  // rows over domain_of_group
  };
  // Each marginal of the workload lies within one group. n: what A sums to, in counts.
  MultiplicativeWeights(const Domain& domain, const Workload& workload, std::vector<Part> parts,
                        double n, Threads threads);

  double n() const { return n_; }

  // Leaves only cells to choose where A is at least `count` now, and of each marginal its largest;
  // never one where A is nothing, which no update could move.
  void choose_among_larger(double count);

  // |q(D) - q(A)| of every cell q of the workload, as a formula for the gate.
  std::span<const CellScores> errors() const { return errors_; }
  LinearQuery query(const CellChoice& cell) const;
  double answer(const CellChoice& cell) const;  // q(A), as of the last round's end

  void treat_repeats(Repeats repeats) { repeats_ = repeats; }
  // Answers are brought to [0, n] before they are used; not so in MWEM+PUB's box.
  void clip_answers(bool clip) { clip_ = clip; }

  // Keeps a measurement of query(cell); the index of the cell among measured().
  std::size_t remember(const CellChoice& cell, const Measurement& measurement);
  std::span<const MeasuredCell> measured() const { return measured_; }
  double clipped(std::size_t i) const;  // the measured answer a_i, brought to [0, n] if it is to be
  double count(std::size_t i) const;    // q_i(A) now
  double error(std::size_t i) const { return clipped(i) - count(i); }

  // A(x) proportional to A(x) exp(exponent) where q_i(x) = 1.
  void reweight(std::size_t i, double exponent);
  // The papers' update: the exponent is step * (a_i - q_i(A)), both as shares of n.
  void update(std::size_t i, double step) { reweight(i, step * error(i) / n_); }

  // Brings errors() up to date, and adds A to the average if it is to count.
  void end_round(bool in_average = true);

  std::unique_ptr<Model> last() const;
  std::unique_ptr<Model> average() const;  // the last if no round has ended

 private:
  struct Group {
    Clique attributes;
    SupportHistogram histogram;
    WorkloadAnswers answers;
  };
  struct Rows {  // where a measured query is 1
    std::size_t group = 0;
    Cell cell;
    std::vector<std::uint32_t> rows;
    bool kept = false;
  };
  const std::vector<std::uint32_t>& rows_of(std::size_t i, std::vector<std::uint32_t>& room) const;
  std::unique_ptr<Model> model(bool average) const;
  void refresh_errors();
  void leave_out(const CellChoice& cell);  // of those to choose from

  Domain domain_;
  double n_;
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;              // of each marginal
  std::vector<std::size_t> place_of_;              // of each marginal in its group's answers
  std::vector<CellScores> errors_;                 // borrow from groups_
  std::vector<std::vector<std::uint32_t>> among_;  // cells of each marginal to choose from
  std::vector<MeasuredCell> measured_;
  std::vector<Rows> rows_;  // of each measured cell
  std::size_t rows_kept_ = 0;
  bool averaged_ = false;
  Repeats repeats_ = Repeats::Average;
  bool clip_ = true;
};

// Section 4.3 of the MW-Pub paper: earlier measurements are applied once more, in random order,
// those whose error is at least half of the newest one's.
enum class Replay {
  None,
  Fresh,  // each with the answer that A gives then
  Stale,  // all with the answers before the round's update, the newest once more: the authors' code
  Largest  // likewise, those with at least half of the largest error, which is applied once more in
           // place of the newest: their later code
};
void update_and_replay(MultiplicativeWeights& A, std::size_t newest, double step, Replay replay,
                       Rng& rng);

// Refuses a support too large for a limit in MB, before it is made. The instead: what to do.
// Bytes: the support, the answers, and inside the gate counts and scores of all cells.
double multiplicative_weights_bytes(const Domain& domain, const Workload& workload, double rows);
Effort weighing_effort(const Problem& problem, double rows);
void check_model_memory(const std::string& mechanism, const Domain& domain,
                        const Workload& workload, double rows, int max_model_mb,
                        const std::string& instead);

// A warning when measured answers are far from what A says in the end: no weights on these rows
// fit.
std::vector<Warning> misfit_warnings(const MultiplicativeWeights& A);

}  // namespace tandem
