// SPDX-License-Identifier: Apache-2.0
#pragma once
// `tandem synth`: from settings to a release folder.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/parallel.h"
#include "tandem/engine/execute.h"
#include "tandem/engine/preparation.h"
#include "tandem/engine/release/release_text.h"
#include "tandem/engine/settings.h"
#include "tandem/mechanism/registry.h"
#include "tandem/privacy/door.h"

namespace tandem {

struct SynthRun {
  SynthSettings settings;
  // Private rows that are handed over; the settings' private source is then their name. None: they
  // lie in the files that it names. What is guaranteed of them is said of records as quoted: a row
  // is a row.
  std::optional<Door> door = {};
  bool force = false;         // replace a former release, discard an interrupted one
  bool resume = false;        // go on with an interrupted release
  std::string group_by = {};  // of a plan: columns, with commas, that part rows into groups
  Threads threads;
  FindMechanism find = find_mechanism;  // or one's own
  Note note;
  OnProgress progress;
  Reading reading;
};

struct SynthSummary {
  std::string out;
  bool was_whole = false;  // resumed, and found finished
  Document release;        // the content of release.json
  std::string budget{};    // what the ledger has left, in words; empty without one
};

// The settings of the interrupted release in `out`, for a call that says only --resume.
SynthSettings settings_to_resume(const std::string& out, const SynthSettings& given,
                                 const std::function<bool(std::string_view)>& keep);

// Makes the release. Whatever can be known to be wrong is found first; then, with a ledger, the
// whole budget is reserved before private data is opened. A run that fails before anything is drawn
// gives it back and leaves nothing. One that fails later by its disk, source or memory can be
// resumed; one that would fail again settles what it spent and leaves nothing.
SynthSummary synthesize(const SynthRun& asked);

// What synthesize() would refuse of a new run, without a look at its rows and without a trace:
// settings, a folder that is taken, a ledger that does not take it.
void foresee(const SynthRun& run);

// What it would do, its cost and its memory.
struct SynthPlan {
  std::string mechanism;
  std::string summary;  // of the mechanism
  Document guarantee;   // as in release.json
  Plan steps;
  Effort effort;
  std::vector<Warning> warnings;
  double bytes = 0.0;  // of the whole run
  double most_bytes = 0.0;
  struct LedgerState {
    std::string path;
    double spent = 0.0;  // or reserved, as epsilon
    double epsilon = 0.0;
    std::string refusal;  // why it would refuse this run; empty: it would not
  };
  std::optional<LedgerState> ledger;
  // What the mechanism for groups of rows would do instead, where a steward names some.
  struct Groups {
    std::string columns;
    Plan steps;
    Effort effort;
    double bytes = 0.0;
    std::string refusal{};  // why it can't; empty: it can
  };
  std::optional<Groups> groups;
};

// Reads no private data and spends nothing. Where groups are named and the settings suit the
// mechanism for groups alone, it is that mechanism's plan, with a warning that says so.
SynthPlan plan_synthesis(const SynthRun& asked);
// The least epsilon for which the plan expects this rmse of shares, of as many rows as the settings
// state. An epsilon in the settings is the most that it may be. UsageError where there is none.
double epsilon_for_error(const SynthRun& asked, double target);
std::string to_text(const SynthPlan& plan);
Document to_document(const SynthPlan& plan);

std::string to_text(const SynthSummary& summary, Notes notes = Notes::Shown);

// What a person types to go on with an interrupted release.
std::string resuming_command(const std::string& out, const std::string& make = "rows");

}  // namespace tandem
