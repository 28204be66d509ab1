// SPDX-License-Identifier: Apache-2.0
#pragma once
// A whole problem made from a seed: a private table, its schema, sometimes public tables and a
// workload file, and the settings of a release. The same seed makes the same bytes on every
// machine.

#include <cstdint>
#include <string>

#include "tandem/engine/settings.h"

namespace tandem::fuzz {

enum class Kind {
  Small,  // 1 to 8 columns, every mechanism, everything that can be odd about settings
  Wide    // 20 to 60 columns, the mechanisms with graphical models, all pairs
};

struct FuzzProblem {
  SynthSettings settings;  // without `out`, `ledger` and `seed`
  // No plan can know: the private table has no rows, where their number is public.
  bool without_rows = false;
};

// Writes the problem's files into `folder`, which is there and empty; its settings.json is a file
// for `tandem synth --config`.
FuzzProblem make_problem(Kind kind, std::uint64_t seed, const std::string& folder);

}  // namespace tandem::fuzz
