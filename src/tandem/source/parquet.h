// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables in Parquet, through DuckDB's library: one file, or those of a pattern or folder as one
// table, file after file in the order of their names.
//
// Columns are asked for by their places and files by their descriptors, so no name of a user's gets
// into a query. What the library says of a failure may quote rows, and is never told.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/byte_source.h"
#include "tandem/data/schema.h"
#include "tandem/source/row_stream.h"

namespace tandem {

class ParquetTable {
 public:
  // Looks at names, types and numbers of rows, which files say of themselves, and at no row.
  // UsageError for a source that is no table, or without the library; SourceError for a file that
  // is not Parquet.
  explicit ParquetTable(const std::string& source, const Threads& threads = {});
  ~ParquetTable();
  ParquetTable(ParquetTable&&) noexcept;
  ParquetTable& operator=(ParquetTable&&) noexcept;

  const std::vector<std::string>& names() const;  // of all columns, as the first file has them
  std::size_t rows() const;
  const std::string& decoder() const;  // which library reads them: its version and SHA-256

  // The rows of these columns, in this order; a file may have its columns in another, and in
  // another type. SchemaError for a column that the table lacks, has twice, or whose cells are no
  // plain values.
  RowStream rows_of(const std::vector<std::string>& columns) const;

  // Of a table that is PUBLIC: which columns are of floats and all whole. A column of whole numbers
  // becomes one of floats in many a writer, where a cell is empty.
  std::vector<bool> whole_floats() const;

 private:
  struct Files;
  std::shared_ptr<const Files> files_;
};

// The table as CSV text, in the format that TextFormat has without a word: what a CSV file of it
// would be. With a schema only its columns (and the key column) have cells, written as it writes
// them, and others a name alone; without one all have, as plain text.
OpenBytes parquet_text(const std::string& source, const Schema* schema, const std::string& key,
                       const Threads& threads);

}  // namespace tandem
