// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/belief_propagation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace tandem {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Logarithms of a clique's nodes that together span no more than this can be multiplied as numbers.
constexpr double kSafeRange = 600.0;
// A message below this is taken for nothing: what is divided by it would leave the range of
// numbers, and whoever sends a message must be able to take it back.
constexpr double kLeastMessage = 1e-290;

// Nothing of nothing is nothing, and so is what a number too small for its inverse would give: an
// infinite factor makes no number of the zeros it meets.
double quotient(double a, double b) {
  const double ratio = b > 0.0 ? a / b : 0.0;
  return ratio < 1e300 ? ratio : 0.0;
}

}  // namespace

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
void BeliefPropagation::gather(const Whole& whole, const PropagationSlices& onto, Gather how,
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

// In each node the sum of potentials and of the children's messages, as logarithms.
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
}

// In the clique's message the largest that the nodes come to together.
void BeliefPropagation::raise_logs(std::size_t c) {
  const Whole& whole = wholes_[c];
  tables_of(whole, nullptr);
  targets_.assign(1, {message(c).data(), message(c).size(), whole.shared.back()});
  gather(whole, whole.with_separator, Gather::Largest, [&](std::size_t s, const Workplace& place) {
    whole.with_nodes.add(s, zeros_.data(), tables_, place.slice, place.scratch);
    return place.slice;
  });
}

// Where no product of them can leave the range of numbers the nodes' logarithms become shares of
// the largest, and what was taken off is returned.
std::optional<double> BeliefPropagation::exponentiate(std::size_t c) {
  const auto largest_of = [&](std::size_t n) { return std::ranges::max(values(nodes_[n])); };
  double range = 0.0;
  for (const auto n : wholes_[c].nodes) {
    const double largest = largest_of(n);
    double least = largest;
    for (const double value : values(nodes_[n])) {
      if (value < least && value > -kInfinity) least = value;
    }
    range += largest - least;
  }
  if (!(range <= kSafeRange)) return std::nullopt;  // nor where nothing can be
  double level = 0.0;
  for (const auto n : wholes_[c].nodes) {
    const double largest = largest_of(n);
    level += largest;
    for (double& value : values(nodes_[n])) value -= largest;
    exp_in_place(values(nodes_[n]));
  }
  return level;
}

double BeliefPropagation::set_base() {
  for (std::size_t c = tree_.cliques.size(); c-- > 0;) {
    const Whole& whole = wholes_[c];
    const auto up = message(c);
    const std::span shift(ratio_.data(), up.size());
    const std::span inverse(ratio_.data() + up.size(), up.size());
    // base = exp(logarithms - largest), message = largest + log(sum of it), base /= sum.
    gather_logs(c);
    const auto level = exponentiate(c);
    if (level) {
      std::ranges::fill(shift, -*level);
      tables_of(whole, nullptr);
    } else {
      raise_logs(c);
      for (std::size_t i = 0; i < up.size(); ++i) shift[i] = std::isfinite(up[i]) ? -up[i] : 0.0;
      tables_of(whole, shift.data());
    }
    targets_.assign(1, {up.data(), up.size(), whole.shared.back()});
    gather(whole, whole.with_separator, Gather::Sum, [&](std::size_t s, const Workplace& place) {
      double* out = base_slice(c, s);
      if (level) {
        whole.with_nodes.multiply(s, ones_.data(), tables_, out, place.scratch);
      } else {
        whole.with_all.add(s, zeros_.data(), tables_, out, place.scratch);
        exp_in_place(std::span(out, whole.with_all.slice_cells()));
      }
      return out;
    });
    for (std::size_t i = 0; i < up.size(); ++i) {
      possible_[message_start_[c] + i] = up[i] > 0.0 ? 1 : 0;
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

// Messages of all that is below each clique, the largest of each 1. Returns the logarithm of what
// was divided out; minus infinity when numbers can't hold the messages.
double BeliefPropagation::upward() {
  double log_z = 0.0;
  lost_ = false;
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
    if (!(largest >= kLeastMessage)) return -kInfinity;
    log_z += std::log(largest);
    scale_[c] = 1.0 / largest;
    if (!lost_ && std::ranges::min(up) < kLeastMessage) {
      for (std::size_t i = 0; i < up.size(); ++i) {
        lost_ = lost_ || (up[i] < kLeastMessage && possible_[message_start_[c] + i] != 0);
      }
    }
    for (double& value : up) value = value < kLeastMessage ? 0.0 : value * scale_[c];
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

double BeliefPropagation::rebase() {
  const double log_z = upward();
  if (!std::isfinite(log_z)) return log_z;
  for (std::size_t c = 0; c < tree_.cliques.size(); ++c) {
    const Whole& whole = wholes_[c];
    const auto up = message(c);
    for (std::size_t i = 0; i < up.size(); ++i) {
      ratio_[i] = quotient(scale_[c], up[i]);
      if (!(up[i] > 0.0)) possible_[message_start_[c] + i] = 0;
    }
    tables_of(whole, ratio_.data());
    for_each_slice(whole, [&](std::size_t, std::size_t s, const Workplace& place) {
      double* out = base_slice(c, s);
      whole.with_all.multiply(s, out, tables_, out, place.scratch);
    });
  }
  std::ranges::fill(potential_, 0.0);
  downward(true);
  return log_z;
}

double BeliefPropagation::largest_row() {
  for (std::size_t c = tree_.cliques.size(); c-- > 0;) {
    gather_logs(c);
    raise_logs(c);
  }
  return message(0).front();
}

}  // namespace tandem
