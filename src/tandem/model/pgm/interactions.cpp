// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/interactions.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {
namespace {

constexpr std::size_t kMostAttributes = 20;

// All nonempty parts, by number of attributes.
std::vector<Clique> parts_of_clique(const Clique& clique) {
  check(clique.size() <= kMostAttributes, "a measured clique has at most twenty attributes");
  auto out = subsets(clique);
  std::ranges::stable_sort(out, {}, &Clique::size);
  return out;
}

}  // namespace

Interactions::Interactions(const AxisOrder& order, std::vector<Clique> tops)
    : order_(order), tops_(std::move(tops)) {
  const Domain& domain = order_.domain();
  for (const auto& top : tops_) {
    const auto inside = parts_of_clique(top);
    parts_.insert(parts_.end(), inside.begin(), inside.end());
  }
  std::ranges::sort(parts_);
  parts_.erase(std::unique(parts_.begin(), parts_.end()), parts_.end());
  part_start_.push_back(0);
  std::size_t widest = 1;
  for (const auto& part : parts_) {
    part_start_.push_back(part_start_.back() + domain.cells(part));
    std::vector<AxisPlan> plans;
    for (const auto id : part) {
      plans.push_back(order_.plan(part, without(part, Clique{id})));
      widest = std::max(widest, plans.back().small_cells());
    }
    without_axis_.push_back(std::move(plans));
  }
  home_.assign(parts_.size(), tops_.size());
  top_start_.push_back(0);
  std::size_t scratch = 0;
  for (std::size_t t = 0; t < tops_.size(); ++t) {
    top_start_.push_back(top_start_.back() + domain.cells(tops_[t]));
    Inside inside;
    const auto cliques = parts_of_clique(tops_[t]);
    std::size_t used = 0;
    for (std::size_t i = 0; i < cliques.size(); ++i) {
      const auto part =
          static_cast<std::size_t>(std::ranges::lower_bound(parts_, cliques[i]) - parts_.begin());
      inside.parts.push_back(part);
      if (home_[part] == tops_.size()) home_[part] = t;
      inside.start.push_back(used);
      used += domain.cells(cliques[i]);
      // One attribute more, with the fewest cells.
      std::size_t into = i;
      for (std::size_t j = i + 1; j < cliques.size(); ++j) {
        if (cliques[j].size() != cliques[i].size() + 1 || !cliques[j].contains(cliques[i]))
          continue;
        if (into == i || domain.cells(cliques[j]) < domain.cells(cliques[into])) into = j;
      }
      inside.into.push_back(into);
      inside.plan.push_back(order_.plan(cliques[into], cliques[i]));
      inside.spread.push_back(static_cast<double>(domain.cells(cliques[into])) /
                              static_cast<double>(domain.cells(cliques[i])));
    }
    scratch = std::max(scratch, used);
    in_top_.push_back(std::move(inside));
  }
  precision_.assign(parts_.size(), 0.0);
  estimate_.assign(interaction_cells(), 0.0);
  scratch_.resize(scratch);
  means_.resize(widest);
}

std::span<double> Interactions::part(std::size_t part, std::span<double> interactions) const {
  return interactions.subspan(part_start_[part], part_start_[part + 1] - part_start_[part]);
}
std::span<const double> Interactions::part(std::size_t part,
                                           std::span<const double> interactions) const {
  return interactions.subspan(part_start_[part], part_start_[part + 1] - part_start_[part]);
}

// Takes the mean off along every axis.
void Interactions::center(std::size_t part, std::span<double> table) {
  for (const auto& plan : without_axis_[part]) {
    plan.sum(table.data(), means_.data());
    const double share =
        -static_cast<double>(plan.small_cells()) / static_cast<double>(plan.large_cells());
    for (std::size_t i = 0; i < plan.small_cells(); ++i) means_[i] *= share;
    plan.add(table.data(), means_.data());
  }
}

void Interactions::observe(const Clique& clique, std::span<const double> answer, double variance) {
  const Domain& domain = order_.domain();
  const double missing = 1.0 - std::accumulate(answer.begin(), answer.end(), 0.0);
  disagreement_ += missing * missing / (variance * static_cast<double>(answer.size()));
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (!clique.contains(parts_[p])) continue;
    std::vector<double> table(domain.cells(parts_[p]));
    order_.plan(clique, parts_[p]).sum(answer.data(), table.data());
    center(p, table);
    const double cells_for_each =
        static_cast<double>(answer.size()) / static_cast<double>(table.size());
    const double precision = 1.0 / (variance * cells_for_each);
    const auto mine = part(p, std::span(estimate_));
    const double share = precision / (precision_[p] + precision);
    // From the distance between the two: the squares of each by itself are so large, where noise is
    // little, that their difference would be lost.
    double apart = 0.0;
    for (std::size_t i = 0; i < table.size(); ++i) {
      const double off = table[i] - mine[i];
      apart += off * off;
      mine[i] += share * off;
    }
    disagreement_ += precision_[p] * share * apart;
    precision_[p] += precision;
  }
}

