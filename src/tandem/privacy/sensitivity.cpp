// SPDX-License-Identifier: Apache-2.0
#include "tandem/privacy/sensitivity.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tandem/base/check.h"
#include "tandem/base/int128.h"
#include "tandem/base/mutant.h"

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
UInt128 times(UInt128 a, UInt128 b) {
  constexpr UInt128 kMost = static_cast<UInt128>(1) << 120;
  if (b != 0 && a > kMost / b) {
    throw UsageError(
        "A strategy's coefficients or the rows a person may have are too large; choose smaller "
        "ones.");
  }
  return a * b;
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

}  // namespace

QuerySensitivity sensitivity_of(const LinearQuery& query, const Domain& domain,
                                const PrivacyUnit& unit, double most_steps) {
  check(unit.rows_per_person >= 1, "a person has at least one row");
  const std::size_t cells = domain.cells(query.clique);
  const Extremes e = query.map.is_identity() ? extremes_of_marginal(cells)
                                             : extremes_of(query.map, cells, most_steps);

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

}  // namespace tandem
