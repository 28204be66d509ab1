// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading and writing tables as CSV (RFC 4180), plain or gzip, in the formats of text_format.h.
//
// A file is read in blocks, each parsed into codes on its own thread: memory is the coded table and
// a few blocks. docs/files.md says what becomes of odd files, docs/decisions/0002-csv.md why this
// reader is our own.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/byte_source.h"
#include "tandem/data/person_key.h"
#include "tandem/data/schema.h"
#include "tandem/data/table.h"

namespace tandem {

inline constexpr std::size_t kMostCsvColumns = std::size_t{1} << 16;
inline constexpr std::size_t kLongestCsvRecord = 16'000'000;  // bytes, as UTF-8
inline constexpr std::size_t kCsvBlockBytes = std::size_t{1} << 20;
// Of private files with Records::Quoted: beyond, a quote counts as left open by mistake.
inline constexpr std::size_t kLongestQuotedValue = 64'000;  // bytes between the quotes, as UTF-8
inline constexpr std::size_t kMostQuotedLines = 1'000;      // on which a quoted value stands

// What becomes of a row that the schema doesn't provide for.
enum class RowPolicy {
  MustFit,  // public data: an error with its line number
  Repair    // private data: each record is a row, by a total function of the schema, in silence
};

// Called with the bytes read so far and in all, of the file as stored; 0 in all when unknown.
using ReadProgress = std::function<void(std::size_t read, std::size_t in_all)>;

struct CsvOptions {
  RowPolicy policy = RowPolicy::MustFit;
  // Without one, a private file has the schema's format, and a public file's is sniffed.
  std::optional<TextFormat> format;
  Threads threads;
  // A column whose texts tell groups of rows apart (people), in the schema or not; empty: none.
  std::string key_column;
  ReadProgress progress;
  // For INTERNAL checks of private files: called with the first line of each record in which a
  // quoted value does not close properly (csv_tokenizer.h), in the order of the file.
  std::function<void(std::size_t line)> on_broken_quote;
  std::size_t block_bytes = kCsvBlockBytes;  // parsed at a time; no result depends on it
  OpenBytes open = {};                       // the text, where the path only names it in messages
};

struct CsvTable {
  Table table;
  TextFormat format;                         // as stated or sniffed
  std::vector<std::string> ignored_columns;  // in the file, not in the schema
  // Public data: for each attribute, how many values were adapted. Such counts of private data are
  // private, so there it is empty.
  std::vector<std::size_t> adapted;
  std::size_t mended = 0;       // public rows that broke a rule of the schema (see load_table)
  std::vector<PersonKey> keys;  // with a key column: of each row
};

// The columns are found by the names in the header, in any order. SchemaError when one is missing
// or a row doesn't fit; UsageError when the file is no CSV file; both name the file and line.
//
// With RowPolicy::Repair the format says what a record is. Records::Lines: a line feed always ends
// a row, also inside quotes, so that no row can swallow its neighbours, whatever its bytes.
// Records::Quoted: quoted values may hold line feeds, and a row that is well-formed by itself is
// read by itself. docs/privacy.md has the proofs.
CsvTable read_csv(const std::string& path, const Schema& schema, const CsvOptions& options = {});

struct CsvScanOptions {
  std::optional<TextFormat> format;  // sniffed without one
  ReadProgress progress;
  OpenBytes open = {};  // as in CsvOptions
};
using OnCsvHeader = std::function<void(std::span<const std::string> names, const TextFormat&)>;
using OnCsvRow = std::function<void(std::span<const std::string_view> fields, std::size_t line)>;

// Every row of a PUBLIC file as UTF-8 text, in order, in memory that doesn't grow with the file. A
// number keeps its decimal mark (see swap_decimal_marks). Fields are valid during the call alone.
// UsageError on a repeated name, a ragged row or bytes that are no text; it names the line.
void scan_csv(const std::string& path, const CsvScanOptions& options, const OnCsvHeader& on_header,
              const OnCsvRow& on_row);

// SchemaError when the schema's own names and values can't be written in its encoding. Worth asking
// before long work; write_csv asks too.
void check_writable(const Schema& schema);

// Header and rows in the schema's format, values as the schema writes them. SourceError when the
// disk is full.
void write_csv(const std::string& path, const Schema& schema, const Table& table, Rng& rng);

// The same as text, whatever encoding the schema states.
std::string csv_text(const Schema& schema, const Table& table, Rng& rng);

}  // namespace tandem
