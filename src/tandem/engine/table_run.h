// SPDX-License-Identifier: Apache-2.0
#pragma once
// A release from a table in memory: no file, no folder and no ledger.

#include <vector>

#include "tandem/engine/execute.h"
#include "tandem/mechanism/registry.h"

namespace tandem {

struct TableRun {
  SynthSettings settings;  // epsilon, delta, mechanism, workload and the like; no files
  PublicData public_data{};
  std::vector<Rule> rules{};  // what cannot occur
  std::vector<Order> orders{};
  Threads threads = Threads::all();
  FindMechanism find = find_mechanism;
  OnProgress progress{};
};

// Privacy: the guarantee is that of the settings, for the rows of the table; whoever calls twice
// pays twice and keeps account of it. UsageError for settings that are out of range or don't go
// together, before anything is drawn. With a seed nothing is private.
Release release_table(Table table, const TableRun& run);

}  // namespace tandem
