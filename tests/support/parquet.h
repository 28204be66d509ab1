// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parquet files that tests make, by DuckDB's library itself.

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "tandem/base/error.h"
#include "tandem/source/duckdb.h"

namespace tandem::test {

inline bool has_duckdb() {
  try {
    DuckDb database(1);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

// Writes the rows of a query, such as "SELECT 1 AS a".
inline void write_parquet(const std::string& path, const std::string& query) {
  DuckDb database(1);
  std::string quoted;
  for (const char c : path) quoted += c == '\'' ? "''" : std::string(1, c);
  ASSERT_TRUE(database.run("COPY (" + query + ") TO '" + quoted + "' (FORMAT parquet)")) << query;
}

// A variable of the environment for the time of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
  ~Variable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace tandem::test

#define TANDEM_NEEDS_DUCKDB()      \
  if (!tandem::test::has_duckdb()) \
  GTEST_SKIP() << "there is no DuckDB library: name a libduckdb.so in TANDEM_DUCKDB"
