// SPDX-License-Identifier: Apache-2.0
#include "tandem/mechanism/rounds/common.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "tandem/base/check.h"
#include "tandem/base/error.h"
#include "tandem/base/text.h"

namespace tandem {

std::vector<LinearQuery> one_way_marginals(const Domain& domain) {
  std::vector<LinearQuery> queries;
  for (AttributeId id = 0; id < domain.size(); ++id) queries.push_back({Clique{id}});
  return queries;
}

std::optional<double> public_total(Curator& curator) {
  const LinearQuery total{Clique{}};
  const Cost nothing;
  if (!curator.unit().keeps_rows()) return std::nullopt;
  const double rows = curator.measure(total, nothing).values.front();
  if (rows < 1.0) throw UsageError("The private table has no rows; give one with at least one.");
  return rows;
}

void require_questions(const Problem& problem) {
  for (const auto& [clique, weight] : problem.workload.cliques()) {
    if (problem.domain.cells(clique) > 1) return;
  }
  throw UsageError(
      "The workload names no column with more than one value, so there is nothing to select; name "
      "others.");
}

double measure_total(Curator& curator, Release& release, double share) {
  if (const auto n = public_total(curator)) return release.total = *n;
  release.measurements.push_back(
      curator.measure(LinearQuery{Clique{}}, curator.remaining() * share));
  return release.total = std::max(1.0, release.measurements.back().values.front());
}

namespace {

std::vector<Cost> even_costs(Cost left, std::size_t count) {
  std::vector<Cost> costs;
  for (std::size_t i = count; i > 0; --i) {
    const auto [mine, rest] = left.split(1.0 / static_cast<double>(i));
    costs.push_back(mine);
    left = rest;
  }
  return costs;
}

}  // namespace

std::vector<Measurement> measure_to_the_end(Curator& curator,
                                            std::span<const LinearQuery> queries) {
  return curator.measure_all(queries, even_costs(curator.remaining(), queries.size()));
}

std::vector<Measurement> measure_to_the_end(Curator& curator, std::span<const LinearQuery> queries,
                                            NoiseKind noise) {
  return curator.measure_all(queries, even_costs(curator.remaining(), queries.size()), noise);
}

double estimate_total(std::span<const Measurement> marginals) {
  check(!marginals.empty(), "a total is estimated from at least one marginal");
  double weighted = 0.0;
  double weights = 0.0;
  for (const auto& marginal : marginals) {
    check(marginal.query.map.is_identity() && marginal.sigma > Sigma(0.0),
          "a total is estimated from noisy marginals");
    const double variance = static_cast<double>(marginal.values.size()) * marginal.sigma.value() *
                            marginal.sigma.value();
    weighted += std::accumulate(marginal.values.begin(), marginal.values.end(), 0.0) / variance;
    weights += 1.0 / variance;
  }
  return std::max(1.0, weighted / weights);
}

std::vector<Warning> public_data_warnings(const Problem& problem) {
  std::vector<Warning> warnings;
  std::size_t rows = 0;
  std::vector<std::string> lacking;
  for (AttributeId id = 0; id < problem.domain.size(); ++id) {
    std::vector<bool> seen(problem.domain[id].size, false);
    for (const auto& source : problem.public_data.tables) {
      if (id == 0) rows += source.table.rows();
      source.table.column(id).visit([&](auto codes) {
        for (const auto code : codes) seen[code] = true;
      });
    }
    if (std::ranges::find(seen, false) != seen.end()) lacking.push_back(problem.domain[id].name);
  }
  if (!lacking.empty()) {
    warnings.push_back(
        {"public.lacks_values",
         fmt::format(
             "The public data never shows some values of {}; the release can't contain them.",
             list_names(lacking, 8))});
  }
  if (rows == 1) {
    warnings.push_back(
        {"public.single_row", "The public data has a single row, and the release is that row."});
  }
  return warnings;
}

}  // namespace tandem
