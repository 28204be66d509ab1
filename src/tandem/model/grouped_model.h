// SPDX-License-Identifier: Apache-2.0
#pragma once
// A model for each group of rows, told apart by the values of key columns.
//
// A group has its values of the key, a number of rows, and a model of the other columns. What is
// asked of all groups together is the sum over them; a group that isn't there has no rows. Costs
// what the groups' models do.

#include <memory>
#include <vector>

#include "tandem/model/model.h"

namespace tandem {

class ModelReader;

class GroupedModel final : public Model {
 public:
  struct Group {
    std::vector<Code> key;         // of each key column, in the order of the domain
    double rows = 0.0;             // positive
    std::unique_ptr<Model> model;  // of the other columns, of any total
  };
  // At least one key column, one other and one group; keys are different.
  GroupedModel(Domain domain, Clique key, std::vector<Group> groups);

  const Domain& domain() const override { return domain_; }
  double total() const override { return total_; }  // rows of all groups
  const Clique& key() const { return key_; }
  const std::vector<Group>& groups() const { return groups_; }

  Factor project(const Clique& clique) const override;
  std::vector<Factor> project_all(std::span<const Clique> cliques) const override;
  // Each group gives its share of the rows, to within one; in random order.
  Table sample(std::size_t rows, Rng& rng) const override;
  // Groups then weigh by how many of the wanted rows they have; the total stays.
  std::unique_ptr<Model> given(const Restriction& only) const override;
  bool rows_are_exact() const override;
  bool write(ModelWriter& out) const override;
  static std::unique_ptr<Model> read(const ModelReader& in);

 private:
  Domain domain_;
  Clique key_;
  Clique others_;
  std::vector<Group> groups_;  // in order of their keys
  double total_ = 0.0;
};

}  // namespace tandem
