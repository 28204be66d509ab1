// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order in which graphical models keep the axes of their tables: small attributes first.
//
// The innermost axis is then the largest of a clique, so that the inner loops are long; and one
// order for all cliques means that no sum or product between two of them has to transpose. Factors
// keep the order of their attributes; they are transposed on the way in and out.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/data/clique.h"
#include "tandem/data/domain.h"
#include "tandem/model/tables/axis_plan.h"

namespace tandem {

class AxisOrder {
 public:
  explicit AxisOrder(Domain domain);

  const Domain& domain() const { return domain_; }
  std::vector<AttributeId> axes(const Clique& clique) const;  // its attributes in this order

  // Between a clique and one inside it, both in this order.
  AxisPlan plan(const Clique& large, const Clique& small) const;

  // Cells of a factor (in its clique's own order) into this order, and back.
  void arrange(const Clique& clique, std::span<const double> factor, std::span<double> out) const;
  void restore(const Clique& clique, std::span<const double> arranged, std::span<double> out) const;

 private:
  Domain domain_;
  std::vector<std::size_t> rank_;  // of each attribute
};

// How a table lies in memory: the cells of its last `inner` axes follow each other, and such runs
// of them begin every `stride` cells.
struct Runs {
  std::size_t inner = 0;
  std::size_t stride = 1;
};

// Copies a table whose axes are `from` (last fastest) into the order `to` of the same axes; without
// `Runs` all cells follow each other.
void transpose(const Domain& domain, std::span<const AttributeId> from,
               std::span<const AttributeId> to, const double* in, double* out,
               const Runs& read = {}, const Runs& written = {});

// An attribute that has one code.
struct FixedCode {
  AttributeId id = 0;
  Code code = 0;
};

// Copies the cells of a table (its axes are `from`, last fastest) in which some attributes have the
// codes that are fixed; the others stay in their order.
void copy_part(const Domain& domain, std::span<const AttributeId> from,
               std::span<const FixedCode> at, const double* in, double* out);

}  // namespace tandem
