// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matching the header of a CSV file with the columns that are wanted.

#include <span>
#include <string>
#include <vector>

#include "tandem/data/csv_blocks.h"

namespace tandem {

inline constexpr int kIgnoredColumn = -1;

// UsageError on a repeated name. Of a private file only names that `domain` has are quoted: without
// a header, its first line is a person's row.
void check_repeated_names(const std::string& path, std::span<const std::string> names,
                          RowPolicy policy, const Domain& domain);

// For each column of the file its attribute, or kIgnoredColumn; and the names of the latter.
struct MatchedColumns {
  std::vector<int> attributes;
  std::vector<std::string> ignored;
};
MatchedColumns match_columns(const CsvBlockReader& reader, const CsvHeader& header,
                             const Domain& domain, RowPolicy policy);

// The position of the key column in the file, or kIgnoredColumn when none is asked for.
int find_key(const std::string& path, const CsvHeader& header, const std::string& key_column);

}  // namespace tandem
