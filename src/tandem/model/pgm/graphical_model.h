// SPDX-License-Identifier: Apache-2.0
#pragma once
// A distribution that is Markov on a junction tree: p proportional to exp(sum of potentials), with
// the marginals of the tree's cliques at hand.
//
// Marginals inside a clique are sums of its table. Others come from walking the tree with
// conditional probabilities; project_all() shares that work between cliques. Costs 8 bytes a cell
// of the tree. Cells where potentials are minus infinity are structural zeros: nothing ever falls
// there.

#include <cstddef>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/model/model.h"
#include "tandem/model/pgm/junction_tree.h"
#include "tandem/model/tables/axis_order.h"

namespace tandem {

class BeliefPropagation;
class ModelReader;

class GraphicalModel final : public Model {
 public:
  // The uniform distribution.
  GraphicalModel(const Domain& domain, double total);
  // From logarithms on cliques; the tree is made for these and for `others` besides. UsageError
  // when no row is possible.
  GraphicalModel(const Domain& domain, std::vector<Factor> potentials, double total,
                 std::span<const Clique> others = {}, Threads threads = {});
  // What a propagation found, with the potentials that made it.
  GraphicalModel(const BeliefPropagation& found, std::vector<Factor> potentials, double total,
                 Threads threads = {});

  const Domain& domain() const override { return order_.domain(); }
  const JunctionTree& tree() const { return tree_; }
  const AxisOrder& order() const { return order_; }
  double total() const override { return total_; }
  Threads threads() const { return threads_; }
  std::span<const Factor> potentials() const override { return potentials_; }
  // Probabilities of a clique of the tree, cells in `order()`.
  std::span<const double> belief(std::size_t clique) const { return beliefs_[clique]; }

  Factor project(const Clique& clique) const override;
  std::vector<Factor> project_all(std::span<const Clique> cliques) const override;

  // Column after column along the tree: rows alike in what a column depends on share out its codes
  // to within one row of the model's conditional probabilities.
  Table sample(std::size_t rows, Rng& rng) const override;

  // Costs a propagation. UsageError when the model gives such rows no probability.
  std::unique_ptr<Model> given(const Restriction& only) const override;
  bool write(ModelWriter& out) const override;
  static std::unique_ptr<Model> read(const ModelReader& in);

 private:
  AxisOrder order_;
  JunctionTree tree_;
  std::vector<Factor> potentials_;
  std::vector<std::vector<double>> beliefs_;
  double total_;
  Threads threads_;
};

}  // namespace tandem
