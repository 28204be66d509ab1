// SPDX-License-Identifier: Apache-2.0
#pragma once
// A table of bits held in memory: for wide tables of mostly two values, such as who bought what.

#include <memory>

#include "tandem/base/parallel.h"
#include "tandem/data/bit_table.h"
#include "tandem/source/data_source.h"

namespace tandem {

// REQUIRES: the table has every indicator that will be asked for.
std::unique_ptr<DataSource> bit_source(BitTable table, Threads threads = {});

}  // namespace tandem
