// SPDX-License-Identifier: Apache-2.0
#pragma once
// What there is to say of a file that was held against a schema: sentences, the worst first.

#include <cstddef>
#include <string>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/data/schema.h"
#include "tandem/engine/fit/file_fit.h"

namespace tandem {

struct Finding {
  bool wrong = true;     // or worth knowing alone
  std::string kind;      // "unfit", "line-feeds", ...: docs/formats.md lists them
  std::string column{};  // or none: of the file as a whole
  std::size_t count = 0;
  std::size_t of = 0;  // values or rows
  std::string text;    // a sentence
  std::string hint{};  // the key of a Hint, where one was found
};

// `rows_per_person`: as the file was judged.
std::vector<Finding> findings_of(const FileFit& fit, const Schema& schema, RowPolicy policy,
                                 std::size_t rows_per_person = 1);

// Those that are wrong first, what explains others before them, then by share.
void put_worst_first(std::vector<Finding>& findings);

Document to_document(const std::vector<Finding>& findings);

// A point of a column's line as its texts write it; numbers with all their digits.
std::string point_text(const Extent& extent, double point);

}  // namespace tandem
