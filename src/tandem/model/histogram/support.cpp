// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/histogram/support.h"

#include <algorithm>
#include <unordered_set>

#include "tandem/base/check.h"
#include "tandem/base/error.h"

namespace tandem {

namespace {

// The row at a place in the row-major order of the domain.
void write_row(Table& table, std::size_t row, std::size_t place) {
  for (auto id = static_cast<AttributeId>(table.domain().size()); id-- > 0;) {
    const std::size_t size = table.domain()[id].size;
    table.column(id).set(row, static_cast<Code>(place % size));
    place /= size;
  }
}

Table all_rows_of(const PublicData& data) {
  std::size_t rows = 0;
  for (const auto& source : data.tables) rows += source.table.rows();
  Table all(data.tables.front().table.domain(), rows);
  for (AttributeId id = 0; id < all.domain().size(); ++id) {
    std::size_t at = 0;
    for (const auto& source : data.tables) {
      source.table.column(id).visit([&](auto codes) {
        for (const auto code : codes) all.column(id).set(at++, code);
      });
    }
  }
  return all;
}

}  // namespace

Support whole_domain(const Domain& domain) {
  const std::size_t rows = domain.cells(domain.all());
  Support out{Table(domain, rows), std::vector<double>(rows, 1.0)};
  for (std::size_t r = 0; r < rows; ++r) write_row(out.rows, r, r);
  return out;
}

Support random_rows(const Domain& domain, std::size_t count, Rng& rng) {
  const auto all = domain.try_cells(domain.all());
  if (all && *all <= count) return whole_domain(domain);
  if (all) {
    // Floyd's algorithm: each step adds one place that is not yet there.
    std::unordered_set<std::size_t> places;
    for (std::size_t top = *all - count; top < *all; ++top) {
      if (!places.insert(rng.below(top + 1)).second) places.insert(top);
    }
    std::vector<std::size_t> sorted(places.begin(), places.end());
    std::ranges::sort(sorted);
    Support out{Table(domain, count), std::vector<double>(count, 1.0)};
    for (std::size_t r = 0; r < count; ++r) write_row(out.rows, r, sorted[r]);
    return out;
  }
  // Beyond 2^62 rows a repeat is a rare accident, and is dropped.
  Table drawn(domain, count);
  for (AttributeId id = 0; id < domain.size(); ++id) {
    for (std::size_t r = 0; r < count; ++r) {
      drawn.column(id).set(r, static_cast<Code>(rng.below(domain[id].size)));
    }
  }
  Table rows = distinct_rows(drawn).rows;
  const std::size_t different = rows.rows();
  return {std::move(rows), std::vector<double>(different, 1.0)};
}

Support public_rows(const PublicData& data, std::span<const double> shares) {
  check(shares.empty() || shares.size() == data.tables.size(), "each public table has one share");
  std::size_t all_rows = 0;
  for (const auto& source : data.tables) all_rows += source.table.rows();
  if (all_rows == 0)
    throw UsageError("The public data has no rows; give some with " TANDEM_SETTING("public") ".");

  auto distinct = distinct_rows(all_rows_of(data));
  Support out{std::move(distinct.rows), {}};
  if (shares.empty()) {
    out.weights.assign(distinct.multiplicity.begin(), distinct.multiplicity.end());
    return out;
  }
  out.weights.assign(out.rows.rows(), 0.0);
  std::size_t at = 0;
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const std::size_t rows = data.tables[s].table.rows();
    for (std::size_t r = 0; r < rows; ++r) {
      out.weights[distinct.which[at++]] += shares[s] / static_cast<double>(rows);
    }
  }
  return out;
}

}  // namespace tandem
