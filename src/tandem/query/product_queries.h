// SPDX-License-Identifier: Apache-2.0
#pragma once
// Queries that are products: a small matrix of queries for each column of a clique, and every
// combination of their rows is one query. A column outside the clique is summed over.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tandem/data/clique.h"
#include "tandem/data/domain.h"

namespace tandem {

// The queries W_i on one column of n values.
struct ColumnQueries {
  enum class Kind {
    Identity,  // every value
    Total,     // all values together
    Prefix,    // values 0 .. j, for every j
    Ranges,    // values a .. b, for all a <= b; in the order of (a, b)
    Given      // rows of whole numbers
  };
  Kind kind = Kind::Identity;
  std::vector<std::int64_t> given;  // row-major, n entries a row

  bool operator==(const ColumnQueries&) const = default;

  std::size_t rows(std::size_t n) const;
  double trace(std::size_t n) const;              // tr W'W
  double total(std::size_t n) const;              // 1'W'W1
  std::vector<double> sums(std::size_t n) const;  // W1
  // W along the middle axis of a table of the shape outer x n x inner.
  std::vector<double> apply(std::span<const double> table, std::size_t outer, std::size_t n,
                            std::size_t inner) const;
};

struct ProductQueries {
  Clique clique;
  std::vector<ColumnQueries> factors;  // one for each attribute of the clique, in its order
  double weight = 1.0;                 // multiplies every query

  double queries(const Domain& domain) const;  // how many
};

}  // namespace tandem
