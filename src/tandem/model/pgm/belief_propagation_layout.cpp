// SPDX-License-Identifier: Apache-2.0
// How a propagation is laid out: which tables are inside which, and where they are kept.
#include <algorithm>
#include <limits>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/model/pgm/belief_propagation.h"

namespace tandem {
namespace {

// A clique this large is worth more than one thread, and is then cut into so many chunks.
constexpr std::size_t kLargeClique = std::size_t{1} << 15;
constexpr std::size_t kChunks = 4;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

BeliefPropagation::BeliefPropagation(const Domain& domain, JunctionTree tree,
                                     std::vector<Clique> factors, Team* team)
    : order_(domain), tree_(std::move(tree)), factors_(std::move(factors)), team_(team) {
  clique_start_.push_back(0);
  message_start_.push_back(0);
  potential_start_.push_back(0);
  for (std::size_t c = 0; c < tree_.cliques.size(); ++c) {
    clique_start_.push_back(clique_start_.back() + domain.cells(tree_.cliques[c]));
    message_start_.push_back(message_start_.back() + domain.cells(tree_.separators[c]));
  }
  for (const auto& factor : factors_) {
    potential_start_.push_back(potential_start_.back() + domain.cells(factor));
  }
  message_.assign(message_start_.back(), 0.0);
  build_nodes();
  build_wholes();
  scale_.assign(tree_.cliques.size(), 1.0);
  base_.assign(clique_start_.back(), 1.0);
  belief_.assign(clique_start_.back(), 0.0);
  possible_.assign(message_start_.back(), 1);
  potential_.assign(potential_start_.back(), 0.0);
}

void BeliefPropagation::build_nodes() {
  const auto& cliques = tree_.cliques;
  std::vector<std::vector<Node>> of(cliques.size());
  const auto node_for = [&](std::size_t owner, const Clique& clique) -> Node& {
    const auto same = std::ranges::find(of[owner], clique, &Node::clique);
    if (same != of[owner].end()) return *same;
    Node node;
    node.clique = clique;
    node.owner = owner;
    node.factor = kNone;
    return of[owner].emplace_back(std::move(node));
  };
  for (std::size_t c = 1; c < cliques.size(); ++c) {
    node_for(tree_.parent[c], tree_.separators[c]).children.push_back(c);
  }
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    // Of the cliques that hold it, the one with the fewest cells; best where a separator has the
    // same attributes anyway.
    std::size_t best = cliques.size();
    double least = kInfinity;
    for (std::size_t c = 0; c < cliques.size(); ++c) {
      if (!cliques[c].contains(factors_[f])) continue;
      const bool there = std::ranges::find(of[c], factors_[f], &Node::clique) != of[c].end();
      const double cost = there ? 0.0 : static_cast<double>(order_.domain().cells(cliques[c]));
      if (cost < least) {
        least = cost;
        best = c;
      }
    }
    check(best < cliques.size(), "a factor lies inside a clique of its tree");
    Node& node = node_for(best, factors_[f]);
    check(node.factor == kNone, "each factor of a tree is there once");
    node.factor = f;
  }

  node_of_factor_.resize(factors_.size());
  node_of_separator_.assign(cliques.size(), kNone);
  std::size_t start = 0;
  for (std::size_t c = 0; c < cliques.size(); ++c) {
    first_node_.push_back(nodes_.size());
    std::ranges::sort(of[c], [&](const Node& a, const Node& b) {
      const auto key = [&](const Node& node) {
        return std::pair(order_.domain().cells(node.clique), node.clique.size());
      };
      return key(a) != key(b) ? key(a) < key(b) : a.clique < b.clique;
    });
    const std::size_t first = nodes_.size();
    for (std::size_t i = 0; i < of[c].size(); ++i) {
      Node& node = of[c][i];
      node.into = kWhole;
      for (std::size_t j = i + 1; j < of[c].size() && node.into == kWhole; ++j) {
        if (of[c][j].clique.contains(node.clique)) node.into = first + j;
      }
      const Clique& whole = node.into == kWhole ? cliques[c] : of[c][node.into - first].clique;
      node.plan = order_.plan(whole, node.clique);
      node.start = start;
      start += order_.domain().cells(node.clique);
      if (node.factor != kNone) node_of_factor_[node.factor] = first + i;
      for (const auto child : node.children) node_of_separator_[child] = first + i;
    }
    std::ranges::move(of[c], std::back_inserter(nodes_));
  }
  first_node_.push_back(nodes_.size());
  node_values_.assign(start, 0.0);
  node_found_.assign(start, 0.0);
}

void BeliefPropagation::build_wholes() {
  std::size_t widest = 1;
  std::size_t private_cells = 0;
  std::size_t most = 0;
  for (std::size_t c = 0; c < tree_.cliques.size(); ++c) {
    std::vector<std::size_t> nodes;
    std::vector<Clique> inside;
    for (std::size_t n = first_node_[c]; n < first_node_[c + 1]; ++n) {
      if (nodes_[n].into != kWhole) continue;
      nodes.push_back(n);
      inside.push_back(nodes_[n].clique);
    }
    const PropagationSlices with_nodes(order_, tree_.cliques[c], inside);
    const PropagationSlices with_separator(order_, tree_.cliques[c],
                                           std::span(&tree_.separators[c], 1));
    inside.push_back(tree_.separators[c]);
    const PropagationSlices with_all(order_, tree_.cliques[c], inside);
    Whole whole{std::move(nodes), with_nodes, with_separator, with_all, {}, {}};
    const std::size_t slices = with_all.slices();
    const bool large = slices * with_all.slice_cells() >= kLargeClique && slices >= kChunks;
    const std::size_t chunks = large ? kChunks : 1;
    for (std::size_t i = 0; i <= chunks; ++i) whole.chunks.push_back(slices * i / chunks);
    const auto bounds = std::span<const std::size_t>(whole.chunks).subspan(1, chunks - 1);
    std::size_t apart = 0;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      whole.shared.push_back(chunks > 1 && with_all.shared(i, bounds));
      if (whole.shared.back()) apart += order_.domain().cells(inside[i]);
    }
    private_cells = std::max(private_cells, apart * (chunks - 1));
    widest = std::max(widest, message(c).size());
    slice_cells_ = std::max(slice_cells_, with_all.slice_cells());
    for (const auto* slicing : {&with_nodes, &with_separator, &with_all}) {
      scratch_cells_ = std::max(scratch_cells_, slicing->scratch_cells());
    }
    most = std::max(most, inside.size());
    wholes_.push_back(std::move(whole));
  }
  ratio_.resize(2 * widest);
  zeros_.assign(slice_cells_, 0.0);
  ones_.assign(slice_cells_, 1.0);
  private_.resize(private_cells);
  // A few lines of the cache apart, so that chunks don't disturb each other.
  scratch_cells_ = (slice_cells_ + scratch_cells_ + 31) / 16 * 16;
  scratch_.resize(kChunks * scratch_cells_);
  tables_.reserve(most);
  targets_.reserve(most);
  sums_.resize(most * kChunks);
}

}  // namespace tandem
