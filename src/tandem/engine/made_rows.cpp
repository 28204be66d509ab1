// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/made_rows.h"

#include <fmt/core.h>

#include "tandem/base/error.h"
#include "tandem/base/text.h"
#include "tandem/data/csv.h"
#include "tandem/engine/coded_rows.h"
#include "tandem/engine/memory.h"
#include "tandem/engine/preparation.h"
#include "tandem/engine/public_files.h"
#include "tandem/model/model_file.h"
#include "tandem/privacy/entropy.h"

namespace tandem {

std::string made_rows(const MadeRowsRequest& request, std::string_view bytes) {
  if (request.rows < 0 || request.rows > kMostRows) {
    throw UsageError(fmt::format(TANDEM_SETTING("rows") " is {}; choose 0 to {}.", request.rows,
                                 with_commas(kMostRows)));
  }
  const Schema schema = schema_in(request.schema, request.kind).with_format(TextFormat{});
  const double memory = memory_limit(request.memory_limit);
  const auto model = read_model(bytes, schema.domain(), "The model", {memory, request.threads});
  Rng rng(request.seed >= 0 ? static_cast<std::uint64_t>(request.seed) : SystemEntropy().word());
  Table rows = model->sample(static_cast<std::size_t>(request.rows), rng);
  settle_rows(schema.row_rules(), rows, rng);
  return csv_text(follow_rows(schema, rows), rows, rng);
}

}  // namespace tandem
