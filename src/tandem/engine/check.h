// SPDX-License-Identifier: Apache-2.0
#pragma once
// `tandem check`: private and public files held against a schema, for the steward alone. INTERNAL:
// what it finds is private where a file is, and is never part of a release.

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/base/parallel.h"
#include "tandem/engine/fit/findings.h"
#include "tandem/engine/reading.h"
#include "tandem/engine/settings.h"

namespace tandem {

struct CheckRequest {
  std::vector<std::string> private_sources;
  std::vector<std::string> public_sources;
  std::string schema;
  FormatSettings text;  // of private files
  std::string person;   // the column that names people, in private files
  std::int64_t rows_per_person = 1;
  Threads threads;
  Reading reading;
};

struct FileCheck {
  bool is_private = true;
  FileFit fit;
  std::vector<Finding> findings;  // the worst first
  bool wrong() const;
};

struct CheckResult {
  std::string schema;
  std::vector<std::string> columns;  // of the schema
  std::vector<std::string> rules;
  std::vector<FileCheck> files;
  std::vector<std::string> notes;  // sentences for standard error
  bool wrong() const;
};

// Remembers beside the schema that its private files were checked.
CheckResult check_files(const CheckRequest& request);

Document to_document(const CheckResult& result);  // docs/formats.md, "check"
std::string to_text(const CheckResult& result);

}  // namespace tandem
