// SPDX-License-Identifier: Apache-2.0
#pragma once
// `tandem refit`: another release from an existing one. Post-processing: the guarantee stays as it
// is, no private data is read and no ledger is charged.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/parallel.h"
#include "tandem/engine/preparation.h"
#include "tandem/engine/release/release_text.h"

namespace tandem {

struct RefitRequest {
  std::string release;      // the folder to start from
  std::string out;          // the folder to make
  std::string where;        // a condition on the rows; empty: none
  std::int64_t rows = 0;    // 0: as many as the release has
  double max_model_mb = 0;  // above 0: fit a graphical model of at most this size anew
  std::int64_t seed = -1;   // of the rows; negative: none. The guarantee doesn't depend on it.
  std::vector<std::string> public_sources;  // for columns that are written as public data lies
  std::string memory_limit;
  bool force = false;  // replace a former release
  Threads threads;
  Note note;
  std::function<void(const std::string& doing)> stage;  // for the person who waits
};

struct RefitSummary {
  std::string out;
  Document release;  // the content of release.json
};

// UsageError for a release that can't be read, or a condition that no row can fulfil.
RefitSummary refit(const RefitRequest& request);

std::string to_text(const RefitSummary& summary, Notes notes = Notes::Shown);

}  // namespace tandem
