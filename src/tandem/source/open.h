// SPDX-License-Identifier: Apache-2.0
#pragma once
// From what a user writes for SRC to a table: the one place that knows which kinds there are.

#include <string>

#include "tandem/data/csv.h"

namespace tandem {

// UsageError for a source that is no file this version can read.
void require_file(const std::string& source);

// Loads a table, rows that break a rule of the schema mended, from `.csv` or `.csv.gz`. UsageError
// for other kinds, naming the known ones.
CsvTable load_table(const std::string& source, const Schema& schema, const CsvOptions& options);

}  // namespace tandem
