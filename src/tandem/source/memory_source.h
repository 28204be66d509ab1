// SPDX-License-Identifier: Apache-2.0
#pragma once
// A table held in memory, counted by query/counting and query/conjunction_counting.

#include <memory>

#include "tandem/base/parallel.h"
#include "tandem/data/table.h"
#include "tandem/source/data_source.h"

namespace tandem {

std::unique_ptr<DataSource> memory_source(Table table, Threads threads = {});

}  // namespace tandem
