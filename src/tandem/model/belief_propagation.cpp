// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/belief_propagation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {
namespace {

constexpr auto kNone = std::numeric_limits<std::size_t>::max();
constexpr auto kWhole = kNone;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Nothing of nothing is nothing, and so is what a number too small for its inverse would give: an
// infinite factor makes no number of the zeros it meets.
double quotient(double a, double b) {
  const double ratio = b > 0.0 ? a / b : 0.0;
  return ratio < 1e300 ? ratio : 0.0;
}

}  // namespace

BeliefPropagation::BeliefPropagation(const Domain& domain, JunctionTree tree,
                                     std::vector<Clique> factors)
    : order_(domain), tree_(std::move(tree)), factors_(std::move(factors)) {
  clique_start_.push_back(0);
  message_start_.push_back(0);
  potential_start_.push_back(0);
  for (std::size_t c = 0; c < tree_.cliques.size(); ++c) {
    clique_start_.push_back(clique_start_.back() + domain.cells(tree_.cliques[c]));
    message_start_.push_back(message_start_.back() + domain.cells(tree_.separators[c]));
    to_parent_.push_back(order_.plan(tree_.cliques[c], tree_.separators[c]));
  }
  for (const auto& factor : factors_) {
    potential_start_.push_back(potential_start_.back() + domain.cells(factor));
  }
  build_nodes();
  scale_.assign(tree_.cliques.size(), 1.0);
  std::size_t widest = 1;
  for (const auto& plan : to_parent_) widest = std::max(widest, plan.small_cells());
  scratch_.resize(2 * widest);
  base_.assign(clique_start_.back(), 1.0);
  belief_.assign(clique_start_.back(), 0.0);
  message_.assign(message_start_.back(), 0.0);
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
}

std::span<double> BeliefPropagation::values(const Node& node) {
  return std::span(node_values_).subspan(node.start, node.plan.small_cells());
}
std::span<double> BeliefPropagation::belief_values(std::size_t clique) {
  return std::span(belief_).subspan(clique_start_[clique],
                                    clique_start_[clique + 1] - clique_start_[clique]);
}
std::span<double> BeliefPropagation::message(std::size_t clique) {
  return std::span(message_).subspan(message_start_[clique],
                                     message_start_[clique + 1] - message_start_[clique]);
}
std::span<double> BeliefPropagation::potential(std::size_t factor) {
  return std::span(potential_)
      .subspan(potential_start_[factor], potential_start_[factor + 1] - potential_start_[factor]);
}
std::span<const double> BeliefPropagation::potential(std::size_t factor) const {
  return std::span(potential_)
      .subspan(potential_start_[factor], potential_start_[factor + 1] - potential_start_[factor]);
}
std::span<const double> BeliefPropagation::marginal(std::size_t factor) const {
  const Node& node = nodes_[node_of_factor_[factor]];
  return std::span(node_values_).subspan(node.start, node.plan.small_cells());
}
std::span<const double> BeliefPropagation::belief(std::size_t clique) const {
  return std::span(belief_).subspan(clique_start_[clique],
                                    clique_start_[clique + 1] - clique_start_[clique]);
}

// The sum of potentials and of the children's messages, as logarithms, into the clique's belief.
void BeliefPropagation::gather_logs(std::size_t c) {
  const auto whole = belief_values(c);
  std::ranges::fill(whole, 0.0);
  for (std::size_t n = first_node_[c]; n < first_node_[c + 1]; ++n) {
    const auto mine = values(nodes_[n]);
    std::ranges::fill(mine, 0.0);
    if (nodes_[n].factor != kNone) std::ranges::copy(potential(nodes_[n].factor), mine.begin());
    for (const auto child : nodes_[n].children) {
      const auto from = message(child);
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] += from[i];
    }
  }
  for (std::size_t n = first_node_[c]; n < first_node_[c + 1]; ++n) {
    const Node& node = nodes_[n];
    const auto into = node.into == kWhole ? whole : values(nodes_[node.into]);
    node.plan.add(into.data(), values(node).data());
  }
}

