// SPDX-License-Identifier: Apache-2.0
#pragma once
// Belief propagation on a junction tree: from potentials on some cliques to all their marginals.
//
// A distribution is kept as its base (for each clique of the tree the probability of the clique
// given what it shares with its parent) times the exponentials of the potentials. Bases are
// conditional probabilities, so products of them stay in range and everything runs in linear space;
// only setting a base from arbitrary potentials goes through logarithms. Potentials and separators
// that lie inside one another are folded together before they meet the large tables. Nothing is
// allocated after construction. One thread.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/model/axis_order.h"
#include "tandem/model/junction_tree.h"

namespace tandem {

class BeliefPropagation {
 public:
  // `factors`: where potentials live, each inside a clique of the tree, none twice.
  BeliefPropagation(const Domain& domain, JunctionTree tree, std::vector<Clique> factors);

  const AxisOrder& order() const { return order_; }
  const JunctionTree& tree() const { return tree_; }
  std::span<const Clique> factors() const { return factors_; }

  // The potential of each factor: written by the caller, cells in `order()`.
  std::span<double> potential(std::size_t factor);
  std::span<const double> potential(std::size_t factor) const;

  // Base = exp(sum of potentials), normalised, in logarithms throughout: potentials may be of any
  // size, and minus infinity for what can't be. Its marginals are then known as after propagate(),
  // and the potentials are zero. Returns log Z; minus infinity when nothing can be.
  double set_base();

  // Marginals of base * exp(sum of potentials). Returns log Z, the logarithm of its sum; not finite
  // when potentials are too large for linear space (hundreds of units), and then nothing else
  // holds.
  double propagate();

  // base * exp(sum of potentials), which propagate() can do, becomes the base. Its marginals are
  // then known, and the potentials zero.
  void rebase();

  // After propagate(): probabilities, cells in `order()`.
  std::span<const double> marginal(std::size_t factor) const;
  std::span<const double> belief(std::size_t clique) const;

  // The largest sum of potentials that any row has, whatever its probability: a linear program
  // over all distributions. Overwrites what propagate() found.
  double largest_row();

 private:
  // A table inside a clique of the tree: of a factor, of separators to children, or of both.
  struct Node {
    Clique clique;
    std::size_t owner = 0;              // its clique in the tree
    std::size_t into = 0;               // the node it folds into, or kWhole: the clique itself
    std::size_t factor = 0;             // or kNone
    std::vector<std::size_t> children;  // cliques whose separator it is
    AxisPlan plan;                      // from `into` to this
    std::size_t start = 0;              // in node_values_
  };

  std::span<double> values(const Node& node);
  std::span<double> belief_values(std::size_t clique);
  std::span<double> message(std::size_t clique);
  void build_nodes();
  void gather_logs(std::size_t clique);
  double upward();
  void downward(bool from_base);

  AxisOrder order_;
  JunctionTree tree_;
  std::vector<Clique> factors_;

  std::vector<Node> nodes_;              // by owner; within it small tables first
  std::vector<std::size_t> first_node_;  // of each clique, and the end
  std::vector<std::size_t> node_of_factor_;
  std::vector<std::size_t> node_of_separator_;  // in the parent
  std::vector<AxisPlan> to_parent_;             // from a clique to its separator

  std::vector<std::size_t> clique_start_;   // in base_ and belief_, and the end
  std::vector<std::size_t> message_start_;  // in message_, and the end
  std::vector<std::size_t> potential_start_;
  std::vector<double> base_, belief_, message_, node_values_, potential_;
  std::vector<double> scale_;    // of each clique: message * 1/scale is the sum of its belief
  std::vector<double> scratch_;  // for the largest separator
};

}  // namespace tandem
