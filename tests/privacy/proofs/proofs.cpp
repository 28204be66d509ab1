// SPDX-License-Identifier: Apache-2.0
#include "privacy/proofs/proofs.h"

#include <array>

namespace tandem::proofs {

std::span<const Proof> all_proofs() {
  static constexpr std::array<Proof, 38> kProofs = {{
      {"refusals_change_nothing", refusals_change_nothing},
      {"spending_comes_first", spending_comes_first},
      {"people_keep_their_share_of_rows", people_keep_their_share_of_rows},
      {"domain_is_the_schemas", domain_is_the_schemas},
      {"opened_tables_keep_their_unit", opened_tables_keep_their_unit},
      {"runs_settle_what_they_charged", runs_settle_what_they_charged},
      {"ledgers_take_whole_runs", ledgers_take_whole_runs},
      {"ledgers_keep_one_kind_of_record", ledgers_keep_one_kind_of_record},
      {"records_are_read_by_themselves", records_are_read_by_themselves},
      {"broken_quotes_stop", broken_quotes_stop},
      {"neighbours_ask_the_same", neighbours_ask_the_same},
      {"inputs_stay_within_declarations", inputs_stay_within_declarations},
      {"recorded_steps_are_never_redrawn", recorded_steps_are_never_redrawn},
      {"changed_requests_are_refused", changed_requests_are_refused},
      {"changed_scores_are_refused", changed_scores_are_refused},
      {"strategies_move_as_declared", strategies_move_as_declared},
      {"products_move_as_declared", products_move_as_declared},
      {"stacks_move_as_declared", stacks_move_as_declared},
      {"scores_move_as_declared", scores_move_as_declared},
      {"cell_scores_move_as_declared", cell_scores_move_as_declared},
      {"conjunctions_move_as_declared", conjunctions_move_as_declared},
      {"few_rows_move_their_share", few_rows_move_their_share},
      {"rates_are_rounded_down", rates_are_rounded_down},
      {"measurements_keep_their_price", measurements_keep_their_price},
      {"stacks_keep_their_price", stacks_keep_their_price},
      {"noisy_scores_keep_their_price", noisy_scores_keep_their_price},
      {"selections_keep_their_price", selections_keep_their_price},
      {"repeated_draws_keep_their_price", repeated_draws_keep_their_price},
      {"conjunction_draws_keep_their_price", conjunction_draws_keep_their_price},
      {"conjunction_counts_keep_their_price", conjunction_counts_keep_their_price},
      {"groups_keep_their_price", groups_keep_their_price},
      {"whole_run_keeps_its_total", whole_run_keeps_its_total},
      {"measurements_follow_their_law", measurements_follow_their_law},
      {"noisy_scores_follow_their_law", noisy_scores_follow_their_law},
      {"selections_follow_their_law", selections_follow_their_law},
      {"repeated_draws_follow_their_law", repeated_draws_follow_their_law},
      {"conjunctions_follow_their_law", conjunctions_follow_their_law},
      {"groups_follow_their_law", groups_follow_their_law},
  }};
  return kProofs;
}

}  // namespace tandem::proofs
