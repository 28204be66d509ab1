// SPDX-License-Identifier: Apache-2.0
#pragma once
// From what a user writes for SRC to a table: the one place that knows which kinds there are.

#include <memory>
#include <optional>
#include <string>

#include "tandem/data/csv.h"
#include "tandem/data/pairs.h"
#include "tandem/source/data_source.h"
#include "tandem/source/source_files.h"

namespace tandem {

// A source as messages quote it: of an address, neither who connects, nor passwords, nor options.
std::string shown_source(const std::string& source);

// UsageError for a source that is no table this version can read.
void require_file(const std::string& source);

// What a reader of CSV text takes for a source: nothing for such a file; for Parquet the text of
// its table and the format of that, in which a private row is a record. `key`: a column beside the
// schema's; without a schema all columns are taken. UsageError as require_file.
struct TextOfSource {
  OpenBytes open = {};
  std::optional<TextFormat> format = {};
};
TextOfSource text_of(const std::string& source, const Schema* schema, RowPolicy policy,
                     const Threads& threads, const std::string& key = {});

// Reads a table as it stands, from CSV, plain or gzip, or Parquet. UsageError for other kinds,
// naming the known ones.
CsvTable read_table(const std::string& source, const Schema& schema, const CsvOptions& options);
// The same with rows that break a rule of the schema mended.
CsvTable load_table(const std::string& source, const Schema& schema, const CsvOptions& options);

// scan_csv of a PUBLIC table, of CSV or Parquet.
void scan_table(const std::string& source, const Schema* schema, const CsvScanOptions& options,
                const OnCsvHeader& on_header, const OnCsvRow& on_row);

// A list of who has what, `pairs:FILE`, is loaded as bits. SchemaError for a schema with rules,
// which lists of pairs don't know.
BitTable load_pairs(const std::string& source, const Schema& schema, const PairsOptions& options);
std::unique_ptr<DataSource> open_pairs(const std::string& source, const Schema& schema,
                                       const PairsOptions& options, const Threads& threads);

}  // namespace tandem
