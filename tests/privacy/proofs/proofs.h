// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is proved of the gate: each function returns the first violation it finds, in words.
//
// They run twice: in the privacy tests, where none may find anything, and in the mutant tests,
// where each planted fault must be found by one of them. Everything is seeded. Exact proofs have no
// false alarms; those that compare draws with a law ask for p-values below test::kAlarm, fewer than
// 300 of them, so that a correct gate would fail for one choice of seeds in three million.

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tandem::proofs {

using Violation = std::optional<std::string>;

// ---- Tiny worlds: |X| <= 4, n <= 3, all tables, both relations, 1 to 3 rows a person -----------

// Divergences between neighbours stay within what the filter was charged: log-ratios within
// epsilon, Renyi divergences of orders 1.1 to 64 within alpha * rho.
Violation measurements_keep_their_price();
Violation stacks_keep_their_price();
Violation noisy_scores_keep_their_price();
Violation selections_keep_their_price();
Violation repeated_draws_keep_their_price();
Violation conjunction_draws_keep_their_price();
Violation conjunction_counts_keep_their_price();
Violation groups_keep_their_price();
Violation whole_run_keeps_its_total();

// What the curator draws follows the law that the proofs above judge.
Violation measurements_follow_their_law();
Violation noisy_scores_follow_their_law();
Violation selections_follow_their_law();
Violation repeated_draws_follow_their_law();
Violation conjunctions_follow_their_law();
Violation groups_follow_their_law();

// ---- The falsifier: search for neighbours further apart than declared ---------------------------

// Every shape and combination of scores, on the integers of the grid: reached, never exceeded.
Violation scores_move_as_declared();
Violation cell_scores_move_as_declared();
// Random strategies: L1, squared L2 and largest entry.
Violation strategies_move_as_declared();
// Products of small maps, and several queries measured together.
Violation products_move_as_declared();
Violation stacks_move_as_declared();
// Scores of conjunctions, and counts of them with noise.
Violation conjunctions_move_as_declared();
// k of a person's m rows move a score by k/m of the declaration at most: what groups rest on.
Violation few_rows_move_their_share();
// Twice the sensitivity times the rate of a selection is at most its epsilon, in exact fractions.
Violation rates_are_rounded_down();

// ---- Record and replay --------------------------------------------------------------------------

Violation neighbours_ask_the_same();           // frozen draws: same requests, same charges
Violation inputs_stay_within_declarations();   // the same noise on neighbours: distance of inputs
Violation recorded_steps_are_never_redrawn();  // cut anywhere, a run goes on where it was
Violation changed_requests_are_refused();
Violation changed_scores_are_refused();  // by another kind of error, or among other cells

// ---- The gate as a whole ------------------------------------------------------------------------

Violation spending_comes_first();
Violation refusals_change_nothing();
Violation people_keep_their_share_of_rows();
Violation domain_is_the_schemas();
Violation opened_tables_keep_their_unit();  // and named people may be absent
Violation runs_settle_what_they_charged();  // in both currencies, also from the transcript alone
Violation ledgers_take_whole_runs();        // all steps, and in a mix what was reserved
Violation ledgers_keep_one_kind_of_record();

// ---- Records of private files -------------------------------------------------------------------

Violation records_are_read_by_themselves();  // lines of any bytes; quoted ones if well-formed
Violation broken_quotes_stop();              // within 64 kB and 1,000 lines, and leave no trace

struct Proof {
  const char* name;
  Violation (*find)();
};
std::span<const Proof> all_proofs();

}  // namespace tandem::proofs
