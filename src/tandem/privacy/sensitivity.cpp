// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/sensitivity.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tandem/base/check.h"
#include "tandem/base/int128.h"
#include "tandem/base/mutant.h"
#include "tandem/query/map_distance.h"

namespace tandem {

namespace {

constexpr std::int64_t kLargestCoefficient = std::int64_t{1} << 40;

using ColumnEntry = std::pair<std::size_t, std::int64_t>;  // row, coefficient
using MapColumn = std::vector<ColumnEntry>;                // sorted by row

// Largest norms of a column and largest distances between two, in units of the map.
struct Extremes {
  UInt128 l1_norm = 0;
  UInt128 l2_norm = 0;  // squared
  UInt128 l1_distance = 0;
  UInt128 l2_distance = 0;  // squared
  UInt128 entry = 0;        // of one output: largest coefficient
  UInt128 entry_range = 0;  // of one output: largest minus smallest coefficient
};

// Privacy: rounds up, so a sensitivity is never understated.
double round_up(UInt128 value) {
  auto out = static_cast<double>(value);
  if (static_cast<UInt128>(out) < value) out = std::nextafter(out, HUGE_VAL);
  return out;
}

// Privacy: an overflow would understate a sensitivity, so what comes near one is refused.
constexpr UInt128 kMost = static_cast<UInt128>(1) << 120;

[[noreturn]] void refuse_coefficients() {
  throw UsageError(
      "A strategy's coefficients or the rows a person may have are too large; choose smaller "
      "ones.");
}

UInt128 times(UInt128 a, UInt128 b) {
  if (b != 0 && a > kMost / b) refuse_coefficients();
  return a * b;
}

UInt128 plus(UInt128 a, UInt128 b) {  // of two that are at most kMost
  if (a + b > kMost) refuse_coefficients();
  return a + b;
}

UInt128 magnitude(std::int64_t value) { return static_cast<UInt128>(value < 0 ? -value : value); }

void measure_distance(const MapColumn& a, const MapColumn& b, Extremes& out) {
  UInt128 l1 = 0;
  UInt128 l2 = 0;
  const auto add = [&](std::int64_t difference) {
    l1 += magnitude(difference);
    l2 += magnitude(difference) * magnitude(difference);
  };
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    if (right == b.end() || (left != a.end() && left->first < right->first)) {
      add((left++)->second);
    } else if (left == a.end() || right->first < left->first) {
      add((right++)->second);
    } else {
      add((left++)->second - (right++)->second);
    }
  }
  out.l1_distance = std::max(out.l1_distance, l1);
  out.l2_distance = std::max(out.l2_distance, l2);
}

Extremes extremes_of(const LinearMap& map, std::size_t cells, double most_steps) {
  check(map.columns() == cells, "a map has one column for each cell of its marginal");
  Extremes out;
  bool has_negative = false;
  std::map<std::size_t, MapColumn> columns;  // those with an entry
  double entries = 0.0;
  for (std::size_t r = 0; r < map.outputs(cells); ++r) {
    std::int64_t least = map.row(r).size() < cells ? 0 : std::numeric_limits<std::int64_t>::max();
    std::int64_t most = map.row(r).size() < cells ? 0 : std::numeric_limits<std::int64_t>::min();
    for (const auto& [column, coefficient] : map.row(r)) {
      if (coefficient > kLargestCoefficient || coefficient < -kLargestCoefficient) {
        throw UsageError("A strategy's coefficient is above 2^40 units; choose a coarser unit.");
      }
      columns[column].emplace_back(r, coefficient);
      has_negative = has_negative || coefficient < 0;
      least = std::min(least, coefficient);
      most = std::max(most, coefficient);
      out.entry = std::max(out.entry, magnitude(coefficient));
      entries += 1.0;
    }
    if (cells > 0) out.entry_range = std::max(out.entry_range, magnitude(most - least));
  }

  // Equal columns can't be told apart by an answer, so each is compared once.
  const MapColumn none;
  std::set<MapColumn> different;
  if (columns.size() < cells) different.insert(none);
  for (auto& [column, entries_of] : columns) different.insert(std::move(entries_of));
  for (const auto& column : different) {
    Extremes norm;
    measure_distance(column, none, norm);
    out.l1_norm = std::max(out.l1_norm, norm.l1_distance);
    out.l2_norm = std::max(out.l2_norm, norm.l2_distance);
  }
  if (entries * static_cast<double>(different.size()) <= most_steps) {
    for (auto a = different.begin(); a != different.end(); ++a) {
      for (auto b = std::next(a); b != different.end(); ++b) measure_distance(*a, *b, out);
    }
  } else {
    // |a - b| <= |a| + |b| in both norms; where no entry is negative a.b >= 0, so |a - b|^2 <=
    // |a|^2 + |b|^2.
    const UInt128 norms = mutant(Mutant::BoundTooLow) ? 1 : has_negative ? 4 : 2;
    out.l1_distance = 2 * out.l1_norm;
    out.l2_distance = norms * out.l2_norm;
    if (mutant(Mutant::NoBound)) out.l1_distance = out.l2_distance = 0;
  }
  return out;
}

// ---- Products ----

// Norms of a column of a product are products of norms, and so are inner products; docs/privacy.md.
struct AxisExtremes {
  std::vector<ColumnPair<Int128>> l1;
  std::vector<ColumnPair<Int128>> l2;
};

AxisExtremes extremes_of(const AxisMap& axis) {
  const auto n = static_cast<Int128>(axis.codes());
  AxisExtremes out;
  if (axis.kind() == AxisMap::Kind::Given) {
    const std::vector<Int128> entries(axis.entries().begin(), axis.entries().end());
    out.l1 = column_pairs_l1<Int128>(entries, axis.codes());
    out.l2 = column_pairs_l2<Int128>(entries, axis.codes());
    return out;
  }
  const bool centred = axis.kind() == AxisMap::Kind::Centred;
  const Int128 l1 = centred ? 2 * (n - 1) : 1;
  const Int128 l2 = centred ? n * (n - 1) : 1;
  out.l1 = {{l1, l1, l1}};  // a column with itself
  out.l2 = {{l2, l2, l2}};
  // Two columns of n I - J have -1 in common at the n - 2 other outputs.
  if (n > 1) out.l1.push_back({l1, l1, centred ? n - 2 : 0});
  if (n > 1) out.l2.push_back({l2, l2, centred ? -n : 0});
  return out;
}

Extremes extremes_of_product(const LinearMap& map, std::size_t cells) {
  check(map.columns() == cells, "a map has one column for each cell of its marginal");
  Extremes out;
  out.entry = out.l1_norm = out.l2_norm = 1;
  bool has_negative = false;
  std::vector<std::vector<ColumnPair<Int128>>> l1;
  std::vector<std::vector<ColumnPair<Int128>>> l2;
  for (const auto& axis : map.axes()) {
    out.entry = times(out.entry, axis->largest_entry());
    has_negative = has_negative || axis->has_negative();
    if (out.entry > static_cast<UInt128>(kLargestCoefficient)) {
      throw UsageError("A strategy's coefficient is above 2^40 units; choose a coarser unit.");
    }
    // Below 2^120, so that nothing overflows: norms are at most entries times outputs.
    const auto outputs = static_cast<UInt128>(axis->outputs());
    const UInt128 entry = axis->largest_entry();
    out.l1_norm = times(out.l1_norm, times(outputs, entry));
    out.l2_norm = times(out.l2_norm, times(outputs, times(entry, entry)));
    auto [of_l1, of_l2] = extremes_of(*axis);
    l1.push_back(std::move(of_l1));
    l2.push_back(std::move(of_l2));
  }
  const auto largest = [](const std::vector<std::vector<ColumnPair<Int128>>>& axes) {
    Int128 product = 1;
    for (const auto& pairs : axes) {
      product *= std::ranges::max_element(pairs, {}, &ColumnPair<Int128>::first)->first;
    }
    return static_cast<UInt128>(product);
  };
  out.l1_norm = largest(l1);
  out.l2_norm = largest(l2);
  out.l1_distance = static_cast<UInt128>(largest_product_distance<Int128>(l1));
  out.l2_distance = static_cast<UInt128>(largest_product_distance<Int128>(l2));
  out.entry_range = has_negative ? 2 * out.entry : out.entry;
  if (cells == 1) out.entry_range = 0;
  if (mutant(Mutant::ProductAsOneAxis) && !l2.empty()) {
    out.l2_norm = largest({l2.front()});
    out.l2_distance =
        static_cast<UInt128>(largest_product_distance<Int128>(std::span(l2).first(1)));
  }
  return out;
}

// A marginal: the columns are the unit vectors, one for each cell.
Extremes extremes_of_marginal(std::size_t cells) {
  const UInt128 apart = cells > 1 ? 1 : 0;
  return {.l1_norm = 1,
          .l2_norm = 1,
          .l1_distance = 2 * apart,
          .l2_distance = 2 * apart,
          .entry = 1,
          .entry_range = apart};
}

Extremes extremes_of(const LinearQuery& query, const Domain& domain, double most_steps) {
  const std::size_t cells = domain.cells(query.clique);
  if (query.map.is_identity()) return extremes_of_marginal(cells);
  return query.map.is_kronecker() ? extremes_of_product(query.map, cells)
                                  : extremes_of(query.map, cells, most_steps);
}

QuerySensitivity for_people(const Extremes& e, const PrivacyUnit& unit) {
  check(unit.rows_per_person >= 1, "a person has at least one row");
  // With exactly one row each, replacing moves the answer by a distance. With up to m, or where
  // they may be absent, a person may also have none: the answer a A_i - b A_j, with a and b from 0
  // to m, is convex in (a, b), so its largest norm is at a corner: m times a norm or a distance.
  const bool replace = unit.neighbors == Neighbors::ReplaceOne;
  const bool keeps_rows =
      mutant(Mutant::NobodyIsAbsent) ? replace && unit.rows_per_person == 1 : unit.keeps_rows();
  const auto worst = [&](UInt128 norm, UInt128 distance) {
    if (!replace || mutant(Mutant::ReplaceAsRemove)) return norm;
    return keeps_rows ? distance : std::max(norm, distance);
  };
  const auto rows = static_cast<UInt128>(unit.rows_per_person);
  QuerySensitivity out;
  out.l1 = L1Sensitivity(round_up(times(rows, worst(e.l1_norm, e.l1_distance))));
  out.squared_l2 =
      SquaredL2Sensitivity(round_up(times(rows * rows, worst(e.l2_norm, e.l2_distance))));
  out.largest = round_up(times(rows, worst(e.entry, e.entry_range)));
  if (mutant(Mutant::HalfSensitivity)) {
    out.l1 = L1Sensitivity(out.l1.value() / 2);
    out.squared_l2 = SquaredL2Sensitivity(out.squared_l2.value() / 4);
    out.largest /= 2;
  }
  return out;
}

// Whether all queries are products of small maps and some are more than marginals, of which the sum
// of the worst is exact.
bool are_products(std::span<const WeightedQuery> queries) {
  const auto is_marginal = [](const WeightedQuery& q) { return q.query.map.is_identity(); };
  return std::ranges::all_of(queries,
                             [&](const WeightedQuery& q) {
                               return is_marginal(q) || q.query.map.is_kronecker();
                             }) &&
         !std::ranges::all_of(queries, is_marginal);
}

// docs/privacy.md: at least the largest distance of two rows' columns in a stack of products, whose
// largest squared norm is known. None where it would take too many digits.
std::optional<UInt128> distance_together(std::span<const WeightedQuery> queries, UInt128 norm,
                                         const Threads& threads) {
  constexpr int kDigits = 90;  // of the norm; choices of columns and shares take the rest
  if (norm >> kDigits != 0) return std::nullopt;
  // A place for each map of each column; none: the identity.
  std::vector<std::pair<AttributeId, const AxisMap*>> known;
  std::vector<ResidualColumn<Int128>> columns;
  std::vector<ResidualTerm<Int128>> terms;
  for (const auto& [query, weight] : queries) {
    ResidualTerm<Int128> term{{}, static_cast<Int128>(weight) * weight};
    for (std::size_t i = 0; i < query.clique.size(); ++i) {
      const AttributeId id = query.clique[i];
      const AxisMap* axis = query.map.is_identity() ? nullptr : query.map.axes()[i].get();
      if (axis != nullptr && axis->kind() == AxisMap::Kind::Identity) axis = nullptr;
      const auto at = std::ranges::find_if(known, [&](const auto& place) {
        if (place.first != id) return false;
        return place.second == axis ||
               (axis != nullptr && place.second != nullptr && *place.second == *axis);
      });
      term.places.push_back(static_cast<std::size_t>(at - known.begin()));
      if (at != known.end()) continue;
      known.emplace_back(id, axis);
      ResidualColumn<Int128> column = {.same = 1, .apart = 0};
      if (axis != nullptr) {
        column.same = 0;
        for (const auto& pair : extremes_of(*axis).l2) {
          column.same = std::max(column.same, pair.first);
          column.apart = std::min(column.apart, pair.common);
        }
      }
      columns.push_back(column);
    }
    terms.push_back(std::move(term));
  }
  return static_cast<UInt128>(largest_residual_distance<Int128>(terms, columns, threads));
}

}  // namespace

