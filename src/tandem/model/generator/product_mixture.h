// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kinds of rows: each has a weight and, for every column, a distribution of its own; within a kind
// columns know nothing of each other. What a generator releases.
//
// Every marginal is exact: a sum over kinds of products, made as one matrix product. Memory is 8
// bytes for each kind and code.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/model.h"

namespace tandem {

class ModelReader;

class ProductMixture final : public Model {
 public:
  // A non-negative weight for each kind, and for each attribute the kinds' non-negative weights of
  // its codes, kind after kind. All are divided by their sums. A kind that gives the codes of some
  // column nothing at all is left out; one kind at least stays.
  ProductMixture(Domain domain, std::vector<double> weights,
                 std::vector<std::vector<double>> probabilities, double total,
                 Threads threads = {});

  const Domain& domain() const override { return domain_; }
  double total() const override { return total_; }
  std::size_t kinds() const { return weights_.size(); }
  std::span<const double> weights() const { return weights_; }  // sum to 1
  // Kind after kind, each summing to 1.
  std::span<const double> probabilities(AttributeId id) const { return probabilities_[id]; }

  Factor project(const Clique& clique) const override;
  std::vector<Factor> project_all(std::span<const Clique> cliques) const override;
  // Each kind has its share of the rows, and each column of a kind its distribution, to within one
  // row; expectations are exact.
  Table sample(std::size_t rows, Rng& rng) const override;
  // Kinds then weigh by how many of the wanted rows they have.
  std::unique_ptr<Model> given(const Restriction& only) const override;
  bool write(ModelWriter& out) const override;
  static std::unique_ptr<Model> read(const ModelReader& in);

 private:
  Domain domain_;
  std::vector<double> weights_;
  std::vector<std::vector<double>> probabilities_;
  double total_;
  Threads threads_;
};

}  // namespace tandem
