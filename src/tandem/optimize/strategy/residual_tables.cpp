// SPDX-License-Identifier: Apache-2.0
#include "tandem/optimize/strategy/residual_tables.h"

#include <utility>

namespace tandem {
namespace {

void go_on(std::span<const std::size_t> sizes, const Clique& clique, std::size_t at,
           std::vector<AttributeId> kept, std::size_t outer, std::span<const double> table,
           const AxisStep& step, const TakePart& take) {
  if (at == clique.size()) {
    take(Clique(std::move(kept)), {table.begin(), table.end()});
    return;
  }
  if (const auto next = step(at, false, table, outer); !next.empty()) {
    go_on(sizes, clique, at + 1, kept, outer, next, step, take);
  }
  if (const auto next = step(at, true, table, outer); !next.empty()) {
    kept.push_back(clique[at]);
    go_on(sizes, clique, at + 1, std::move(kept), outer * sizes[clique[at]], next, step, take);
  }
}

}  // namespace

Clique subset_of(const Clique& clique, std::size_t bits) {
  std::vector<AttributeId> ids;
  for (std::size_t i = 0; i < clique.size(); ++i) {
    if ((bits >> i & 1U) != 0) ids.push_back(clique[i]);
  }
  return Clique(std::move(ids));
}

std::size_t cells_of(std::span<const std::size_t> sizes, const Clique& clique) {
  std::size_t out = 1;
  for (const auto id : clique) out *= sizes[id];
  return out;
}

void centre_along(std::vector<double>& table, std::size_t outer, std::size_t n, std::size_t inner) {
  std::vector<double> mean(inner);
  for (std::size_t o = 0; o < outer; ++o) {
    double* from = table.data() + o * n * inner;
    for (std::size_t t = 0; t < inner; ++t) mean[t] = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t t = 0; t < inner; ++t) mean[t] += from[j * inner + t];
    }
    for (std::size_t t = 0; t < inner; ++t) mean[t] /= static_cast<double>(n);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t t = 0; t < inner; ++t) from[j * inner + t] -= mean[t];
    }
  }
}

std::vector<double> sum_along(std::span<const double> table, std::size_t outer, std::size_t n,
                              std::size_t inner) {
  std::vector<double> out(outer * inner, 0.0);
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t t = 0; t < inner; ++t) {
        out[o * inner + t] += table[(o * n + j) * inner + t];
      }
    }
  }
  return out;
}

std::vector<double> spread_along(std::span<const double> table, std::size_t outer,
                                 std::span<const double> profile, std::size_t inner) {
  const std::size_t n = profile.size();
  std::vector<double> out(outer * n * inner);
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t t = 0; t < inner; ++t) {
        out[(o * n + j) * inner + t] = profile[j] * table[o * inner + t];
      }
    }
  }
  return out;
}

void for_all_parts(std::span<const std::size_t> sizes, const Clique& clique,
                   std::span<const double> table, const AxisStep& step, const TakePart& take) {
  go_on(sizes, clique, 0, {}, 1, table, step, take);
}

std::vector<double> table_from_residuals(std::span<const std::vector<double>> profiles,
                                         const ResidualTables& residuals, const Clique& clique) {
  // From the last column to the first: what is known with the column, which sums to zero along it,
  // and what is known without it, spread over its values, add up to one table for each set of
  // columns before.
  const std::size_t width = clique.size();
  std::vector<std::vector<double>> parts(std::size_t{1} << width);
  for (std::size_t chosen = 0; chosen < parts.size(); ++chosen) {
    if (const auto found = residuals.find(subset_of(clique, chosen)); found != residuals.end()) {
      parts[chosen] = found->second;
    }
  }
  std::size_t inner = 1;
  for (std::size_t i = width; i-- > 0;) {
    const auto& profile = profiles[clique[i]];
    const std::size_t bit = std::size_t{1} << i;
    for (std::size_t chosen = 0; chosen < bit; ++chosen) {
      auto& without = parts[chosen];
      if (!without.empty()) without = spread_along(without, without.size() / inner, profile, inner);
      const auto& with = parts[chosen | bit];
      if (without.empty()) without.resize(with.size(), 0.0);
      for (std::size_t t = 0; t < with.size(); ++t) without[t] += with[t];
    }
    inner *= profile.size();
  }
  parts[0].resize(inner, 0.0);
  return std::move(parts[0]);
}

}  // namespace tandem
