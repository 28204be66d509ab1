// SPDX-License-Identifier: Apache-2.0
#pragma once
// Weights on different rows: a distribution over a public support, reweighted step by step.
//
// Weights are kept unnormalised beside their sum, so that a step touches only the rows it changes:
// all others follow by the sum. The average of the distributions after each step is kept in the
// same way, exactly: a row's weight is added up when it changes. Costs 32 bytes a row, and the rows
// themselves.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tandem/model/histogram/support.h"
#include "tandem/model/model.h"
#include "tandem/query/linear_query.h"

namespace tandem {

class SupportHistogram final : public Model {
 public:
  // Projections sum to `total` > 0. Fewer than 2^32 rows.
  SupportHistogram(Support support, double total);

  // ---- As a model ----
  const Domain& domain() const override { return rows_.domain(); }
  double total() const override { return total_; }
  Factor project(const Clique& clique) const override;
  std::vector<Factor> project_all(std::span<const Clique> cliques) const override;
  // Each row of the support as often as its weight says, to within one: systematic rounding.
  Table sample(std::size_t rows, Rng& rng) const override;
  bool rows_are_exact() const override { return true; }
  std::unique_ptr<Model> given(const Restriction& only) const override;
  bool write(ModelWriter& out) const override;

  SupportHistogram only(const Restriction& restriction) const;  // given() as a value
  // Its codes and weights, as those of a group of columns of a larger domain.
  void write_as(const Clique& group, ModelWriter& out) const;

  const Table& rows() const { return rows_; }
  // How many rows one unit of weight stands for.
  double unit() const { return total_ / sum_; }
  std::span<const double> weights() const { return weights_; }

  // ---- Reweighting ----
  std::vector<std::uint32_t> rows_in(const Cell& cell) const;  // where the cell's query is 1
  double count(std::span<const std::uint32_t> rows) const;     // expected number of them
  // A(x) proportional to A(x) exp(exponent) on these rows, A(x) elsewhere.
  void reweight(std::span<const std::uint32_t> rows, double exponent);

  // What changed since the last call: rows, and by how much, in weights. After a change of unit
  // that touched every weight, `all` is set and the rows aren't listed.
  struct Changes {
    std::vector<std::uint32_t> rows;
    std::vector<double> by;
    bool all = false;
  };
  Changes take_changes();

  // Adds the rows up anew and makes the unit 1, so that rounding errors do not grow.
  void renormalize();

  // ---- The average of distributions ----
  void add_to_average();             // the present distribution
  SupportHistogram average() const;  // of all that were added; at least one

 private:
  void settle(std::size_t row);  // adds what the row's weight has earned since it last changed

  Table rows_;
  double total_;
  std::vector<double> weights_;
  double sum_ = 0.0;
  double peak_ = 0.0;  // the largest sum since it was added up anew

  // Distributions so far that row x had weight w in: earned_[x] + w (clock_ - since_[x]), where the
  // clock adds up the unit of each.
  std::vector<double> earned_;
  std::vector<double> since_;
  double clock_ = 0.0;
  std::size_t averaged_ = 0;

  std::vector<std::uint32_t> changed_;  // rows, each once
  std::vector<double> before_;          // their weights at the last take_changes
  std::vector<std::uint8_t> is_changed_;
  bool all_changed_ = false;
};

}  // namespace tandem
