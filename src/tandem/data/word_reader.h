// SPDX-License-Identifier: Apache-2.0
#pragma once
// Words and symbols of a condition or relation, one after the other. A word stands bare, or in
// single or double quotes.

#include <string>
#include <string_view>

namespace tandem {

class WordReader {
 public:
  explicit WordReader(std::string_view text) : rest_(text) {}

  bool at_end();
  std::string_view rest();             // what is left
  std::string_view peek();             // the bare word that comes next; empty: none
  bool take(std::string_view symbol);  // whether it came next
  bool take_word(std::string_view keyword);
  std::string word(std::string_view what);  // UsageError "WHAT is missing"

 private:
  void skip_space();

  std::string_view rest_;
};

}  // namespace tandem
