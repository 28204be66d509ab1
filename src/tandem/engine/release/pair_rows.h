// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows that repeat records, written as a list of pairs: no table of them is ever held.

#include <cstdint>
#include <span>
#include <string>

#include "tandem/data/schema.h"
#include "tandem/model/records_model.h"

namespace tandem {

// A row for each number of a record, on disk when it returns.
void write_pair_rows(const std::string& path, const Schema& schema, const RecordsModel& model,
                     std::span<const std::uint32_t> rows);

}  // namespace tandem
