// SPDX-License-Identifier: Apache-2.0
#pragma once
// From what a user writes for SRC to a table: the one place that knows which kinds there are.

#include <memory>
#include <string>

#include "tandem/data/csv.h"
#include "tandem/data/pairs.h"
#include "tandem/source/data_source.h"

namespace tandem {

// UsageError for a source that is no file this version can read.
void require_file(const std::string& source);

// Loads a table, rows that break a rule of the schema mended, from `.csv` or `.csv.gz`. UsageError
// for other kinds, naming the known ones.
CsvTable load_table(const std::string& source, const Schema& schema, const CsvOptions& options);

// Whether a source is `pairs:FILE`, a list of who has what; it is loaded as bits. SchemaError for a
// schema with rules, which lists of pairs don't know.
bool is_pairs(const std::string& source);
BitTable load_pairs(const std::string& source, const Schema& schema, const PairsOptions& options);
std::unique_ptr<DataSource> open_pairs(const std::string& source, const Schema& schema,
                                       const PairsOptions& options, const Threads& threads);

// The file that a source is in: what follows 'pairs:', or the source itself.
std::string file_of(const std::string& source);

}  // namespace tandem
