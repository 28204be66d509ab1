// SPDX-License-Identifier: Apache-2.0
#pragma once
// The documents of a release folder; docs/formats.md describes them.

#include <string>

#include "tandem/base/document.h"
#include "tandem/engine/preparation.h"
#include "tandem/engine/release/run_record.h"
#include "tandem/mechanism/release.h"
#include "tandem/privacy/curator.h"

namespace tandem {

inline constexpr int kReleaseFormat = 1;
inline constexpr const char* kRowsFile = "synthetic.csv";
inline constexpr const char* kMeasurementsFile = "measurements.json";
inline constexpr const char* kModelFile = "model.bin";

// SHA-256 of the files beside release.json.
struct FileDigests {
  std::string measurements;
  std::string model;  // empty: the model's kind can't be kept in a file
};

// What is known of a release beside what is in it.
struct ReleaseFacts {
  std::string id;   // 32 hexadecimal digits
  std::string day;  // UTC, "2026-01-31"
  PinnedInputs inputs;
  FileDigests files;
};

Document release_document(const SynthSettings& settings, const Prepared& prepared,
                          const Curator& curator, const Release& release, std::size_t rows,
                          const ReleaseFacts& facts);

}  // namespace tandem
