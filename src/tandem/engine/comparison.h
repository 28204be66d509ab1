// SPDX-License-Identifier: Apache-2.0
#pragma once
// `tandem compare`: mechanisms x epsilons x seeds on one data set. INTERNAL: seeded runs, judged
// against the private table; nothing of it is for publication unless that table is public.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/parallel.h"
#include "tandem/engine/comparison_yardsticks.h"
#include "tandem/engine/preparation.h"
#include "tandem/mechanism/registry.h"

namespace tandem {

struct ComparisonRequest {
  std::string private_source;
  std::vector<std::string> public_sources;
  std::string schema;
  FormatSettings text;                  // of the private file
  std::vector<std::string> mechanisms;  // NAME[:KEY=VALUE...]
  std::vector<std::string> parameters;  // KEY=VALUE, for every mechanism that has such an option
  std::vector<double> epsilons;
  double delta = 1e-9;
  std::string neighbors = "replace-one";
  std::int64_t rows_per_person = 1;
  std::string workload = "all-3way";
  std::int64_t seeds = 5;
  std::string metric = "avg";      // of the printed tables and the figure: avg, max or mean
  std::string title;               // of the figure; a plain one if empty
  bool private_as_public = false;  // as SynthSettings has it
  bool published = false;          // the table is public knowledge: nothing is stamped INTERNAL
  std::string out = "comparison";
  bool resume = false;  // keep the results that are there, and add what is missing
  bool force = false;   // replace a former comparison
  Threads threads;      // so many runs at once, each on one
  FindMechanism find = find_mechanism;
  Note note;
  std::function<void(std::size_t done, std::size_t in_all)> progress;
};

// One run: a row of results.csv.
struct ComparisonResult {
  std::string mechanism;
  std::string parameters;  // KEY=VALUE KEY=VALUE, those that were given
  double epsilon = 0.0;
  std::int64_t seed = 0;
  WorkloadErrors model;  // of the released model's own answers
  WorkloadErrors rows;   // of the rows drawn from it
  double seconds = 0.0;
  double peak_mb = 0.0;
};

struct ComparisonOutcome {
  std::vector<ComparisonResult> results;  // in the order of mechanisms, epsilons and seeds
  std::vector<std::string> failures;      // "aim at epsilon 1, seed 3: ..."
  ComparisonYardsticks yardsticks;
  std::uint64_t rows = 0;  // of the private table
  std::size_t columns = 0;
};

inline constexpr const char* kInternalStamp =
    "INTERNAL: computed from the private table; not for publication";

// Runs what is missing and writes results.csv line by line, so that an interrupted comparison can
// be resumed; then yardsticks.csv and the figure. UsageError for a request that makes no sense,
// before anything runs.
ComparisonOutcome compare(const ComparisonRequest& request);

// Means over seeds with their standard errors: a row for each mechanism, a column for each epsilon.
std::string to_text(const ComparisonRequest& request, const ComparisonOutcome& comparison);
Document to_document(const ComparisonRequest& request, const ComparisonOutcome& comparison);

}  // namespace tandem
