// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/answers/merged_counts.h"

#include <cmath>
#include <cstdint>
#include <utility>

namespace tandem {
namespace {

constexpr double kMostWork = 1e8;  // cells visited for one product and measurement

using Coefficients = std::vector<std::pair<std::size_t, double>>;  // code, above or below 0

// The codes that each query on a column counts.
std::vector<Coefficients> rows_of(const ColumnQueries& queries, std::size_t n) {
  std::vector<Coefficients> out(queries.rows(n));
  const auto interval = [&](std::size_t r, std::size_t first, std::size_t last) {
    for (std::size_t code = first; code <= last; ++code) out[r].emplace_back(code, 1.0);
  };
  std::size_t r = 0;
  switch (queries.kind) {
    case ColumnQueries::Kind::Identity:
      for (; r < n; ++r) interval(r, r, r);
      break;
    case ColumnQueries::Kind::Total:
      interval(0, 0, n - 1);
      break;
    case ColumnQueries::Kind::Prefix:
      for (; r < n; ++r) interval(r, 0, r);
      break;
    case ColumnQueries::Kind::Ranges:
      for (std::size_t first = 0; first < n; ++first) {
        for (std::size_t last = first; last < n; ++last) interval(r++, first, last);
      }
      break;
    case ColumnQueries::Kind::Given:
      for (std::size_t i = 0; i < queries.given.size(); ++i) {
        if (queries.given[i] == 0) continue;
        out[i / n].emplace_back(i % n, static_cast<double>(queries.given[i]));
      }
      break;
  }
  return out;
}

// The rows of a map, seen from the cells of a product's own marginal.
struct MergedCells {
  struct Share {
    std::size_t row = 0;
    std::size_t cells = 0;  // of the measured marginal, which the row and this cell have in common
  };
  std::vector<std::vector<Share>> rows;  // of each cell
  std::vector<std::size_t> size;         // of each row, in cells of the measured marginal
  std::vector<bool> counted;             // whether every measured cell within it is in some row
};

std::optional<MergedCells> merged_cells(const Domain& domain, const Clique& clique,
                                        const Measurement& measurement) {
  const Clique& wide = measurement.query.clique;
  const LinearMap& map = measurement.query.map;
  const std::size_t cells = domain.cells(wide);
  const std::size_t own = domain.cells(clique);
  MergedCells out;
  out.rows.resize(own);
  std::vector<std::size_t> covered(own, 0);
  std::vector<bool> taken(cells, false);
  for (std::size_t r = 0; r < map.outputs(cells); ++r) {
    out.size.push_back(map.row(r).size());
    for (const auto& [column, coefficient] : map.row(r)) {
      if (std::ldexp(static_cast<double>(coefficient), map.unit_exponent()) != 1.0 ||
          taken[column]) {
        return std::nullopt;
      }
      taken[column] = true;
      std::size_t left = column;
      std::size_t cell = 0;
      std::size_t stride = 1;
      for (std::size_t i = wide.size(), j = clique.size(); i-- > 0;) {
        const std::size_t n = domain[wide[i]].size;
        if (j > 0 && clique[j - 1] == wide[i]) {
          cell += left % n * stride;
          stride *= n;
          --j;
        }
        left /= n;
      }
      ++covered[cell];
      auto& shares = out.rows[cell];
      if (shares.empty() || shares.back().row != r) shares.push_back({r, 0});
      ++shares.back().cells;
    }
  }
  for (const auto count : covered) out.counted.push_back(count == cells / own);
  return out;
}

}  // namespace

std::vector<std::optional<MergedAnswer>> merged_answers(const Domain& domain,
                                                        const ProductQueries& item,
                                                        const Measurement& measurement) {
  const Clique& clique = item.clique;
  const LinearMap& map = measurement.query.map;
  if (map.is_identity() || map.is_kronecker() || !measurement.query.clique.contains(clique)) {
    return {};
  }
  std::vector<std::vector<Coefficients>> factors;
  double work = 1.0;
  for (std::size_t i = 0; i < clique.size(); ++i) {
    factors.push_back(rows_of(item.factors[i], domain[clique[i]].size));
    double entries = 0.0;
    for (const auto& row : factors.back()) entries += static_cast<double>(row.size());
    work *= entries;
  }
  if (work > kMostWork || domain.about_cells(measurement.query.clique) > kMostWork) return {};
  const auto merged = merged_cells(domain, clique, measurement);
  if (!merged) return {};

  const double variance = measurement.sigma.value() * measurement.sigma.value();
  std::vector<std::optional<MergedAnswer>> out;
  std::vector<std::size_t> seen(merged->size.size(), 0);  // cells of each row that a query counts
  std::vector<double> value(seen.size(), 0.0);            // as often as this
  std::vector<std::size_t> query(clique.size(), 0);
  for (;;) {
    // Every cell that the query counts must be in rows that it counts as a whole, evenly.
    bool told = true;
    std::vector<std::size_t> touched;
    std::vector<std::size_t> at(clique.size(), 0);
    bool empty = false;
    for (std::size_t i = 0; i < at.size(); ++i) empty = empty || factors[i][query[i]].empty();
    while (told && !empty) {
      std::size_t cell = 0;
      double coefficient = 1.0;
      for (std::size_t i = 0; i < at.size(); ++i) {
        const auto& [code, times] = factors[i][query[i]][at[i]];
        cell = cell * domain[clique[i]].size + code;
        coefficient *= times;
      }
      told = merged->counted[cell];
      for (const auto& [row, cells] : merged->rows[cell]) {
        if (seen[row] == 0) {
          touched.push_back(row);
          value[row] = coefficient;
        }
        told = told && value[row] == coefficient;
        seen[row] += cells;
      }
      std::size_t i = at.size();
      while (i > 0 && ++at[i - 1] == factors[i - 1][query[i - 1]].size()) at[--i] = 0;
      if (i == 0) break;
    }
    MergedAnswer answer;
    for (const auto row : touched) {
      told = told && seen[row] == merged->size[row];
      answer.estimate += value[row] * measurement.values[row];
      answer.stddev += value[row] * value[row] * variance;
      seen[row] = 0;
    }
    answer.stddev = std::sqrt(answer.stddev);
    out.push_back(told ? std::optional(answer) : std::nullopt);
    std::size_t i = query.size();
    while (i > 0 && ++query[i - 1] == factors[i - 1].size()) query[--i] = 0;
    if (i == 0) return out;
  }
}

}  // namespace tandem
