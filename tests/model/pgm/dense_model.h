// SPDX-License-Identifier: Apache-2.0
#pragma once
// Graphical models the slow and obvious way: one number for every possible row.

#include <rapidcheck.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "support/random_tables.h"
#include "tandem/query/cell_map.h"
#include "tandem/query/factor.h"

namespace tandem::test {

// exp(sum of potentials) over the whole domain, normalised to `total`.
inline Factor dense_model(const Domain& domain, std::span<const Factor> potentials, double total) {
  Factor out{domain.all(), std::vector<double>(domain.cells(domain.all()), 0.0)};
  for (const auto& potential : potentials) {
    for_each_cell(domain, out.clique, potential.clique, [&](std::size_t cell, std::size_t part) {
      out.values[cell] += potential.values[part];
    });
  }
  double largest = out.values.front();
  for (const double value : out.values) largest = std::max(largest, value);
  double sum = 0.0;
  for (double& value : out.values) sum += value = std::exp(value - largest);
  for (double& value : out.values) value *= total / sum;
  return out;
}

// A few cliques of a small domain with potentials of the given spread.
inline std::vector<Factor> any_potentials(const Domain& domain, double spread,
                                          std::size_t most = 5) {
  std::vector<Factor> out;
  const auto count = *rc::gen::inRange<std::size_t>(0, most + 1);
  auto state = *rc::gen::arbitrary<std::uint64_t>();
  for (std::size_t i = 0; i < count; ++i) {
    Factor factor{any_clique(domain, 60), {}};
    for (std::size_t cell = 0; cell < domain.cells(factor.clique); ++cell) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      factor.values.push_back(spread * (static_cast<double>(state >> 11) * 0x1.0p-52 - 1.0));
    }
    out.push_back(std::move(factor));
  }
  return out;
}

inline bool near(const Factor& left, const Factor& right, double tolerance) {
  if (left.clique != right.clique || left.values.size() != right.values.size()) return false;
  for (std::size_t i = 0; i < left.values.size(); ++i) {
    if (!(std::abs(left.values[i] - right.values[i]) <= tolerance)) return false;
  }
  return true;
}

}  // namespace tandem::test
