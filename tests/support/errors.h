// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a call complains of.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "tandem/base/error.h"

namespace tandem::test {

// Settings as the command spells them.
inline std::string as_flag(std::string_view key) {
  return key.starts_with("param.") ? "--param " + std::string(key.substr(6))
                                   : "--" + std::string(key);
}

// The message of the E that f throws; a failure of the test, and no text, when it throws none.
template <class E, class F>
std::string error_of(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const E& error) {
    return spelled(error.what(), as_flag);
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << '"' << part << "\" is not in \"" << text << '"';
}

}  // namespace tandem::test
