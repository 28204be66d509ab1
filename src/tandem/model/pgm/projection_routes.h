// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where in a junction tree the attributes of a clique meet, and what they pass on their way.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tandem/model/pgm/graphical_model.h"

namespace tandem {

class ProjectionRoutes {
 public:
  explicit ProjectionRoutes(const GraphicalModel& model);  // borrowed

  // Attributes that lie beyond one neighbour of a clique of the tree.
  struct Branch {
    std::size_t side = 0;
    std::vector<AttributeId> ids;
  };
  struct Route {
    std::size_t meet = 0;          // the clique of the tree
    Clique here;                   // inside it
    std::vector<Branch> branches;  // the others, in the order of their products
    double work = 0.0;             // about, in multiplications; 0 where it wasn't weighed
  };

  // By way of the clique where putting the marginal together costs least, or about that.
  Route route(const Clique& clique) const;
  Route from(std::size_t meet, std::span<const AttributeId> ids) const;

  // One attribute of a clique that another, which is a separator by itself, keeps apart from the
  // rest: P(clique) is the sum of P(gone | by) P(rest, by) over the codes of `by`.
  struct StandIn {
    AttributeId gone = 0;
    AttributeId by = 0;
  };
  std::vector<StandIn> stand_ins(const Clique& clique) const;

  // A neighbour beyond which the attribute is, or the clique itself.
  std::size_t toward(std::size_t clique, AttributeId id) const {
    return toward_[clique * attributes_ + id];
  }
  // From a clique of the tree to a neighbour, as a number below edges().
  std::size_t edge(std::size_t from, std::size_t to) const {
    return from != 0 && parent(from) == to ? 2 * from : 2 * to + 1;
  }
  std::size_t edges() const { return 2 * model_.tree().cliques.size(); }
  std::size_t from_of(std::size_t edge) const {
    return edge % 2 == 0 ? edge / 2 : parent(edge / 2);
  }
  std::size_t to_of(std::size_t edge) const { return edge % 2 == 0 ? parent(edge / 2) : edge / 2; }
  const Clique& separator(std::size_t a, std::size_t b) const {  // of neighbours
    return model_.tree().separators[edge(a, b) / 2];
  }
  // Equal for the same separator; small for a wide one.
  std::uint32_t width_class(std::size_t a, std::size_t b) const {
    return class_of_[edge(a, b) / 2];
  }

 private:
  std::size_t parent(std::size_t clique) const { return model_.tree().parent[clique]; }
  const std::uint64_t* separator_bits(std::size_t a, std::size_t b) const {
    return bits_.data() + edge(a, b) / 2 * words_;
  }
  double cells(std::size_t word, std::uint64_t set) const;
  std::pair<std::size_t, double> next_side(std::size_t meet, std::span<const std::size_t> sides,
                                           std::span<const std::uint64_t> keep) const;
  double work(std::size_t from, std::size_t to, std::span<const AttributeId> ids) const;

  const GraphicalModel& model_;
  std::size_t attributes_;
  std::vector<std::uint32_t> toward_;  // [clique][attribute]
  std::vector<std::uint32_t> class_of_;
  std::size_t words_;
  std::vector<std::uint64_t> bits_;  // of each clique's separator, as a set
  std::vector<std::size_t> narrow_;  // edges whose separator is one attribute
};

}  // namespace tandem
