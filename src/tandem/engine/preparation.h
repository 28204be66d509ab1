// SPDX-License-Identifier: Apache-2.0
#pragma once
// From settings to the parts of a run: schema, mechanism, budget, workload, public data. All
// public.

#include <functional>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/csv.h"
#include "tandem/data/schema.h"
#include "tandem/engine/reading.h"
#include "tandem/engine/settings.h"
#include "tandem/mechanism/mechanism.h"
#include "tandem/mechanism/problem.h"
#include "tandem/privacy/filter.h"
#include "tandem/privacy/privacy_unit.h"

namespace tandem {

inline constexpr std::int64_t kMostRows = 1'000'000'000;

// What 'auto' means: the best there is for a run with or without public data, with a pure guarantee
// or with a delta.
std::string automatic_mechanism(bool with_public_data, bool pure);

using FindMechanism = std::function<Mechanism(const std::string& name)>;
using Note = std::function<void(const std::string& sentence)>;  // for the person at the terminal

struct Prepared {
  Schema schema;
  std::string schema_text;  // of its file, or as drafted
  std::string schema_digest;
  Mechanism mechanism;
  Parameters parameters;
  PrivacyUnit unit;
  Filter filter;
  Workload workload;
};

// UsageError for settings that are missing, out of range or don't go together.
Prepared prepare(const SynthSettings& settings, const FindMechanism& find, Threads threads,
                 const Note& note);

PublicData load_public(const SynthSettings& settings, const Schema& schema, Threads threads,
                       const Note& note, const Reading& reading = {});

// The schema with every column that asks for it drawing inside its ranges as public data lies
// there. The files are read for such columns alone.
Schema learn_inside(const Schema& schema, const std::vector<std::string>& public_sources);

// What a mechanism is asked, with what the schema's rules exclude.
Problem problem_of(const Prepared& prepared, PublicData public_data, double rows_expected = 0.0);

// Rows of a table from above, by the size of its file: a value takes at least one character, and
// one between it and the next. 0 where there is no file.
double most_rows(const std::string& path, const Schema& schema);

// Rows of the private table by the size of its file: as long as public rows are, or from above.
double expected_rows(const SynthSettings& settings, const Schema& schema, const PublicData& data);

// An estimate from above, from sizes of files and of the schema: tables as codes while they are
// read and while rows are written, the marginals measured, and what the mechanism adds.
double predicted_memory(const SynthSettings& settings, const Schema& schema,
                        double of_mechanism = 0.0);
double memory_limit(const SynthSettings& settings);
void check_memory(const SynthSettings& settings, const Schema& schema,
                  double of_mechanism = 0.0);  // UsageError beyond the limit

// Bytes that the mechanism may need for this problem, or fitting rows to its model when it is done,
// beside the tables.
double memory_of_mechanism(const SynthSettings& settings, const Prepared& prepared,
                           const Problem& problem);

}  // namespace tandem
