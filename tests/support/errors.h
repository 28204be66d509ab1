// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a call complains of.

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace tandem::test {

// The message of the E that f throws; a failure of the test, and no text, when it throws none.
template <class E, class F>
std::string error_of(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << '"' << part << "\" is not in \"" << text << '"';
}

}  // namespace tandem::test
