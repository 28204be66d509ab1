// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a release folder remembers of its run until it is whole, so that it can be resumed.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/engine/settings.h"

namespace tandem {

// A file that an option of the mechanism names.
struct PinnedFile {
  std::string option;
  std::string path;  // as it was written
  std::string digest;
};

// What a run reads, public files by digest. A run that goes on must find the same, or
// its release would be of two different problems.
struct PinnedInputs {
  std::string schema;
  std::string workload;
  std::vector<std::string> public_files;
  std::vector<PinnedFile> parameter_files{};
  // Size and time of the private files, which this folder alone knows, while the run goes on. Rows
  // from memory, of queries and of clusters can't be pinned.
  std::vector<std::string> private_files{};
};

struct RunRecord {
  std::string id;         // in the ledger
  std::uint64_t rng = 0;  // seed of the post-processing: a run that goes on asks the same again
  PinnedInputs inputs;
  SynthSettings settings;
};

Document to_document(const RunRecord& record);

// UsageError for a record that is damaged or of another version. Settings that `keep` holds back
// stay as they are in `settings`.
RunRecord read_record(const Document& document, const SynthSettings& settings,
                      const std::function<bool(std::string_view)>& keep);

// UsageError when settings that shape the release, or files it is made from, differ from the
// recorded ones. Where the folder is and how much memory there is may change.
void check_same_run(const RunRecord& recorded, const SynthSettings& settings,
                    const PinnedInputs& inputs);

}  // namespace tandem
