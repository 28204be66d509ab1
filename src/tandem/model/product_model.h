// SPDX-License-Identifier: Apache-2.0
#pragma once
// Columns that know nothing of each other: the product of one-way marginals.

#include <span>
#include <vector>

#include "tandem/model/model.h"

namespace tandem {

class ModelReader;

class ProductModel final : public Model {
 public:
  // One vector of non-negative weights for each attribute; `total` is what projections sum to.
  ProductModel(Domain domain, std::vector<std::vector<double>> weights, double total);

  const Domain& domain() const override { return domain_; }
  double total() const override { return total_; }
  Factor project(const Clique& clique) const override;
  // Every column has its marginal to within one row; their order is shuffled apart.
  Table sample(std::size_t rows, Rng& rng) const override;
  std::unique_ptr<Model> given(const Restriction& only) const override;
  bool write(ModelWriter& out) const override;
  static std::unique_ptr<Model> read(const ModelReader& in);

  std::span<const double> probabilities(AttributeId id) const { return probabilities_[id]; }

 private:
  Domain domain_;
  std::vector<std::vector<double>> probabilities_;
  double total_;
};

}  // namespace tandem
