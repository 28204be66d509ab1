// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/belief_propagation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {
namespace {

constexpr auto kNone = std::numeric_limits<std::size_t>::max();
constexpr auto kWhole = kNone;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A clique this large is worth more than one thread, and is then cut into so many chunks.
constexpr std::size_t kLargeClique = std::size_t{1} << 15;
constexpr std::size_t kChunks = 4;

// Nothing of nothing is nothing, and so is what a number too small for its inverse would give: an
// infinite factor makes no number of the zeros it meets.
double quotient(double a, double b) {
  const double ratio = b > 0.0 ? a / b : 0.0;
  return ratio < 1e300 ? ratio : 0.0;
}

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
  build_nodes();
  build_wholes();
  scale_.assign(tree_.cliques.size(), 1.0);
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
    const CliqueSlices with_nodes(order_, tree_.cliques[c], inside);
    const CliqueSlices with_separator(order_, tree_.cliques[c], std::span(&tree_.separators[c], 1));
    inside.push_back(tree_.separators[c]);
    const CliqueSlices with_all(order_, tree_.cliques[c], inside);
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
  private_.resize(private_cells);
  // A few lines of the cache apart, so that chunks don't disturb each other.
  scratch_cells_ = (slice_cells_ + scratch_cells_ + 31) / 16 * 16;
  scratch_.resize(kChunks * scratch_cells_);
  tables_.reserve(most);
  targets_.reserve(most);
  sums_.resize(most * kChunks);
}

std::span<double> BeliefPropagation::values(const Node& node) {
  return std::span(node_values_).subspan(node.start, node.plan.small_cells());
}
std::span<double> BeliefPropagation::found(const Node& node) {
  return std::span(node_found_).subspan(node.start, node.plan.small_cells());
}
double* BeliefPropagation::base_slice(std::size_t clique, std::size_t slice) {
  return base_.data() + clique_start_[clique] + slice * wholes_[clique].with_all.slice_cells();
}
std::span<double> BeliefPropagation::belief_values(std::size_t clique) {
  return std::span(belief_).subspan(clique_start_[clique],
                                    clique_start_[clique + 1] - clique_start_[clique]);
}
std::span<double> BeliefPropagation::message(std::size_t clique) {
  return {message_.data() + message_start_[clique],
          message_start_[clique + 1] - message_start_[clique]};
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
  return std::span(node_found_).subspan(node.start, node.plan.small_cells());
}
std::span<const double> BeliefPropagation::belief(std::size_t clique) const {
  return std::span(belief_).subspan(clique_start_[clique],
                                    clique_start_[clique + 1] - clique_start_[clique]);
}

template <class Work>
void BeliefPropagation::for_each_slice(const Whole& whole, Work&& work) {
  const auto chunk = [&](std::size_t i) {
    double* place = scratch_.data() + i * scratch_cells_;
    for (std::size_t s = whole.chunks[i]; s < whole.chunks[i + 1]; ++s) {
      work(i, s, Workplace{place, place + slice_cells_});
    }
  };
  if (whole.chunks.size() == 2) {
    chunk(0);
  } else {
    run_tasks(team_, whole.chunks.size() - 1, std::cref(chunk));
  }
}

// targets_ = sums, or largest, of what cells(slice, workplace) gives for each slice.
template <class Cells>
void BeliefPropagation::gather(const Whole& whole, const CliqueSlices& onto, Gather how,
                               Cells&& cells) {
  const double none = how == Gather::Sum ? 0.0 : -kInfinity;
  const std::size_t count = targets_.size();
  const std::size_t chunks = whole.chunks.size() - 1;
  double* next = private_.data();
  for (std::size_t t = 0; t < count; ++t) {
    std::fill_n(targets_[t].table, targets_[t].cells, none);
    sums_[t] = targets_[t].table;
    for (std::size_t i = 1; i < chunks; ++i) {
      sums_[i * count + t] = targets_[t].shared ? next : targets_[t].table;
      if (!targets_[t].shared) continue;
      std::fill_n(next, targets_[t].cells, none);
      next += targets_[t].cells;
    }
  }
  for_each_slice(whole, [&](std::size_t i, std::size_t s, const Workplace& place) {
    const double* slice = cells(s, place);
    const std::span<double* const> sums(sums_.data() + i * count, count);
    if (how == Gather::Sum) {
      onto.add_sums(s, slice, sums, place.scratch);
    } else {
      onto.raise(s, slice, sums);
    }
  });
  for (std::size_t i = 1; i < chunks; ++i) {
    for (std::size_t t = 0; t < count; ++t) {
      if (!targets_[t].shared) continue;
      const double* from = sums_[i * count + t];
      double* to = targets_[t].table;
      for (std::size_t j = 0; j < targets_[t].cells; ++j) {
        to[j] = how == Gather::Sum ? to[j] + from[j] : std::max(to[j], from[j]);
      }
    }
  }
}

void BeliefPropagation::tables_of(const Whole& whole, const double* separator) {
  tables_.clear();
  for (const auto n : whole.nodes) tables_.push_back(values(nodes_[n]).data());
  if (separator != nullptr) tables_.push_back(separator);
}

