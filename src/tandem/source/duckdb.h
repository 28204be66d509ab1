// SPDX-License-Identifier: Apache-2.0
#pragma once
// DuckDB's library, where the machine has one: SQL in, Arrow streams out. It is loaded when it is
// first needed, by its C door (ADBC 1.0.0), so that nothing of it is needed to build or to start.

#include <memory>
#include <string>

#include "tandem/data/arrow.h"

namespace tandem {

// An empty database in memory. It writes to no disk, loads no extension, and opens no connection.
class DuckDb {
 public:
  // Loads the library that TANDEM_DUCKDB names (a libduckdb.so, or the module of Python's duckdb),
  // else the system's libduckdb.so. UsageError where there is none that works, or one of another
  // SHA-256 than TANDEM_DUCKDB_SHA256 states.
  explicit DuckDb(int threads);
  ~DuckDb();
  DuckDb(const DuckDb&) = delete;
  DuckDb& operator=(const DuckDb&) = delete;

  // The rows of a query, which end before the database does. Released where DuckDB refuses: what it
  // says may quote rows, and is not told.
  OwnedStream query(const std::string& sql);
  // A statement without rows; whether it went well.
  bool run(const std::string& sql);
  const std::string& digest() const { return digest_; }  // SHA-256 of the library's file

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::string digest_;
};

// The next batch of such a stream, released behind the last; false where there is none to be had.
bool next_of(OwnedStream& rows, OwnedArray& batch);

}  // namespace tandem