double BeliefPropagation::set_base() {
  for (std::size_t c = tree_.cliques.size(); c-- > 0;) {
    gather_logs(c);
    const auto whole = belief_values(c);
    const auto up = message(c);
    // belief = exp(belief - largest), message = largest + log(sum of it), base = belief / sum.
    const std::span shift(scratch_.data(), up.size());
    const std::span inverse(scratch_.data() + up.size(), up.size());
    to_parent_[c].largest(whole.data(), shift.data());
    for (double& value : shift) value = std::isfinite(value) ? -value : 0.0;
    to_parent_[c].add(whole.data(), shift.data());
    exp_in_place(whole);
    to_parent_[c].sum(whole.data(), up.data());
    for (std::size_t i = 0; i < up.size(); ++i) {
      inverse[i] = quotient(1.0, up[i]);
      up[i] = std::log(up[i]) - shift[i];
    }
    to_parent_[c].multiply(whole.data(), inverse.data(), base_.data() + clique_start_[c]);
  }
  std::ranges::fill(potential_, 0.0);
  const double log_z = message(0).front();
  if (std::isfinite(log_z)) downward(true);
  return log_z;
}

// Beliefs that know all below them, and messages with sum 1. Returns the logarithm of what was
// divided out.
double BeliefPropagation::upward() {
  double log_z = 0.0;
  for (std::size_t c = tree_.cliques.size(); c-- > 0;) {
    for (std::size_t n = first_node_[c]; n < first_node_[c + 1]; ++n) {
      const Node& node = nodes_[n];
      const auto mine = values(node);
      std::size_t used = 0;
      if (node.factor != kNone) {
        const auto from = potential(node.factor);
        const double largest = std::ranges::max(from);
        for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = from[i] - largest;
        exp_in_place(mine);
        log_z += largest;
      } else {
        std::ranges::copy(message(node.children[used++]), mine.begin());
      }
      for (; used < node.children.size(); ++used) {
        const auto from = message(node.children[used]);
        for (std::size_t i = 0; i < mine.size(); ++i) mine[i] *= from[i];
      }
    }
    const auto whole = belief_values(c);
    const double* from = base_.data() + clique_start_[c];
    for (std::size_t n = first_node_[c]; n < first_node_[c + 1]; ++n) {
      const Node& node = nodes_[n];
      if (node.into != kWhole) {
        double* into = values(nodes_[node.into]).data();
        node.plan.multiply(into, values(node).data(), into);
      } else {
        node.plan.multiply(from, values(node).data(), whole.data());
        from = whole.data();
      }
    }
    if (from != whole.data()) std::copy_n(from, whole.size(), whole.data());
    const auto up = message(c);
    to_parent_[c].sum(whole.data(), up.data());
    const double largest = std::ranges::max(up);
    log_z += std::log(largest);
    scale_[c] = 1.0 / largest;
    for (double& value : up) value *= scale_[c];
  }
  return log_z;
}

// Beliefs that know everything: from the base alone, or from what upward() left.
void BeliefPropagation::downward(bool from_base) {
  for (std::size_t c = 0; c < tree_.cliques.size(); ++c) {
    // What the parent knows of the separator replaces what went up.
    const auto up = message(c);
    const std::span ratio(scratch_.data(), up.size());
    const auto known = c == 0 ? std::span<double>() : values(nodes_[node_of_separator_[c]]);
    for (std::size_t i = 0; i < up.size(); ++i) {
      const double probability = c == 0 ? 1.0 : known[i];
      ratio[i] = from_base ? probability : quotient(probability, up[i]) * scale_[c];
    }
    const auto whole = belief_values(c);
    const double* from = from_base ? base_.data() + clique_start_[c] : whole.data();
    to_parent_[c].multiply(from, ratio.data(), whole.data());
    for (std::size_t n = first_node_[c + 1]; n-- > first_node_[c];) {
      const Node& node = nodes_[n];
      const auto larger = node.into == kWhole ? whole : values(nodes_[node.into]);
      node.plan.sum(larger.data(), values(node).data());
    }
  }
}

double BeliefPropagation::propagate() {
  const double log_z = upward();
  if (std::isfinite(log_z)) downward(false);
  return log_z;
}

void BeliefPropagation::rebase() {
  upward();
  for (std::size_t c = 0; c < tree_.cliques.size(); ++c) {
    const auto up = message(c);
    const std::span inverse(scratch_.data(), up.size());
    for (std::size_t i = 0; i < up.size(); ++i) inverse[i] = quotient(scale_[c], up[i]);
    to_parent_[c].multiply(belief_values(c).data(), inverse.data(),
                           base_.data() + clique_start_[c]);
  }
  std::ranges::fill(potential_, 0.0);
  downward(true);
}

double BeliefPropagation::largest_row() {
  for (std::size_t c = tree_.cliques.size(); c-- > 0;) {
    gather_logs(c);
    to_parent_[c].largest(belief_values(c).data(), message(c).data());
  }
  return message(0).front();
}

}  // namespace tandem
