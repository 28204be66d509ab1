// SPDX-License-Identifier: Apache-2.0
#pragma once
// A table for a terminal: the first column to the left, the others to the right.

#include <string>
#include <utility>
#include <vector>

namespace tandem {

class TextTable {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;  // a line for each row, indented

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tandem
