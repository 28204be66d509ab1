// SPDX-License-Identifier: Apache-2.0
#pragma once
// What can go wrong, one type per thing a caller can do about it.
//
// A message is one sentence: where, what was found, what to do. It never quotes a private value.

#include <stdexcept>
#include <string>

namespace tandem {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The call is wrong: fix it and call again (exit code 2).
class UsageError : public Error {
 public:
  using Error::Error;
};

// The description of the data, or public data that does not fit it, is wrong (exit code 2).
class SchemaError : public UsageError {
 public:
  using UsageError::UsageError;
};

// The filter or the ledger refuses (exit code 3).
class BudgetError : public Error {
 public:
  using Error::Error;
};

// Data could not be read or written: a missing file, a full disk, a lost server (exit code 1).
class SourceError : public Error {
 public:
  using Error::Error;
};

// A promise inside tandem was broken; please report it (exit code 1).
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace tandem
