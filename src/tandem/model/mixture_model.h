// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several models of one domain and total, each with a share of the rows.

#include <memory>
#include <vector>

#include "tandem/model/model.h"

namespace tandem {

class ModelReader;

class MixtureModel final : public Model {
 public:
  struct Part {
    double share = 0.0;  // positive; all together 1
    std::unique_ptr<Model> model;
  };
  explicit MixtureModel(std::vector<Part> parts);  // at least one

  const Domain& domain() const override { return parts_.front().model->domain(); }
  double total() const override { return parts_.front().model->total(); }
  const std::vector<Part>& parts() const { return parts_; }
  Factor project(const Clique& clique) const override;
  std::vector<Factor> project_all(std::span<const Clique> cliques) const override;
  // Each part gives its share of the rows, to within one; in random order.
  Table sample(std::size_t rows, Rng& rng) const override;
  // Parts then weigh by how many of the wanted rows they have.
  std::unique_ptr<Model> given(const Restriction& only) const override;
  bool write(ModelWriter& out) const override;
  static std::unique_ptr<Model> read(const ModelReader& in);

 private:
  std::vector<Part> parts_;
};

}  // namespace tandem
