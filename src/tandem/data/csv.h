// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading and writing tables as CSV (RFC 4180), plain or gzip.
//
// A file is read in blocks, each parsed into codes on its own thread: memory is the coded table,
// one column more while columns are joined, and a few blocks. docs/decisions/0002-csv.md says why
// this reader is our own.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/schema.h"
#include "tandem/data/table.h"

namespace tandem {

inline constexpr std::size_t kMostCsvColumns = std::size_t{1} << 16;
inline constexpr std::size_t kLongestCsvRecord = std::size_t{16} << 20;  // bytes

// What becomes of a row that the schema doesn't provide for.
enum class RowPolicy {
  MustFit,  // public data: an error with its line number
  Repair    // private data: each line is a row, and a total function of the schema, in silence
};

struct CsvOptions {
  RowPolicy policy = RowPolicy::MustFit;
  char delimiter = ',';
  Threads threads;
  // A column whose texts tell groups of rows apart (people), in the schema or not; empty: none.
  std::string key_column;
  // Called with the bytes read so far, of the file as stored.
  std::function<void(std::size_t)> progress;
};

struct CsvTable {
  Table table;
  std::vector<std::string> ignored_columns;  // in the file, not in the schema
  // With a key column: for each row the number of its key, 0 for an empty one.
  std::vector<std::uint32_t> keys;
  std::size_t distinct_keys = 0;  // the empty key included
};

// The columns are found by the names in the header, in any order. SchemaError when one is missing
// or a row doesn't fit; UsageError when the file is no CSV file; both name the file and line.
//
// With RowPolicy::Repair a line feed always ends a row, also inside quotes, so that no row can
// swallow its neighbours: one person's text never changes how another's is read.
CsvTable read_csv(const std::string& path, const Schema& schema, const CsvOptions& options = {});

// Header and rows, values as the schema writes them. SourceError when the disk is full.
void write_csv(const std::string& path, const Schema& schema, const Table& table, Rng& rng);

}  // namespace tandem
