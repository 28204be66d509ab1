// SPDX-License-Identifier: Apache-2.0
#pragma once
// Belief propagation on a junction tree: from potentials on some cliques to all their marginals.
//
// A distribution is kept as its base (for each clique of the tree the probability of the clique
// given what it shares with its parent) times the exponentials of the potentials. Bases are
// conditional probabilities, so products of them stay in range and everything runs in linear space;
// only setting a base from arbitrary potentials goes through logarithms. Potentials and separators
// that lie inside one another are folded together before they meet the large tables, and those are
// worked through slice by slice (clique_slices.h), by several threads where they are large.
// Nothing is allocated after construction.

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tandem/base/team.h"
#include "tandem/model/pgm/junction_tree.h"
#include "tandem/model/pgm/propagation_slices.h"
#include "tandem/model/tables/axis_order.h"

namespace tandem {

class BeliefPropagation {
 public:
  // `factors`: where potentials live, each inside a clique of the tree, none twice.
  // The team is borrowed; what is found is the same without one.
  BeliefPropagation(const Domain& domain, JunctionTree tree, std::vector<Clique> factors,
                    Team* team = nullptr);

  const AxisOrder& order() const { return order_; }
  const JunctionTree& tree() const { return tree_; }
  std::span<const Clique> factors() const { return factors_; }

  // The potential of each factor: written by the caller, cells in `order()`.
  std::span<double> potential(std::size_t factor);
  std::span<const double> potential(std::size_t factor) const;

  // Base = exp(sum of potentials), normalised, in logarithms where need be: potentials may be of
  // any size, and minus infinity for what can't be. Its marginals are then known as after
  // propagate(), and the potentials are zero. Returns log Z; minus infinity when nothing can be.
  double set_base();

  // Marginals of base * exp(sum of potentials). Returns log Z, the logarithm of its sum; not finite
  // when potentials are too large for linear space (hundreds of units), and then nothing else
  // holds.
  double propagate();

  // base * exp(sum of potentials) becomes the base. Its marginals are then known, and the
  // potentials zero. Returns what propagate() would; when that is not finite, the base stays as it
  // was.
  double rebase();

  // Whether the last propagate() or rebase() took for nothing what the base allows: a message too
  // small for a number. That is right, unless potentials nearer to the root make up for it.
  bool lost_messages() const { return lost_; }

  // Probabilities, cells in `order()`: of a factor after any of these, of a whole clique after
  // set_base() and rebase().
  std::span<const double> marginal(std::size_t factor) const;
  std::span<const double> belief(std::size_t clique) const;

  // The largest sum of potentials that any row has, whatever its probability: a linear program
  // over all distributions. Overwrites what propagate() found.
  double largest_row();

 private:
  static constexpr auto kNone = std::numeric_limits<std::size_t>::max();
  static constexpr auto kWhole = kNone;

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

  // How the table of a clique meets those inside it: nodes that fold into no other, and the
  // separator. Slices are shared out in `chunks`, a number that depends on the clique alone: each
  // chunk adds up by itself where two would write to the same cells.
  struct Whole {
    std::vector<std::size_t> nodes;
    PropagationSlices with_nodes, with_separator, with_all;  // of all the separator is the last
    std::vector<std::size_t> chunks;                         // first slice of each, and the end
    std::vector<bool> shared;  // by chunks: each of the nodes, then the separator
  };
  struct Target {
    double* table = nullptr;
    std::size_t cells = 0;
    bool shared = false;
  };
  struct Workplace {  // of a chunk
    double* slice = nullptr;
    double* scratch = nullptr;
  };

  std::span<double> values(const Node& node);
  std::span<double> found(const Node& node);  // its marginal
  std::span<double> belief_values(std::size_t clique);
  std::span<double> message(std::size_t clique);
  double* base_slice(std::size_t clique, std::size_t slice);
  void build_nodes();
  void build_wholes();
  template <class Work>
  void for_each_slice(const Whole& whole, Work&& work);
  enum class Gather { Sum, Largest };
  template <class Cells>
  void gather(const Whole& whole, const PropagationSlices& onto, Gather how, Cells&& cells);
  void tables_of(const Whole& whole, const double* separator);
  void gather_logs(std::size_t clique);
  void raise_logs(std::size_t clique);
  std::optional<double> exponentiate(std::size_t clique);
  double upward();
  void downward(bool from_base);

  AxisOrder order_;
  JunctionTree tree_;
  std::vector<Clique> factors_;

  std::vector<Node> nodes_;              // by owner; within it small tables first
  std::vector<std::size_t> first_node_;  // of each clique, and the end
  std::vector<std::size_t> node_of_factor_;
  std::vector<std::size_t> node_of_separator_;  // in the parent
  std::vector<Whole> wholes_;
  Team* team_;

  std::vector<std::size_t> clique_start_;   // in base_ and belief_, and the end
  std::vector<std::size_t> message_start_;  // in message_, and the end
  std::vector<std::size_t> potential_start_;
  std::vector<double> base_, belief_, message_, potential_;
  std::vector<char> possible_;  // of each message's cells: the base allows it
  bool lost_ = false;
  std::vector<double> node_values_, node_found_;
  std::vector<double> scale_;         // of each clique: message * 1/scale is the sum of its belief
  std::vector<double> ratio_;         // for the largest separator, twice
  std::vector<double> zeros_, ones_;  // a slice of them
  std::vector<double> private_;       // sums of chunks
  std::vector<double> scratch_;       // of chunks
  std::size_t scratch_cells_ = 0;
  std::size_t slice_cells_ = 0;
  std::vector<const double*> tables_;  // what the slices of the clique at hand meet
  std::vector<Target> targets_;        // and where they are summed into
  std::vector<double*> sums_;          // the same for each chunk
};

}  // namespace tandem
