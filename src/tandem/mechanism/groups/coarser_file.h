// SPDX-License-Identifier: Apache-2.0
#pragma once
// A public CSV file that says which value of a key column belongs to which coarser one, such as the
// state of each area.

#include <cstddef>
#include <string>
#include <vector>

#include "tandem/data/domain.h"

namespace tandem {

struct CoarserValues {
  AttributeId column = 0;           // the key column that the file is about
  std::vector<std::size_t> groups;  // of each of its codes: the number of its coarser value
  std::size_t count = 0;            // of coarser values
};

// Two fields on each line, as they are or in double quotes: a value of one of the key columns, the
// one that has most of them, and its coarser one. A first line that has `fine` or that column's
// name in place of a value is a header. Values that the file leaves out are a coarse one of their
// own. UsageError for a file without values, a line without two fields, a value that is none, and
// one that has two coarser ones.
CoarserValues read_coarser_values(const Domain& domain, const Clique& key, const std::string& path);

}  // namespace tandem
