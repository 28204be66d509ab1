// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small domains, tables and cliques drawn for property tests, and the obvious way to count.

#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tandem/data/table.h"
#include "tandem/query/factor.h"

namespace tandem::test {

inline Domain any_domain(const std::vector<Code>& sizes, std::size_t most_attributes) {
  std::vector<Attribute> attributes;
  const auto count = *rc::gen::inRange<std::size_t>(1, most_attributes + 1);
  for (std::size_t i = 0; i < count; ++i) {
    attributes.push_back({"c" + std::to_string(i), *rc::gen::elementOf(sizes), {}});
  }
  return Domain(std::move(attributes));
}

// Rows of which many are alike, at both ends of each attribute and between.
inline Table any_table(const Domain& domain, std::size_t rows) {
  Table table(domain, rows);
  auto state = *rc::gen::arbitrary<std::uint64_t>();
  for (AttributeId id = 0; id < domain.size(); ++id) {
    const Code size = domain[id].size;
    for (std::size_t r = 0; r < rows; ++r) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      const auto drawn = static_cast<Code>(state >> 33);
      const Code code = drawn % 4 == 0 ? 0 : drawn % 4 == 1 ? size - 1 : drawn / 4 % size;
      table.column(id).set(r, code);
    }
  }
  return table;
}

// Any set of attributes, the empty one too, whose marginal has at most `most_cells` cells.
inline Clique any_clique(const Domain& domain, std::size_t most_cells) {
  std::vector<AttributeId> ids;
  for (AttributeId id = 0; id < domain.size(); ++id) {
    if (!*rc::gen::arbitrary<bool>()) continue;
    ids.push_back(id);
    const auto cells = domain.try_cells(Clique(ids));
    if (!cells || *cells > most_cells) ids.pop_back();
  }
  return Clique(std::move(ids));
}

// The cell of a marginal that a row falls into: the last attribute moves fastest.
inline std::size_t cell_of(const Table& table, const Clique& clique, std::size_t row) {
  std::size_t cell = 0;
  for (const auto id : clique) {
    cell = cell * table.domain()[id].size + table.column(id)[row];
  }
  return cell;
}

// A marginal counted row by row; each row counts its weight, or 1 when none are given.
inline Factor brute_force(const Table& table, const Clique& clique,
                          const std::vector<double>& weights = {}) {
  Factor out{clique, std::vector<double>(table.domain().cells(clique), 0.0)};
  for (std::size_t r = 0; r < table.rows(); ++r) {
    out.values[cell_of(table, clique, r)] += weights.empty() ? 1.0 : weights[r];
  }
  return out;
}

}  // namespace tandem::test
