// SPDX-License-Identifier: Apache-2.0
#pragma once
// Marginals of any cliques from a calibrated junction tree, with shared work.
//
// A clique inside one of the tree's is a sum. For any other, its attributes meet in one clique of
// the tree: what lies beyond a separator comes to it as a conditional probability, which is worked
// out once for each attribute and direction. The last step is one matrix product, whose left side
// is shared by all that differ in the last attribute only.

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/contraction.h"
#include "tandem/model/graphical_model.h"

namespace tandem {

class TreeMarginals {
 public:
  explicit TreeMarginals(const GraphicalModel& model);  // borrowed

  // Probabilities, in the cliques' own order of cells.
  std::vector<Factor> project(std::span<const Clique> cliques, Threads threads);

 private:
  // An attribute on its way from a clique of the tree to a neighbour.
  using Single = std::pair<std::pair<std::size_t, std::size_t>, AttributeId>;

  // How a clique's marginal is put together.
  struct Route {
    std::size_t meet = 0;  // the clique of the tree
    std::size_t last = 0;  // the neighbour whose side comes in last, or `meet` if none is needed
    Clique first_part;     // what is not beyond `last`
    Clique last_part;
    std::size_t query = 0;
  };

  Route route(const Clique& clique) const;
  const Clique& separator(std::size_t a, std::size_t b) const;  // of neighbours
  std::vector<std::pair<std::size_t, Clique>> branches(std::size_t meet, const Clique& part) const;
  ArrangedTable sum_of(std::size_t clique, const Clique& onto) const;
  // P(part, separator) as seen from `from`, where `part` is not beyond `to`.
  // Multiplications that joint() takes, without the conditionals that are worked out once.
  double work(std::size_t from, std::size_t to, const Clique& part) const;
  ArrangedTable joint(std::size_t from, std::size_t to, const Clique& part) const;
  // P(part | separator); worked out once for a single attribute.
  ArrangedTable conditional(std::size_t from, std::size_t to, const Clique& part) const;
  std::size_t list_singles(std::size_t from, std::size_t to, const Clique& part,
                           std::map<Single, std::size_t>& levels) const;
  void prepare(const std::map<Single, std::size_t>& levels, Threads threads);

  const GraphicalModel& model_;
  std::vector<std::vector<std::size_t>> toward_;  // [clique][attribute]: a neighbour, or itself
  std::map<Single, ArrangedTable> singles_;
};

}  // namespace tandem