void Interactions::interactions_of_functions(std::span<const double> tables,
                                             std::span<double> out) {
  std::ranges::fill(out, 0.0);
  for (std::size_t t = 0; t < tops_.size(); ++t) {
    const Inside& inside = in_top_[t];
    for (std::size_t i = inside.parts.size(); i-- > 0;) {
      double* mine = scratch_.data() + inside.start[i];
      if (inside.into[i] == i) {
        std::copy_n(tables.begin() + static_cast<std::ptrdiff_t>(top_start_[t]),
                    inside.plan[i].small_cells(), mine);
      } else {
        inside.plan[i].sum(scratch_.data() + inside.start[inside.into[i]], mine);
        const double share = 1.0 / inside.spread[i];
        for (std::size_t c = 0; c < inside.plan[i].small_cells(); ++c) mine[c] *= share;
      }
      const auto to = part(inside.parts[i], out);
      for (std::size_t c = 0; c < to.size(); ++c) to[c] += mine[c];
    }
  }
  for (std::size_t p = 0; p < parts_.size(); ++p) center(p, part(p, out));
}

void Interactions::interactions_of_marginals(std::span<const double> tables,
                                             std::span<double> out) {
  for (std::size_t t = 0; t < tops_.size(); ++t) {
    const Inside& inside = in_top_[t];
    for (std::size_t i = inside.parts.size(); i-- > 0;) {
      double* mine = scratch_.data() + inside.start[i];
      const std::size_t cells = inside.plan[i].small_cells();
      if (inside.into[i] == i) {
        std::copy_n(tables.begin() + static_cast<std::ptrdiff_t>(top_start_[t]), cells, mine);
      } else {
        inside.plan[i].sum(scratch_.data() + inside.start[inside.into[i]], mine);
      }
      if (home_[inside.parts[i]] == t) {
        std::copy_n(mine, cells, part(inside.parts[i], out).begin());
      }
    }
  }
  for (std::size_t p = 0; p < parts_.size(); ++p) center(p, part(p, out));
}

// Folds the parts in scratch_ into the top's table, small ones first.
void Interactions::spread(std::size_t top, bool as_marginals, std::span<double> tables) {
  const Inside& inside = in_top_[top];
  for (std::size_t i = 0; i < inside.parts.size(); ++i) {
    double* mine = scratch_.data() + inside.start[i];
    const std::size_t cells = inside.plan[i].small_cells();
    if (inside.into[i] == i) {
      double* to = tables.data() + top_start_[top];
      for (std::size_t c = 0; c < cells; ++c) to[c] += mine[c];
      continue;
    }
    if (as_marginals) {
      const double share = 1.0 / inside.spread[i];
      for (std::size_t c = 0; c < cells; ++c) mine[c] *= share;
    }
    inside.plan[i].add(scratch_.data() + inside.start[inside.into[i]], mine);
  }
}

void Interactions::add_marginals(std::span<const double> interactions, std::span<double> tables) {
  for (std::size_t t = 0; t < tops_.size(); ++t) {
    const Inside& inside = in_top_[t];
    for (std::size_t i = 0; i < inside.parts.size(); ++i) {
      std::ranges::copy(part(inside.parts[i], interactions),
                        scratch_.begin() + static_cast<std::ptrdiff_t>(inside.start[i]));
    }
    spread(t, true, tables);
  }
}

void Interactions::add_functions(std::span<const double> interactions, std::span<double> tables) {
  for (std::size_t t = 0; t < tops_.size(); ++t) {
    const Inside& inside = in_top_[t];
    for (std::size_t i = 0; i < inside.parts.size(); ++i) {
      double* mine = scratch_.data() + inside.start[i];
      const auto from = part(inside.parts[i], interactions);
      if (home_[inside.parts[i]] == t) {
        std::ranges::copy(from, mine);
      } else {
        std::fill_n(mine, from.size(), 0.0);
      }
    }
    spread(t, false, tables);
  }
}

double Interactions::weight(std::size_t top, std::size_t part_of_top) const {
  const Domain& domain = order_.domain();
  const Clique& clique = parts_[in_top_[top].parts[part_of_top]];
  double weight =
      static_cast<double>(domain.cells(clique)) / static_cast<double>(domain.cells(tops_[top]));
  weight *= weight;
  for (const auto id : clique) weight *= 1.0 - 1.0 / static_cast<double>(domain[id].size);
  return weight;
}

}  // namespace tandem
