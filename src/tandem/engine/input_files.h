// SPDX-License-Identifier: Apache-2.0
#pragma once
// The public files of a run, as a release names them: by base name and digest, never by a path.

#include <span>
#include <string>
#include <vector>

#include "tandem/base/error.h"

namespace tandem {

// The base names of files, told apart by a number where two are alike: "pub.csv", "pub.csv (2)".
std::vector<std::string> display_names(std::span<const std::string> sources);

// The base name of a workload's file; other workloads as they are written.
std::string display_workload(const std::string& workload);

// SHA-256 of each file's bytes; of a source of several files, of the lines of their digests.
// SourceError for a file that can't be read.
std::vector<std::string> file_digests(std::span<const std::string> sources);

// Private rows are never public by a slip.
//
// UsageError where a public file, of the setting that is named, is the private one: by any name, or
// because its whole text is the same (a copy, packed or not), since its rows would be released as
// they are. Privacy: that the texts are the same is the one thing that a refusal may tell of
// private rows, and it is told to whoever supplied all of them (docs/privacy.md).
void refuse_private_as_public(const std::string& private_source,
                              std::span<const std::string> public_sources,
                              const std::string& setting = TANDEM_SETTING("public"));
// UsageError where a schema was drafted from the private file, by what it remembers of its origin
// (draft/drafted_from.h): the values and bounds that it names would be private.
void refuse_schema_of_private(const std::string& private_source,
                              std::span<const std::string> origins);

}  // namespace tandem
