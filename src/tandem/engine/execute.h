// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run: a mechanism spends a budget on private data and gives a release. Where the data is, where
// the release goes and who pays is the caller's affair: folders with a ledger (engine/synth.h),
// tables in memory (engine/table_run.h), comparisons.

#include <cstdint>
#include <functional>
#include <memory>

#include "tandem/base/parallel.h"
#include "tandem/data/rules.h"
#include "tandem/engine/preparation.h"
#include "tandem/mechanism/release.h"
#include "tandem/privacy/curator.h"
#include "tandem/privacy/entropy.h"
#include "tandem/privacy/private_data.h"
#include "tandem/privacy/transcript.h"

namespace tandem {

// How far a run is.
struct RunProgress {
  enum class Stage { Measuring, MakingRows, Writing };
  Stage stage = Stage::Measuring;
  std::size_t step = 0;  // of the gate, from 1
  double share = 0.0;    // of the budget spent: public
};
using OnProgress = std::function<void(const RunProgress& progress)>;

// What is to be done. All of it is public.
struct Task {
  const RunParts& parts;
  const Problem& problem;
  RowRules rules{};            // that rows must keep
  std::int64_t rows = 0;       // to make; 0: as many as the table has or is estimated to have
  std::int64_t most_rows = 0;  // where no number is asked for; 0: as many as memory holds
  double memory = 0.0;         // bytes that rows may take
  bool pairs = false;          // rows are wanted as repeated records, for a list of pairs
  bool answers = false;        // wanted in the place of rows, from whatever the mechanism makes
};

// With what. REQUIRES: neither entropy nor transcript is null.
struct Means {
  std::unique_ptr<EntropySource> entropy;
  std::unique_ptr<Transcript> transcript;
  std::uint64_t rng = 0;  // seed of the post-processing
  Threads threads;        // and who may stop the run
  OnProgress progress{};
};

// A run whose gate can be looked at when it failed.
class Execution {
 public:
  // REQUIRES: what the task refers to outlives the run.
  Execution(PrivateData data, const Task& task, Means means);

  // The release: a model with rows drawn from it, answers, or both; and what its reader should
  // know.
  Release run();

  const Curator& gate() const { return gate_; }
  Rng& rng() { return rng_; }  // for what is left to draw, such as values inside ranges

 private:
  void make_rows(Release& release);

  Task task_;
  OnProgress progress_;
  Threads threads_;
  Curator gate_;
  Rng rng_;
};

// With a seed from 0 on it can be repeated, and nothing is private.
std::unique_ptr<EntropySource> entropy_of(std::int64_t seed);

Release execute(PrivateData data, const Task& task, Means means);

}  // namespace tandem
