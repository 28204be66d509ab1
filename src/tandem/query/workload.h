// SPDX-License-Identifier: Apache-2.0
#pragma once
// The queries that matter: weighted marginals over a domain.
//
// Written on the command line as `all-3way`, `random-3way:COUNT:SEED`, or the path of a JSON or
// TOML file (docs/formats.md). A workload too large to hold is refused before any work.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/data/clique.h"
#include "tandem/data/domain.h"

namespace tandem {

struct WeightedClique {
  Clique clique;
  double weight = 1.0;
};

inline constexpr std::size_t kMostMarginals = 1'000'000;
inline constexpr std::size_t kMostCellsOfMarginal = std::size_t{1} << 27;

class Workload {
 public:
  Workload() = default;
  // Marginals over `domain`; a clique named twice counts once, with the sum of its weights.
  Workload(Domain domain, std::string name, const std::vector<WeightedClique>& cliques);

  static Workload all_k_way(const Domain& domain, std::size_t k);
  // `count` different k-way marginals, drawn evenly; all of them when there aren't more.
  static Workload random_k_way(const Domain& domain, std::size_t k, std::size_t count,
                               std::uint64_t seed);
  static Workload parse(const Domain& domain, const std::string& spec);
  static Workload from_document(const Domain& domain, const Document& document, std::string name);

  const Domain& domain() const { return domain_; }
  const std::string& name() const { return name_; }
  std::span<const WeightedClique> cliques() const { return cliques_; }
  std::size_t size() const { return cliques_.size(); }
  std::size_t queries() const { return queries_; }  // cells of all marginals

  std::string digest() const;  // SHA-256 of the marginals and their weights, whatever the name

  // Every nonempty part of every clique, smaller ones first.
  std::vector<Clique> downward_closure() const;

 private:
  Domain domain_;
  std::string name_;
  std::vector<WeightedClique> cliques_;  // sorted by size, then attributes
  std::size_t queries_ = 0;
};

}  // namespace tandem
