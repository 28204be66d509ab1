// SPDX-License-Identifier: Apache-2.0
#pragma once
// The documents of a release folder; docs/formats.md describes them.

#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/engine/preparation.h"
#include "tandem/engine/release/run_record.h"
#include "tandem/mechanism/release.h"
#include "tandem/privacy/curator.h"

namespace tandem {

inline constexpr int kReleaseFormat = 2;        // that is written
inline constexpr int kOldestReleaseFormat = 1;  // that can be read
inline constexpr const char* kRowsFile = "synthetic.csv";
inline constexpr const char* kMeasurementsFile = "measurements.json";
inline constexpr const char* kModelFile = "model.bin";
inline constexpr const char* kAnswersFile = "answers.csv";

// SHA-256 of the files beside release.json.
struct FileDigests {
  std::string measurements;
  std::string model;  // empty: the model's kind can't be kept in a file
};

// What is known of a release beside what is in it.
struct ReleaseFacts {
  std::string id;   // 32 hexadecimal digits
  std::string day;  // UTC, "2026-01-31"
  FileDigests files;
};

// Whom the gate protects and by how much; the settings say for which epsilon and delta that is.
Document guarantee_document(const SynthSettings& settings, const Curator& gate, Records records);
Document release_document(const SynthSettings& settings, const PreparedRun& run,
                          const Curator& curator, const Release& release,
                          const ReleaseFacts& facts);

// The warnings of a release.json of any format that can be read.
std::vector<Warning> warnings_in(const Document& release);
Document warnings_document(const std::vector<Warning>& warnings);

// "query,estimate,stddev,ci95_low,ci95_high", in rows.
std::string answers_text(const std::vector<Answer>& answers);

}  // namespace tandem
