// SPDX-License-Identifier: Apache-2.0
#pragma once
// Independent bits, column i being 1 with a chance p_i drawn evenly from 0 to 1, made when they are
// counted: whatever the number of columns, nothing of rows x columns is ever held.
//
// Word w of a column is a function of seed, column and w alone.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tandem/base/parallel.h"
#include "tandem/data/indicator.h"
#include "tandem/source/data_source.h"

namespace tandem::test {

struct GeneratedBits {
  std::uint64_t seed = 1;
  std::size_t rows = 0;

  double chance(AttributeId column) const;
  std::uint64_t word(AttributeId column, std::size_t w) const;  // zero beyond the last row
};

// Columns of two values named c0, c1, ...
Domain columns_of_bits(std::size_t columns);

// Counts conjunctions, and marginals of few columns. It has no parts (`where`).
std::unique_ptr<DataSource> generated_source(Domain domain, const GeneratedBits& bits,
                                             Threads threads = {});

}  // namespace tandem::test
