// SPDX-License-Identifier: Apache-2.0
#pragma once
// The queries that matter: groups of queries over a domain, each with a name and a weight.
//
// A group is of marginals, of products of queries on columns (ranges of ages by area), or of
// conjunctions. Mechanisms on marginals ask for cliques(), planners of answers for products(), and
// those on single queries for conjunctions().
//
// Written on the command line as `all-3way`, `random-3way:COUNT:SEED`, `all-range:COLUMN`,
// `conjunctions:WIDTH:COUNT:SEED`, or the path of a file (docs/formats.md). A workload too large to
// hold is refused before any work.

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
#include "tandem/query/conjunctions.h"
#include "tandem/query/product_queries.h"

namespace tandem {

struct WeightedClique {
  Clique clique;
  double weight = 1.0;
};

struct Marginals {
  std::vector<WeightedClique> cliques;
};

struct Products {
  std::vector<ProductQueries> items;
};

// Queries of one kind under one name. The weight multiplies those of its queries.
struct QueryGroup {
  std::string name;  // of a workload's only group: may be empty
  double weight = 1.0;
  std::variant<Marginals, Products, ConjunctionFile> queries;
};

// Queries of a product, with the group that they stand in and its weight in theirs.
struct NamedProduct {
  std::string group;
  ProductQueries queries;
};

inline constexpr std::size_t kMostMarginals = 1'000'000;
inline constexpr std::size_t kMostCellsOfMarginal = std::size_t{1} << 27;

class Workload {
 public:
  Workload() = default;
  // Over `domain`. A clique that is named twice, in one group or in several, counts once in
  // cliques(), with the sum of its weights.
  // REQUIRES: a group of conjunctions is the only one.
  Workload(Domain domain, std::string name, std::vector<QueryGroup> groups);
  Workload(Domain domain, std::string name, std::vector<WeightedClique> cliques);  // one group

  static Workload all_k_way(const Domain& domain, std::size_t k);
  // `count` different k-way marginals, drawn evenly; all of them when there aren't more.
  static Workload random_k_way(const Domain& domain, std::size_t k, std::size_t count,
                               std::uint64_t seed);
  static Workload all_ranges(const Domain& domain, AttributeId attribute);
  static Workload of_conjunctions(const Domain& domain, std::string name, ConjunctionFile file);
  static Workload parse(const Domain& domain, const std::string& spec);
  static Workload from_document(const Domain& domain, const Document& document, std::string name);

  const Domain& domain() const { return domain_; }
  const std::string& name() const { return name_; }
  std::span<const QueryGroup> groups() const { return groups_; }
  // The marginals of all groups, with their groups' weights; sorted by size, then attributes. A
  // product stands there by the marginal that its queries sum up. Of conjunctions there are none.
  std::span<const WeightedClique> cliques() const { return cliques_; }
  std::size_t size() const { return cliques_.size(); }
  // Cells of all marginals; or conjunctions, those that occur twice counted twice.
  std::size_t queries() const { return queries_; }
  // Everything but conjunctions, in the order of the groups: a marginal is a product of identities.
  std::vector<NamedProduct> products() const;
  // Null where the workload is not one of conjunctions.
  const ConjunctionSet* conjunctions() const;
  // The share of rows that fulfil each conjunction, where a file states it; otherwise empty.
  std::span<const double> stated_answers() const;

  // What drawing the conjunctions that this asks for takes, in bytes, from above; 0 for other
  // forms.
  static double bytes_to_draw(const std::string& spec);

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
