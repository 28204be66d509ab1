// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/edge_conditionals.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tandem/model/tables/contraction.h"
#include "tandem/model/tables/part_sums.h"

namespace tandem {
namespace {

// What is larger than so many slices is not kept.
constexpr double kReadySlices = 8.0;

}  // namespace

EdgeConditionals::EdgeConditionals(const GraphicalModel& model, const ProjectionRoutes& routes,
                                   double slice_cells)
    : model_(model),
      routes_(routes),
      slice_cells_(slice_cells),
      place_of_(routes.edges() * model.domain().size(), 0) {}

TableView EdgeConditionals::belief(std::size_t clique) const {
  return {model_.tree().cliques[clique], model_.belief(clique)};
}

// From what is ready, if it isn't ready itself.
AlignedTable EdgeConditionals::conditional(std::size_t from, std::size_t to, Ids ids,
                                           Slice slice) const {
  const AxisOrder& order = model_.order();
  const auto route = routes_.from(from, ids);
  const Clique fixed = fixed_in(slice);
  const Clique separator = without(routes_.separator(from, to), fixed);
  std::vector<Clique> keep(route.branches.size() + 1, join(route.here, separator));
  for (std::size_t i = route.branches.size(); i-- > 0;) {
    keep[i] = join(keep[i + 1], without(routes_.separator(from, route.branches[i].side), fixed));
  }
  AlignedTable table = slice.empty()
                           ? sum_of(order, belief(from), keep.front())
                           : sum_of(order, part_of(order, belief(from), slice), keep.front());
  table = given(order, table, separator);
  if (route.branches.empty()) return table;
  // What is summed out here takes turns where that makes the tables of the branches smaller.
  Clique free = without(keep.front(), keep.back());
  for (const auto& [side, beyond] : route.branches) {
    free = intersect(free, sliceable(side, from, beyond));
  }
  const Clique sliced = choose_slices(free, slice_cells_, [&](const Clique& some) {
    return largest_table(from, to, ids, join(fixed, some));
  });
  AlignedTable out;
  for_each_slice(model_.domain(), sliced, [&](Slice more) {
    std::vector<FixedCode> at(slice.begin(), slice.end());
    at.insert(at.end(), more.begin(), more.end());
    AlignedTable part = more.empty() ? std::move(table) : part_of(order, table, more);
    for (std::size_t i = 0; i < route.branches.size(); ++i) {
      const auto& [side, beyond] = route.branches[i];
      if (at.empty() && is_ready(side, from, beyond)) {
        part = contract(order, part, ready(side, from, beyond.front()), keep[i + 1]);
      } else {
        part = contract(order, part, slice_of(side, from, beyond, at), keep[i + 1]);
      }
    }
    add_slice(std::move(part), out);
  });
  return out;
}

AlignedTable EdgeConditionals::slice_of(std::size_t from, std::size_t to, Ids ids,
                                        Slice slice) const {
  return is_ready(from, to, ids) ? part_of(model_.order(), ready(from, to, ids.front()), slice)
                                 : conditional(from, to, ids, slice);
}

bool EdgeConditionals::is_ready(std::size_t from, std::size_t to, Ids ids) const {
  if (ids.size() > 1) return false;
  const Domain& domain = model_.domain();
  const auto width = static_cast<double>(domain.cells(routes_.separator(from, to)));
  return width * domain[ids.front()].size <= kReadySlices * slice_cells_;
}

Clique EdgeConditionals::sliceable(std::size_t from, std::size_t to, Ids ids) const {
  if (is_ready(from, to, ids)) return model_.domain().all();
  Clique out = routes_.separator(from, to);
  for (const auto& [side, beyond] : routes_.from(from, ids).branches) {
    out = intersect(out, sliceable(side, from, beyond));
  }
  return out;
}

double EdgeConditionals::largest_table(std::size_t from, std::size_t to, Ids ids,
                                       const Clique& sliced) const {
  const Domain& domain = model_.domain();
  const auto route = routes_.from(from, ids);
  Clique keep = join(route.here, routes_.separator(from, to));
  double codes = 1.0;
  for (const auto& branch : route.branches) {
    for (const auto id : branch.ids) codes *= domain[id].size;
  }
  double most = 0.0;
  for (auto branch = route.branches.rbegin(); branch != route.branches.rend(); ++branch) {
    most = std::max(most, codes * cells_without(domain, keep, sliced));
    const Clique& separator = routes_.separator(from, branch->side);
    keep = join(keep, separator);
    for (const auto id : branch->ids) codes /= domain[id].size;
    most = std::max(
        most, is_ready(branch->side, from, branch->ids)
                  ? cells_without(domain, separator, sliced) * domain[branch->ids.front()].size
                  : largest_table(branch->side, from, branch->ids, sliced));
  }
  return std::max(most, cells_without(domain, keep, sliced));
}

// Puts the conditional on its list, after those that it builds on, unless it is made anew for each
// slice. Returns its level.
std::size_t EdgeConditionals::list(std::size_t edge, AttributeId id,
                                   std::vector<std::vector<std::size_t>>& levels) {
  const std::size_t at = edge * model_.domain().size() + id;
  if (place_of_[at] != 0) return level_of_[place_of_[at] - 1];
  const std::size_t from = routes_.from_of(edge);
  const std::size_t next = routes_.toward(from, id);
  const std::size_t level = next == from ? 0 : list(routes_.edge(next, from), id, levels) + 1;
  if (!is_ready(from, routes_.to_of(edge), std::span(&id, 1))) return level;
  singles_.emplace_back();
  level_of_.push_back(level);
  place_of_[at] = static_cast<std::uint32_t>(singles_.size());
  if (levels.size() <= level) levels.resize(level + 1);
  levels[level].push_back(at);
  return level;
}

void EdgeConditionals::list_all(const ProjectionRoutes::Route& route,
                                std::vector<std::vector<std::size_t>>& levels) {
  for (const auto& [side, ids] : route.branches) {
    if (ids.size() == 1) {
      list(routes_.edge(side, route.meet), ids.front(), levels);
    } else {
      list_all(routes_.from(side, ids), levels);
    }
  }
}

void EdgeConditionals::prepare(std::span<const ProjectionRoutes::Route* const> routes,
                               Threads threads) {
  std::ranges::fill(place_of_, 0U);
  level_of_.clear();
  singles_.clear();
  std::vector<std::vector<std::size_t>> levels;
  for (const auto* route : routes) list_all(*route, levels);
  for (auto& wanted : levels) {
    std::ranges::sort(wanted);
    prepare_level(wanted, threads);
  }
}

void EdgeConditionals::prepare_level(std::span<const std::size_t> wanted, Threads threads) {
  const std::size_t attributes = model_.domain().size();
  // Attributes that come the same way take one product.
  struct Way {
    std::size_t from, to, next;
    std::vector<AttributeId> ids;
  };
  std::vector<Way> ways;
  for (const auto at : wanted) {
    const std::size_t from = routes_.from_of(at / attributes);
    const std::size_t to = routes_.to_of(at / attributes);
    const auto id = static_cast<AttributeId>(at % attributes);
    const std::size_t next = routes_.toward(from, id);
    // Those of one edge are neighbours, and few.
    auto way = ways.end();
    while (next != from && way != ways.begin() && (way - 1)->from == from && (way - 1)->to == to) {
      if ((--way)->next == next) break;
    }
    if (way != ways.end() && way->next == next && next != from) {
      way->ids.push_back(id);
    } else {
      ways.push_back({from, to, next, {id}});
    }
  }
  std::vector<WantedSum> sums;
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const auto& [from, to, next, ids] = ways[w];
    sums.push_back({from,
                    join(routes_.separator(from, to),
                         next == from ? Clique{ids.front()} : routes_.separator(from, next)),
                    w});
  }
  const auto table = [&](std::size_t clique) { return belief(clique); };
  share_sums(model_.order(), table, std::move(sums), threads,
             [&](std::size_t w, const TableView& sum) {
               const Way& way = ways[w];
               const Clique& separator = routes_.separator(way.from, way.to);
               auto nearer = given(model_.order(), sum, separator);
               if (way.next == way.from) {
                 singles_[place(way.from, way.to, way.ids.front())] = std::move(nearer);
                 return;
               }
               std::vector<AttributeId> ids;
               std::vector<const AlignedTable*> rights;
               for (const auto id : way.ids) {
                 if (is_ready(way.next, way.from, std::span(&id, 1))) {
                   ids.push_back(id);
                   rights.push_back(&ready(way.next, way.from, id));
                 } else {
                   singles_[place(way.from, way.to, id)] =
                       given(model_.order(), joint(way.from, id, sum, separator), separator);
                 }
               }
               if (ids.empty()) return;
               std::vector<std::size_t> all(rights.size());
               std::iota(all.begin(), all.end(), std::size_t{0});
               const RightSide side(model_.order(), routes_.separator(way.from, way.next),
                                    separator, rights);
               auto found = side.times(nearer, all);
               for (std::size_t i = 0; i < found.size(); ++i) {
                 singles_[place(way.from, way.to, ids[i])] = std::move(found[i]);
               }
             });
}

// P(id, separator) from a table of the clique `from`, in slices.
AlignedTable EdgeConditionals::joint(std::size_t from, AttributeId id, const TableView& table,
                                     const Clique& separator) const {
  const std::size_t next = routes_.toward(from, id);
  const Ids ids(&id, 1);
  const Clique free = without(intersect(table.clique, sliceable(next, from, ids)), separator);
  const Clique sliced = choose_slices(free, slice_cells_, [&](const Clique& some) {
    return std::max(cells_without(model_.domain(), table.clique, some),
                    largest_table(next, from, ids, some));
  });
  AlignedTable out;
  for_each_slice(model_.domain(), sliced, [&](Slice slice) {
    auto found = contract(model_.order(), part_of(model_.order(), table, slice),
                          slice_of(next, from, ids, slice), separator);
    add_slice(std::move(found), out);
  });
  return out;
}

}  // namespace tandem
