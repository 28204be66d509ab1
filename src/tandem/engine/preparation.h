// SPDX-License-Identifier: Apache-2.0
#pragma once
// From settings to a run that is ready to start. All of it is public: whatever can be wrong with a
// run is found here, before private data is opened or a ledger hears of it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/schema.h"
#include "tandem/engine/memory.h"
#include "tandem/engine/public_files.h"
#include "tandem/engine/reading.h"
#include "tandem/engine/release/run_record.h"
#include "tandem/engine/settings.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/problem.h"
#include "tandem/privacy/door.h"
#include "tandem/privacy/filter.h"
#include "tandem/privacy/privacy_unit.h"

namespace tandem {

inline constexpr std::int64_t kMostRows = 1'000'000'000;

// What 'auto' means: the best there is for a run with or without public data, with a pure guarantee
// or with a delta.
std::string automatic_mechanism(bool with_public_data, bool pure);

using FindMechanism = std::function<Mechanism(const std::string& name)>;

// What settings say of a run, wherever its tables are.
struct RunParts {
  Mechanism mechanism;
  Parameters parameters;
  PrivacyUnit unit;
  Filter filter;
  Workload workload{};  // is still to be read: it needs the columns
};

// UsageError for settings that are out of range or don't go together.
RunParts parts_of(const SynthSettings& settings, const FindMechanism& find, bool with_public_data);

// Of conjunctions nothing is certified, so what was held back for that becomes spendable. Once the
// workload is read.
void release_what_certifies(RunParts& parts);

// The same for tables in files.
struct Prepared : RunParts {
  Schema schema;
  std::string schema_text;  // of its file, or as drafted; without the files it was drafted from
  std::string schema_digest;
};

// UsageError for settings that are missing, out of range or don't go together.
Prepared prepare(const SynthSettings& settings, const FindMechanism& find, const Threads& threads,
                 const Note& note);

// What may be known of the private table, given whom the run protects.
KnownTable known_table(const Door& door, const SynthSettings& settings, const PrivacyUnit& unit);

// What a mechanism is asked, with what the schema's rules exclude.
Problem problem_of(const Prepared& prepared, PublicData public_data);

// A run of which everything public is at hand, and nothing is known to be wrong.
struct PreparedRun {
  Prepared parts;
  Problem problem;
  Schema writing;  // how rows are written: inside ranges as public data lies there
  PinnedInputs inputs;
  KnownTable table;            // what may be known of the private one
  Effort effort;               // of the mechanism
  double expected_rows = 0.0;  // for predictions alone; 0: unknown
  double predicted_bytes = 0.0;
};

struct HowToPrepare {
  FindMechanism find;
  Threads threads;
  Note note{};
  Reading reading{};
};

// UsageError for whatever can be known to be wrong, too little memory among it; the mechanism has
// taken its first steps on a made-up row.
PreparedRun prepare_run(const SynthSettings& settings, const Door& door, const HowToPrepare& how);

// UsageError where so many rows are too few for the mechanism, whatever it does.
void require_rows_enough(const PreparedRun& run, std::optional<double> most_rows);

}  // namespace tandem
