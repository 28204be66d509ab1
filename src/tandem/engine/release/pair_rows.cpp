// SPDX-License-Identifier: Apache-2.0
#include "tandem/engine/release/pair_rows.h"

#include <vector>

#include "tandem/data/pairs.h"
#include "tandem/engine/release/release_folder.h"

namespace tandem {

void write_pair_rows(const std::string& path, const Schema& schema, const RecordsModel& model,
                     std::span<const std::uint32_t> rows) {
  write_pairs(path, schema, rows.size(), [&](std::size_t row, std::vector<AttributeId>& items) {
    model.records().append_ones(rows[row], items);
  });
  sync_to_disk(path);
}

}  // namespace tandem
