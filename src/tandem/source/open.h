// SPDX-License-Identifier: Apache-2.0
#pragma once
// From what a user writes for SRC to a table: the one place that knows which kinds there are.

#include <string>

#include "tandem/data/csv.h"

namespace tandem {

// Loads a table from `.csv` or `.csv.gz`. UsageError for other kinds, naming the known ones.
CsvTable load_table(const std::string& source, const Schema& schema, const CsvOptions& options);

// Passes over a PUBLIC table as text, before there is a schema. UsageError as above.
void scan_table(const std::string& source, const CsvScanOptions& options,
                const OnCsvHeader& on_header, const OnCsvRow& on_row);

}  // namespace tandem
