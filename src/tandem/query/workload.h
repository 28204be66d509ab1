// SPDX-License-Identifier: Apache-2.0
#pragma once
// The queries that matter: groups of queries over a domain, each with a name and a weight.
//
// Today every group is of marginals; another kind of query is another alternative of QueryGroup,
// and mechanisms on marginals go on asking for cliques().
//
// Written on the command line as `all-3way`, `random-3way:COUNT:SEED`, or the path of a JSON or
// TOML file (docs/formats.md). A workload too large to hold is refused before any work.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tandem/base/document.h"
#include "tandem/data/clique.h"
#include "tandem/data/domain.h"

namespace tandem {

struct WeightedClique {
  Clique clique;
  double weight = 1.0;
};

struct Marginals {
  std::vector<WeightedClique> cliques;
};

// Queries of one kind under one name. The weight multiplies those of its queries.
struct QueryGroup {
  std::string name;  // of a workload's only group: may be empty
  double weight = 1.0;
  std::variant<Marginals> queries;
};

inline constexpr std::size_t kMostMarginals = 1'000'000;
inline constexpr std::size_t kMostCellsOfMarginal = std::size_t{1} << 27;

class Workload {
 public:
  Workload() = default;
  // Over `domain`. A clique that is named twice, in one group or in several, counts once in
  // cliques(), with the sum of its weights.
  Workload(Domain domain, std::string name, std::vector<QueryGroup> groups);
  Workload(Domain domain, std::string name, std::vector<WeightedClique> cliques);  // one group

  static Workload all_k_way(const Domain& domain, std::size_t k);
  // `count` different k-way marginals, drawn evenly; all of them when there aren't more.
  static Workload random_k_way(const Domain& domain, std::size_t k, std::size_t count,
                               std::uint64_t seed);
  static Workload parse(const Domain& domain, const std::string& spec);
  static Workload from_document(const Domain& domain, const Document& document, std::string name);

  const Domain& domain() const { return domain_; }
  const std::string& name() const { return name_; }
  std::span<const QueryGroup> groups() const { return groups_; }
  // The marginals of all groups, with their groups' weights; sorted by size, then attributes.
  std::span<const WeightedClique> cliques() const { return cliques_; }
  std::size_t size() const { return cliques_.size(); }
  std::size_t queries() const { return queries_; }  // cells of all marginals

  std::string digest() const;  // SHA-256 of the groups, whatever the workload is called

  // Every nonempty part of every clique, smaller ones first.
  std::vector<Clique> downward_closure() const;

 private:
  Domain domain_;
  std::string name_;
  std::vector<QueryGroup> groups_;
  std::vector<WeightedClique> cliques_;
  std::size_t queries_ = 0;
};

}  // namespace tandem
