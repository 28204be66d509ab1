// SPDX-License-Identifier: Apache-2.0
#pragma once
// Groups of rows, told apart by the values of key columns, each with a distribution on the same
// rows of the other columns.
//
// Thousands of groups have few numbers of their own: a row's weight in group g is
//   base_s(r) exp(sum_i u_gi[cell_i(r)] + t_g(r)),
// where s is a weighting of the rows that several groups start from, u_gi has a number for each
// cell of marginal i, and t_g is 0 but for few rows. But for these it is equation (3) of
// 'Prior-aware distribution estimation for differential privacy'. Costs the rows once, 8 bytes a
// row and base, 4 a row and marginal, and 8 a group and cell; a question costs a pass over rows and
// marginals for each group.

#include <cstdint>
#include <memory>
#include <vector>

#include "tandem/model/model.h"

namespace tandem {

class ModelReader;

// What the groups have in common.
struct GroupRows {
  Table rows;                              // different ones of the columns outside the key
  std::vector<std::vector<double>> bases;  // weights of the rows: not negative, of positive sum
  std::vector<Clique> marginals;           // of the columns of `rows`, all different
};

// Of one row, an exponent beside those of its cells.
struct RowTilt {
  std::uint32_t row = 0;
  double t = 0.0;
};

class GroupedModel final : public Model {
 public:
  struct Group {
    std::vector<Code> key;        // of each key column, in the order of the domain
    double rows = 0.0;            // positive
    std::uint32_t base = 0;       // which of the bases
    std::vector<double> u;        // of each marginal's cells, marginal after marginal: finite
    std::vector<RowTilt> t = {};  // of different rows, ascending: finite
  };
  // At least one key column, one other, one base and one group; keys are different.
  GroupedModel(Domain domain, Clique key, GroupRows shared, std::vector<Group> groups);

  const Domain& domain() const override { return domain_; }
  double total() const override { return total_; }  // rows of all groups
  const Clique& key() const { return key_; }
  const GroupRows& shared() const { return shared_; }
  const std::vector<Group>& groups() const { return groups_; }
  std::vector<double> weights_of(const Group& group) const;  // they sum to its rows

  Factor project(const Clique& clique) const override;
  // Groups that agree in the key columns of a clique are added up before they are counted.
  std::vector<Factor> project_all(std::span<const Clique> cliques) const override;
  // Each group gives its share of the rows, to within one; in random order.
  Table sample(std::size_t rows, Rng& rng) const override;
  // Groups then weigh by how many of the wanted rows they have; the total stays.
  std::unique_ptr<Model> given(const Restriction& only) const override;
  bool rows_are_exact() const override { return true; }
  bool write(ModelWriter& out) const override;
  static std::unique_ptr<Model> read(const ModelReader& in);

 private:
  Domain domain_;
  Clique key_;
  Clique others_;
  GroupRows shared_;
  std::vector<std::vector<std::uint32_t>> place_;  // of each marginal and row, in a group's u
  std::vector<Group> groups_;                      // in order of their keys
  double total_ = 0.0;
};

}  // namespace tandem