// In each node the sum of potentials and of the children's messages, as logarithms; and in the
// clique's message the largest that they all come to.
void BeliefPropagation::gather_logs(std::size_t c) {
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
    if (node.into == kWhole) continue;
    node.plan.add(values(nodes_[node.into]).data(), values(node).data());
  }
  const Whole& whole = wholes_[c];
  tables_of(whole, nullptr);
  targets_.assign(1, {message(c).data(), message(c).size(), whole.shared.back()});
  gather(whole, whole.with_separator, Gather::Largest, [&](std::size_t s, const Workplace& place) {
    whole.with_nodes.add(s, zeros_.data(), tables_, place.slice, place.scratch);
    return place.slice;
  });
}

double BeliefPropagation::set_base() {
  for (std::size_t c = tree_.cliques.size(); c-- > 0;) {
    gather_logs(c);
    const Whole& whole = wholes_[c];
    const auto up = message(c);
    // base = exp(logarithms - largest), message = largest + log(sum of it), base /= sum.
    const std::span shift(ratio_.data(), up.size());
    const std::span inverse(ratio_.data() + up.size(), up.size());
    for (std::size_t i = 0; i < up.size(); ++i) shift[i] = std::isfinite(up[i]) ? -up[i] : 0.0;
    tables_of(whole, shift.data());
    gather(whole, whole.with_separator, Gather::Sum, [&](std::size_t s, const Workplace& place) {
      double* out = base_slice(c, s);
      whole.with_all.add(s, zeros_.data(), tables_, out, place.scratch);
      exp_in_place(std::span(out, whole.with_all.slice_cells()));
      return out;
    });
    for (std::size_t i = 0; i < up.size(); ++i) {
      inverse[i] = quotient(1.0, up[i]);
      up[i] = std::log(up[i]) - shift[i];
    }
    tables_.assign(1, inverse.data());
    for_each_slice(whole, [&](std::size_t, std::size_t s, const Workplace& place) {
      double* out = base_slice(c, s);
      whole.with_separator.multiply(s, out, tables_, out, place.scratch);
    });
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
    for (std::size_t n = first_node_[c]; n < first_node_[c + 1]; ++n) {
      const Node& node = nodes_[n];
      if (node.into == kWhole) continue;
      double* into = values(nodes_[node.into]).data();
      node.plan.multiply(into, values(node).data(), into);
    }
    const Whole& whole = wholes_[c];
    const auto up = message(c);
    tables_of(whole, nullptr);
    targets_.assign(1, {up.data(), up.size(), whole.shared.back()});
    gather(whole, whole.with_separator, Gather::Sum, [&](std::size_t s, const Workplace& place) {
      whole.with_nodes.multiply(s, base_slice(c, s), tables_, place.slice, place.scratch);
      return place.slice;
    });
    const double largest = std::ranges::max(up);
    log_z += std::log(largest);
    scale_[c] = 1.0 / largest;
    for (double& value : up) value *= scale_[c];
  }
  return log_z;
}

// Marginals that know everything: from the base alone, whose beliefs are then known too, or from
// what upward() left.
void BeliefPropagation::downward(bool from_base) {
  for (std::size_t c = 0; c < tree_.cliques.size(); ++c) {
    const Whole& whole = wholes_[c];
    // What the parent knows of the separator replaces what went up.
    const auto up = message(c);
    const std::span ratio(ratio_.data(), up.size());
    const auto known = c == 0 ? std::span<double>() : found(nodes_[node_of_separator_[c]]);
    for (std::size_t i = 0; i < up.size(); ++i) {
      const double probability = c == 0 ? 1.0 : known[i];
      ratio[i] = from_base ? probability : quotient(probability, up[i]) * scale_[c];
    }
    targets_.clear();
    for (std::size_t i = 0; i < whole.nodes.size(); ++i) {
      const auto mine = found(nodes_[whole.nodes[i]]);
      targets_.push_back({mine.data(), mine.size(), whole.shared[i]});
    }
    if (from_base) {
      tables_.assign(1, ratio.data());
      double* belief = belief_values(c).data();
      gather(whole, whole.with_nodes, Gather::Sum, [&](std::size_t s, const Workplace& place) {
        double* out = belief + s * whole.with_all.slice_cells();
        whole.with_separator.multiply(s, base_slice(c, s), tables_, out, place.scratch);
        return out;
      });
    } else {
      tables_of(whole, ratio.data());
      gather(whole, whole.with_nodes, Gather::Sum, [&](std::size_t s, const Workplace& place) {
        whole.with_all.multiply(s, base_slice(c, s), tables_, place.slice, place.scratch);
        return place.slice;
      });
    }
    for (std::size_t n = first_node_[c + 1]; n-- > first_node_[c];) {
      const Node& node = nodes_[n];
      if (node.into != kWhole) {
        node.plan.sum(found(nodes_[node.into]).data(), found(node).data());
      }
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
    const Whole& whole = wholes_[c];
    const auto up = message(c);
    for (std::size_t i = 0; i < up.size(); ++i) ratio_[i] = quotient(scale_[c], up[i]);
    tables_of(whole, ratio_.data());
    for_each_slice(whole, [&](std::size_t, std::size_t s, const Workplace& place) {
      double* out = base_slice(c, s);
      whole.with_all.multiply(s, out, tables_, out, place.scratch);
    });
  }
  std::ranges::fill(potential_, 0.0);
  downward(true);
}

double BeliefPropagation::largest_row() {
  for (std::size_t c = tree_.cliques.size(); c-- > 0;) gather_logs(c);
  return message(0).front();
}

}  // namespace tandem