QuerySensitivity sensitivity_of(const LinearQuery& query, const Domain& domain,
                                const PrivacyUnit& unit, double most_steps) {
  return for_people(extremes_of(query, domain, most_steps), unit);
}

QuerySensitivity sensitivity_of(std::span<const WeightedQuery> queries, const Domain& domain,
                                const PrivacyUnit& unit, const Threads& threads) {
  Extremes all;
  for (const auto& [query, weight] : queries) {
    check(weight >= 1 && weight <= std::int64_t{1} << 30, "a weight is 1 to 2^30");
    const auto w = static_cast<UInt128>(weight);
    const Extremes one = extremes_of(query, domain, kMostComparisons);
    all.l1_norm = plus(all.l1_norm, times(w, one.l1_norm));
    all.l1_distance = plus(all.l1_distance, times(w, one.l1_distance));
    all.l2_norm = plus(all.l2_norm, times(times(w, w), one.l2_norm));
    all.l2_distance = plus(all.l2_distance, times(times(w, w), one.l2_distance));
    all.entry = std::max(all.entry, times(w, one.entry));
    all.entry_range = std::max(all.entry_range, times(w, one.entry_range));
    if (mutant(Mutant::LargestOfStack)) {
      all.l2_norm = times(times(w, w), one.l2_norm);
      all.l2_distance = times(times(w, w), one.l2_distance);
    }
  }
  // Each query's worst pair of rows need not be the same: together they may be nearer.
  if (unit.neighbors == Neighbors::ReplaceOne && are_products(queries)) {
    const auto together = distance_together(queries, all.l2_norm, threads);
    if (together) all.l2_distance = std::min(all.l2_distance, *together);
  }
  return for_people(all, unit);
}

}  // namespace tandem
