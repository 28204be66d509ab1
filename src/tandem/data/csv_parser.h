// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a block of CSV text to columns of codes.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/data/csv_blocks.h"
#include "tandem/data/person_key.h"

namespace tandem {

struct ParsedBlock {
  std::size_t rows = 0;
  std::vector<std::byte> codes;      // column after column, each in its attribute's width
  std::vector<std::size_t> adapted;  // by attribute; empty for private rows
  std::vector<PersonKey> keys;       // one a row, with a key column
  std::vector<std::size_t> broken;   // lines of private rows with a broken quote, if asked for
  std::optional<std::pair<std::size_t, std::string>> problem;  // line in the file, sentence
};

class BlockParser {
 public:
  // `attributes`: for each column of the file, or kIgnoredColumn; `key`: the position of the key;
  // `find_broken`: private rows with a broken quote are to be told.
  BlockParser(const Schema& schema, std::vector<int> attributes, int key, RowPolicy policy,
              const TextFormat& format, bool find_broken);

  ParsedBlock parse(const CsvBlock& block) const;

 private:
  class Parse;

  const Schema& schema_;
  std::vector<int> attributes_;
  int key_;
  RowPolicy policy_;
  TextFormat format_;
  bool find_broken_;
};

}  // namespace tandem
