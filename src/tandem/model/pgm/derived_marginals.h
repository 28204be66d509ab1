// SPDX-License-Identifier: Apache-2.0
#pragma once
// Marginals that follow from others that are asked for as well.
//
// Where one attribute stands between another and the rest of a marginal (an industry and its
// branch, a district and its density), P(gone, rest) is the sum of P(gone | by) P(by, rest): one
// small product, however large the tables on the way from one to the other.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/pgm/projection_routes.h"
#include "tandem/model/tables/axis_order.h"

namespace tandem {

class DerivedMarginals {
 public:
  // routes[i] is that of cliques[i]; those that are cheap stay as they are.
  DerivedMarginals(const ProjectionRoutes& tree, std::span<const Clique> cliques,
                   std::span<const ProjectionRoutes::Route* const> routes);

  bool contains(std::size_t number) const { return is_derived_[number] != 0; }
  // Fills in those that it contains from the others.
  void derive(const AxisOrder& order, std::span<const Clique> cliques, Threads threads,
              std::span<Factor> out) const;

 private:
  struct Derived {
    std::size_t number = 0;
    std::size_t rest = 0, pair = 0;  // P(by, rest) and P(gone, by)
    AttributeId by = 0;
    std::size_t level = 0;  // above those it follows from
  };
  std::vector<Derived> derived_;  // in the order of their levels
  std::vector<char> is_derived_;
};

}  // namespace tandem
