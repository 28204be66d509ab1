// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/public/public_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/model/pgm/tilted_pgm.h"
#include "tandem/query/counting.h"

namespace tandem {
namespace {

// The cliques and all their nonempty parts, in order and each once.
std::vector<Clique> with_parts(std::span<const Clique> cliques) {
  std::vector<Clique> out;
  for (const auto& clique : cliques) {
    const auto inside = subsets(clique);
    out.insert(out.end(), inside.begin(), inside.end());
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

std::uint64_t repeats_in(const Table& table) {
  std::uint64_t all = 0;
  for (const auto count : distinct_rows(table).multiplicity) all = std::gcd(all, count);
  return std::max<std::uint64_t>(1, all);
}

PublicCounts::PublicCounts(std::span<const PublicTable> tables, Threads threads)
    : tables_(tables), threads_(threads) {
  check(!tables.empty(), "public counts are of at least one table");
  for (const auto& [name, table] : tables_) {
    repeats_.push_back(static_cast<double>(repeats_in(table)));
    rows_ += static_cast<double>(table.rows()) / repeats_.back();
  }
}

void PublicCounts::prepare(std::span<const Clique> cliques) {
  std::vector<Clique> missing;
  for (const auto& clique : cliques) {
    if (!known_.contains(clique)) missing.push_back(clique);
  }
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    auto counted = count_marginals(tables_[t].table, missing, threads_);
    for (auto& factor : counted) {
      for (double& value : factor.values) value /= repeats_[t];
      const auto at = known_.find(factor.clique);
      if (at == known_.end()) {
        Clique clique = factor.clique;
        known_.emplace(std::move(clique), std::move(factor));
        continue;
      }
      for (std::size_t i = 0; i < factor.values.size(); ++i) {
        at->second.values[i] += factor.values[i];
      }
    }
  }
}

void PublicCounts::forget(std::span<const Clique> cliques) {
  for (const auto& clique : cliques) known_.erase(clique);
}

const Factor& PublicCounts::at(const Clique& clique) {
  const auto known = known_.find(clique);
  if (known != known_.end()) return known->second;
  prepare(std::span(&clique, 1));
  return known_.at(clique);
}

PublicModel::PublicModel(std::span<const PublicTable> tables, double ridge, Threads threads)
    : counts_(tables, threads),
      ridge_(ridge),
      threads_(threads),
      model_(tables.front().table.domain(), std::max(1.0, counts_.rows())) {
  check(ridge > 0.0, "a public model has a ridge");
}

void PublicModel::fit(std::span<const Clique> wanted, double tolerance) {
  const auto cliques = with_parts(wanted);
  if (cliques == fitted_ || rows() == 0.0) return;
  counts_.prepare(cliques);
  std::vector<Measurement> marginals;
  for (const auto& clique : cliques) {
    Measurement marginal;
    marginal.query = {clique};
    marginal.values = counts_.at(clique).values;
    marginal.sigma = Sigma(std::sqrt(ridge_));
    marginal.origin = Origin::Public;
    marginals.push_back(std::move(marginal));
  }
  auto found = tilt_pgm(counts_.domain(), marginals, rows(), {}, rows(), multipliers_,
                        {.tolerance = tolerance, .threads = threads_});
  multipliers_ = std::move(found.multipliers);
  model_ = std::move(found.model);
  fitted_ = cliques;
}

}  // namespace tandem
