// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a file fits a schema, from one pass over its raw rows in bounded memory. INTERNAL where the
// file is private.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tandem/data/relation_check.h"
#include "tandem/data/table.h"
#include "tandem/engine/fit/column_fit.h"
#include "tandem/engine/fit/people.h"
#include "tandem/engine/fit/text_scan.h"

namespace tandem {

struct FitOptions {
  TextScanOptions reading{};
  bool keep_codes = false;
  bool keep_points = false;
  bool lenient = false;  // a column that the file lacks is told, not thrown
  std::string person{};  // the column that names people; none without it
  std::size_t rows_per_person = 1;
};

// Records that are no rows of the header's columns.
struct RecordFit {
  std::size_t short_rows = 0;
  std::size_t long_rows = 0;
  std::size_t malformed = 0;       // by their quotes; of public files alone
  std::size_t first_odd_line = 0;  // of all these
  // Where a line is a row: line feeds inside quotes, of which each ends one.
  std::size_t quoted_line_feeds = 0;
  std::size_t cut_records = 0;
  std::vector<std::size_t> line_feeds_by_column;  // by the header's columns
  bool quote_never_closed = false;
};

// The codes of a table as a release reads it, before rules mend it, and which of them stand for
// values that have none.
struct RawRows {
  Table repaired;
  // By attribute, then by row: a ValueFit from Below on, or Exact. Empty where all values have
  // codes.
  std::vector<std::vector<ValueFit>> outside;
};

struct FileFit {
  std::string path;
  TextFormat format;
  std::vector<std::string> header;
  std::vector<std::string> ignored_columns;  // in the file, not in the schema
  std::vector<std::string> missing_columns;  // the other way round
  std::vector<std::string> repeated_columns;
  std::size_t rows = 0;
  std::vector<ColumnFit> columns;  // by attribute
  RecordFit records;
  // What the schema says of several columns, and rows that break it: rules in the schema's order.
  std::vector<std::size_t> broken_rules;
  std::vector<BrokenRelation> relations;  // orders first, then derived columns
  std::size_t rows_breaking = 0;          // a rule, or an order by its codes: these are mended
  std::optional<PeopleFit> people;
  std::optional<std::string> unread;  // lenient: why the file could not be read to its end
  // Lenient, where columns are missing or the file could not be read: what its first bytes suggest.
  std::optional<TextFormat> looks_like;
  RawRows raw;  // with keep_codes, of a file that has all columns
};

FileFit fit_file(const std::string& path, const Schema& schema, const FitOptions& options);

}  // namespace tandem
