// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of a release's model, made wherever they are wanted: a part of many on each of a cluster's
// executors. Post-processing: it sees a model and a schema alone.

#include <cstdint>
#include <string>
#include <string_view>

#include "tandem/base/parallel.h"

namespace tandem {

struct MadeRowsRequest {
  std::string schema;         // the text of a schema file
  std::string kind = "toml";  // or json
  std::int64_t rows = 0;
  std::int64_t seed = -1;  // negative: none
  std::string memory_limit{};
  Threads threads{};
};

// As a file in UTF-8 with commas and decimal points, quoted where needed, with a header. Rows keep
// the schema's rules; they are not fitted to a workload, and values lie evenly inside their ranges.
// UsageError for a model of other columns, or one that is damaged.
std::string made_rows(const MadeRowsRequest& request, std::string_view model);

}  // namespace tandem
