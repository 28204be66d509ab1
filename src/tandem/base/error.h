// SPDX-License-Identifier: Apache-2.0
#pragma once
// What can go wrong, one type per thing a caller can do about it.
//
// A message is one sentence: where, what was found, what to do. It never quotes a private value. It
// names a setting by its key, between two marks: TANDEM_SETTING("epsilon") " is missing". Each door
// then spells the key in its own way; the command writes --epsilon, and --param rounds for
// 'param.rounds'.

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#define TANDEM_SETTING(key) "\x0e" key "\x0f"

namespace tandem {

// The same for a key that isn't known when it is compiled.
std::string setting(std::string_view key);

// The message with every key as `spell` writes it, and without the marks.
using Spelling = std::function<std::string(std::string_view key)>;
std::string spelled(std::string_view message, const Spelling& spell);
std::string plain(std::string_view message);  // the keys as they are

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  std::string key() const;  // of the first setting that it names; empty: none
};

// The work was asked to stop (exit code 130).
class Cancelled : public Error {
 public:
  using Error::Error;
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
