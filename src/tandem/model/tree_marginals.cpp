// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/tree_marginals.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "tandem/base/check.h"
#include "tandem/model/shared_sums.h"

namespace tandem {

namespace {

// What is smaller than this has no inverse that a double can hold, and is as good as nothing.
constexpr double kLeastMass = 1e-290;
// Products are made together up to so many cells.
constexpr double kTogether = 1 << 17;
// Of the conditionals at one time: 128 MB.
constexpr double kMostCells = 1 << 24;
// A group is one task; more than so many shares of all queries would leave threads waiting.
constexpr std::size_t kTasks = 64;
constexpr std::size_t kFewQueries = 64;
// Times the multiplications of a last product that a marginal would follow by: its tables have to
// be put in order, too.
constexpr double kWorthDeriving = 16.0;

Clique clique_of(std::span<const AttributeId> ids) {
  return Clique(std::vector<AttributeId>(ids.begin(), ids.end()));
}

double cells_without(const Domain& domain, const Clique& clique, const Clique& gone) {
  double out = 1.0;
  for (const auto id : clique) {
    if (!gone.contains(id)) out *= domain[id].size;
  }
  return out;
}

Clique fixed_in(std::span<const FixedCode> slice) {
  std::vector<AttributeId> ids;
  for (const auto& fixed : slice) ids.push_back(fixed.id);
  return Clique(std::move(ids));
}

// The next codes, like an odometer's; false when there are none.
bool go_on(std::span<FixedCode> slice, const Domain& domain) {
  for (auto& fixed : slice) {
    if (++fixed.code < domain[fixed.id].size) return true;
    fixed.code = 0;
  }
  return false;
}

void add(Factor&& part, Factor& to) {
  if (to.values.empty()) {
    to = std::move(part);
    return;
  }
  for (std::size_t i = 0; i < part.values.size(); ++i) to.values[i] += part.values[i];
}

bool is_single(const TreeRoutes::Route& route) {
  return std::ranges::all_of(route.branches, [](const auto& b) { return b.ids.size() == 1; });
}

bool same(const TreeRoutes::Branch& a, const TreeRoutes::Branch& b) {
  return a.side == b.side && a.ids == b.ids;
}

}  // namespace

TreeMarginals::TreeMarginals(const GraphicalModel& model, std::size_t slice_cells)
    : model_(model),
      routes_(model),
      slice_cells_(static_cast<double>(slice_cells)),
      place_of_(routes_.edges() * model.domain().size(), 0) {}

TableView TreeMarginals::belief(std::size_t clique) const {
  return {model_.tree().cliques[clique], model_.belief(clique)};
}

ArrangedTable TreeMarginals::sum_of(const TableView& table, const Clique& onto) const {
  const auto plan = model_.order().plan(table.clique, onto);
  ArrangedTable out{onto, UnsetCells(plan.small_cells())};
  plan.sum(table.values.data(), out.values.data());
  return out;
}

ArrangedTable TreeMarginals::given(const TableView& table, const Clique& separator) const {
  const auto plan = model_.order().plan(table.clique, separator);
  std::vector<double> inverse(plan.small_cells());
  plan.sum(table.values.data(), inverse.data());
  for (double& mass : inverse) mass = mass > kLeastMass ? 1.0 / mass : 0.0;
  ArrangedTable out{table.clique, UnsetCells(plan.large_cells())};
  plan.multiply(table.values.data(), inverse.data(), out.values.data());
  return out;
}

std::size_t TreeMarginals::place(std::size_t from, std::size_t to, AttributeId id) const {
  return place_of_[routes_.edge(from, to) * model_.domain().size() + id] - 1;
}

const ArrangedTable& TreeMarginals::single(std::size_t from, std::size_t to, AttributeId id) const {
  return singles_[place(from, to, id)];
}

ArrangedTable TreeMarginals::conditional(std::size_t from, std::size_t to,
                                         std::span<const AttributeId> ids, Slice slice) const {
  const AxisOrder& order = model_.order();
  const Route route = routes_.from(from, ids);
  const Clique fixed = fixed_in(slice);
  const Clique separator = without(routes_.separator(from, to), fixed);
  std::vector<Clique> keep(route.branches.size() + 1, join(clique_of(route.here), separator));
  for (std::size_t i = route.branches.size(); i-- > 0;) {
    keep[i] = join(keep[i + 1], without(routes_.separator(from, route.branches[i].side), fixed));
  }
  ArrangedTable table =
      given(slice.empty() ? sum_of(belief(from), keep.front())
                          : sum_of(part_of(order, belief(from), slice), keep.front()),
            separator);
  for (std::size_t i = 0; i < route.branches.size(); ++i) {
    const auto& [side, beyond] = route.branches[i];
    if (beyond.size() > 1) {
      table = contract(order, table, conditional(side, from, beyond, slice), keep[i + 1]);
    } else if (slice.empty()) {
      table = contract(order, table, single(side, from, beyond.front()), keep[i + 1]);
    } else {
      const auto part = part_of(order, single(side, from, beyond.front()), slice);
      table = contract(order, table, part, keep[i + 1]);
    }
  }
  return table;
}

// Puts the conditional on its list, after those that it builds on. Returns its level.
std::size_t TreeMarginals::list(std::size_t edge, AttributeId id,
                                std::vector<std::vector<std::size_t>>& levels) {
  const std::size_t at = edge * model_.domain().size() + id;
  if (place_of_[at] != 0) return level_of_[place_of_[at] - 1];
  const std::size_t from = routes_.from_of(edge);
  const std::size_t next = routes_.toward(from, id);
  const std::size_t level = next == from ? 0 : list(routes_.edge(next, from), id, levels) + 1;
  singles_.emplace_back();
  level_of_.push_back(level);
  place_of_[at] = static_cast<std::uint32_t>(singles_.size());
  if (levels.size() <= level) levels.resize(level + 1);
  levels[level].push_back(at);
  return level;
}

void TreeMarginals::list_all(const Route& route, std::vector<std::vector<std::size_t>>& levels) {
  for (const auto& [side, ids] : route.branches) {
    if (ids.size() == 1) {
      list(routes_.edge(side, route.meet), ids.front(), levels);
    } else {
      list_all(routes_.from(side, ids), levels);
    }
  }
}

void TreeMarginals::prepare(std::span<const Query> queries, Threads threads) {
  std::vector<std::vector<std::size_t>> levels;
  for (const auto& query : queries) list_all(query.route, levels);
  for (auto& wanted : levels) {
    std::ranges::sort(wanted);
    prepare_level(wanted, threads);
  }
}

void TreeMarginals::prepare_level(std::span<const std::size_t> wanted, Threads threads) {
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
               auto nearer = given(sum, separator);
               if (way.next == way.from) {
                 singles_[place(way.from, way.to, way.ids.front())] = std::move(nearer);
                 return;
               }
               std::vector<const ArrangedTable*> rights;
               for (const auto id : way.ids) rights.push_back(&single(way.next, way.from, id));
               std::vector<std::size_t> all(rights.size());
               std::iota(all.begin(), all.end(), std::size_t{0});
               const RightSide side(model_.order(), routes_.separator(way.from, way.next),
                                    separator, rights);
               auto found = side.times(nearer, all);
               for (std::size_t i = 0; i < found.size(); ++i) {
                 singles_[place(way.from, way.to, way.ids[i])] = std::move(found[i]);
               }
             });
}

TreeMarginals::Query TreeMarginals::query(const Clique& clique, std::size_t number) const {
  Query out{routes_.route(clique), number, {}};
  const auto& route = out.route;
  auto& key = out.key;
  key.reserve(3 + clique.size() + route.branches.size());
  key.push_back(static_cast<std::uint32_t>(route.meet));
  key.push_back(static_cast<std::uint32_t>(route.branches.size()));
  key.push_back(static_cast<std::uint32_t>(route.here.size()));
  for (const auto id : route.here) key.push_back(id);
  for (const auto& branch : route.branches) {
    key.push_back(routes_.width_class(route.meet, branch.side));
  }
  for (const auto& branch : route.branches)
    key.insert(key.end(), branch.ids.begin(), branch.ids.end());
  return out;
}

std::vector<TreeMarginals::Group> TreeMarginals::groups_of(std::span<const Query> queries,
                                                           std::size_t most) const {
  std::vector<Group> out;
  for (std::size_t i = 0, end = 0; i < queries.size(); i = end) {
    const Route& route = queries[i].route;
    const std::size_t shape = 3 + route.here.size() + route.branches.size();
    const auto goes_with = [&](const Query& other) {
      return i == end || (is_single(route) && is_single(other.route)) ||
             (route.branches.front().ids.size() > 1 &&
              same(route.branches.front(), other.route.branches.front()));
    };
    while (end < queries.size() && end < i + most &&
           std::equal(queries[i].key.begin(),
                      queries[i].key.begin() + static_cast<std::ptrdiff_t>(shape),
                      queries[end].key.begin(),
                      queries[end].key.begin() +
                          static_cast<std::ptrdiff_t>(std::min(shape, queries[end].key.size()))) &&
           goes_with(queries[end])) {
      ++end;
    }
    Group group;
    group.queries = queries.subspan(i, end - i);
    group.here = clique_of(route.here);
    group.keep.resize(route.branches.size());
    group.needed = group.here;
    for (std::size_t b = route.branches.size(); b-- > 0;) {
      group.keep[b] = group.needed;
      group.needed = join(group.needed, routes_.separator(route.meet, route.branches[b].side));
    }
    count_codes(group);
    group.sliced = sliced(group);
    out.push_back(std::move(group));
  }
  return out;
}

void TreeMarginals::count_codes(Group& group) const {
  const Domain& domain = model_.domain();
  const std::size_t products = group.keep.size();
  group.codes.assign(products, 0.0);
  group.brought.assign(products, 0.0);
  for (std::size_t depth = 0; depth < products; ++depth) {
    Clique taken;
    for (const auto& query : group.queries) {
      const auto& ids = query.route.branches[depth].ids;
      if (ids.size() == 1) taken = join(taken, Clique{ids.front()});
    }
    for (const auto id : taken) group.codes[depth] += domain[id].size;
  }
  for (const auto& query : group.queries) {
    double codes = 1.0;
    for (std::size_t depth = 0; depth < products; ++depth) {
      for (const auto id : query.route.branches[depth].ids) codes *= domain[id].size;
      group.brought[depth] = std::max(group.brought[depth], codes);
    }
  }
}

// Attributes of which all separators on the way of several attributes have one: a slice of these
// takes a slice of each product, and none is made twice.
Clique TreeMarginals::in_all_separators(std::size_t from, std::size_t to,
                                        std::span<const AttributeId> ids) const {
  Clique out = routes_.separator(from, to);
  for (const auto& [side, beyond] : routes_.from(from, ids).branches) {
    if (beyond.size() > 1) out = intersect(out, in_all_separators(side, from, beyond));
  }
  return out;
}

// On the way to P(attributes | separator), for a slice.
double TreeMarginals::largest_table(std::size_t from, std::size_t to,
                                    std::span<const AttributeId> ids, const Clique& sliced) const {
  const Domain& domain = model_.domain();
  const Route route = routes_.from(from, ids);
  Clique keep = join(clique_of(route.here), routes_.separator(from, to));
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
        most, branch->ids.size() == 1
                  ? cells_without(domain, separator, sliced) * domain[branch->ids.front()].size
                  : largest_table(branch->side, from, branch->ids, sliced));
  }
  return std::max(most, cells_without(domain, keep, sliced));
}

// On the way to the group's answers, for a slice.
double TreeMarginals::largest_table(const Group& group, const Clique& sliced) const {
  const Domain& domain = model_.domain();
  const Route& route = group.queries.front().route;
  double most = cells_without(domain, group.needed, sliced);
  for (std::size_t depth = 0; depth < group.keep.size(); ++depth) {
    const auto& [side, ids] = route.branches[depth];
    const Clique& separator = routes_.separator(route.meet, side);
    most = std::max(most, group.codes[depth] * cells_without(domain, separator, sliced));
    if (ids.size() > 1) most = std::max(most, largest_table(side, route.meet, ids, sliced));
    if (depth + 1 == group.keep.size()) break;  // the answer itself
    most = std::max(most, group.brought[depth] * cells_without(domain, group.keep[depth], sliced));
  }
  return most;
}

// By as few codes as make the tables small enough; none where that takes none, or doesn't help.
Clique TreeMarginals::sliced(const Group& group) const {
  Clique out;
  double largest = largest_table(group, out);
  if (largest <= slice_cells_) return out;
  const Route& route = group.queries.front().route;
  Clique free = without(group.needed, group.here);
  for (const auto& [side, ids] : route.branches) {
    if (ids.size() > 1) free = intersect(free, in_all_separators(side, route.meet, ids));
  }
  while (largest > slice_cells_) {
    double best = largest;
    Clique next;
    for (const auto id : free) {
      const Clique with = join(out, Clique{id});
      const double found = largest_table(group, with);
      const bool better =
          best > slice_cells_ ? found < best : found <= slice_cells_ && found > best;
      if (better) std::tie(best, next) = std::pair(found, with);
    }
    if (next.empty()) break;
    largest = best;
    out = std::move(next);
  }
  return out;
}

struct TreeMarginals::Rights {
  std::vector<std::pair<std::size_t, AttributeId>> singles;  // side and attribute, in order
  RightSide tables;
};

void TreeMarginals::answer(const Group& group, const TableView& table,
                           std::span<Factor> out) const {
  if (group.sliced.empty()) return answer_slice(group, table, {}, out);
  std::vector<FixedCode> slice;
  for (const auto id : group.sliced) slice.push_back({id, 0});
  do {
    answer_slice(group, part_of(model_.order(), table, slice), slice, out);
  } while (go_on(slice, model_.domain()));
}

// Adds what a slice of the table gives to the group's answers.
void TreeMarginals::answer_slice(const Group& group, const TableView& table, Slice slice,
                                 std::span<Factor> out) const {
  const Route& route = group.queries.front().route;
  if (route.branches.empty()) {
    Factor whole{table.clique, std::vector<double>(table.values.size())};
    model_.order().restore(table.clique, table.values, whole.values);
    for (const auto& query : group.queries) out[query.number] = whole;
    return;
  }
  std::vector<Rights> rights;
  for (std::size_t depth = 0; depth < group.keep.size(); ++depth) {
    std::vector<std::pair<std::size_t, AttributeId>> singles;
    for (const auto& query : group.queries) {
      const auto& [side, ids] = query.route.branches[depth];
      if (ids.size() == 1) singles.emplace_back(side, ids.front());
    }
    std::ranges::sort(singles, {}, [](const auto& s) { return std::pair(s.second, s.first); });
    singles.erase(std::unique(singles.begin(), singles.end()), singles.end());
    std::vector<ArrangedTable> parts;
    std::vector<const ArrangedTable*> tables;
    for (const auto& [side, id] : singles) {
      const auto& whole = single(side, route.meet, id);
      if (!slice.empty()) parts.push_back(part_of(model_.order(), whole, slice));
      tables.push_back(&whole);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) tables[i] = &parts[i];
    const Clique& separator = routes_.separator(route.meet, route.branches[depth].side);
    rights.push_back(
        {std::move(singles), RightSide(model_.order(), without(separator, fixed_in(slice)),
                                       group.keep[depth], tables)});
  }
  multiply(group, rights, group.queries, table, slice, out);
}

// The products from here on: `rights` are those that are still to be taken.
void TreeMarginals::multiply(const Group& group, std::span<const Rights> rights,
                             std::span<const Query> queries, const TableView& table, Slice slice,
                             std::span<Factor> out) const {
  const auto& order = model_.order();
  const std::size_t meet = queries.front().route.meet;
  const std::size_t depth = group.keep.size() - rights.size();
  const bool last = rights.size() == 1;
  const auto branch = [&](std::size_t i) -> const Branch& {
    return queries[i].route.branches[depth];
  };
  const Clique& separator = routes_.separator(meet, branch(0).side);
  const Clique kept = without(table.clique, without(separator, group.keep[depth]));
  const auto rows = static_cast<double>(model_.domain().cells(kept));
  // Runs of queries that take the same product; several products are made together.
  std::vector<std::size_t> which;
  std::vector<std::span<const Query>> runs;
  double cells = 0.0;
  const auto finish = [&] {
    if (which.empty()) return;
    if (last) {
      auto found = rights.front().tables.factors_times(table, which);
      for (std::size_t i = 0; i < found.size(); ++i) {
        for (const auto& query : runs[i].subspan(1)) add(Factor(found[i]), out[query.number]);
        add(std::move(found[i]), out[runs[i].front().number]);
      }
    } else {
      const auto found = rights.front().tables.times(table, which);
      for (std::size_t i = 0; i < found.size(); ++i) {
        multiply(group, rights.subspan(1), runs[i], found[i], slice, out);
      }
    }
    which.clear();
    runs.clear();
    cells = 0.0;
  };
  std::size_t at = 0;  // in the singles, whose order is that of the queries
  for (std::size_t i = 0, end = 0; i < queries.size(); i = end) {
    while (end < queries.size() && same(branch(end), branch(i))) ++end;
    const auto run = queries.subspan(i, end - i);
    const auto& [side, ids] = branch(i);
    if (ids.size() == 1) {
      const auto& singles = rights.front().singles;
      while (singles[at] != std::pair(side, ids.front())) ++at;
      which.push_back(at);
      runs.push_back(run);
      cells += rows * model_.domain()[ids.front()].size;
      if (cells >= kTogether) finish();
      continue;
    }
    const auto more =
        contract(order, table, conditional(side, meet, ids, slice), group.keep[depth]);
    if (!last) {
      multiply(group, rights.subspan(1), run, more, slice, out);
      continue;
    }
    Factor whole{more.clique, std::vector<double>(more.values.size())};
    order.restore(more.clique, more.values, whole.values);
    for (const auto& query : run) add(Factor(whole), out[query.number]);
  }
  finish();
}

std::vector<Factor> TreeMarginals::project(std::span<const Clique> cliques, Threads threads) {
  std::vector<Query> queries(cliques.size());
  parallel_for((cliques.size() + kFewQueries - 1) / kFewQueries, threads, [&](std::size_t task) {
    const std::size_t end = std::min(cliques.size(), (task + 1) * kFewQueries);
    for (std::size_t i = task * kFewQueries; i < end; ++i) queries[i] = query(cliques[i], i);
  });
  const auto later = derived(cliques, queries);
  std::vector<char> is_later(cliques.size(), 0);
  for (const auto& marginal : later) is_later[marginal.number] = 1;
  std::erase_if(queries, [&](const Query& query) { return is_later[query.number] != 0; });
  std::vector<Factor> out(cliques.size());
  for (auto& part : parts_of(std::move(queries))) project_part(part, threads, out);
  for (std::size_t i = 0, end = 0; i < later.size(); i = end) {
    while (end < later.size() && later[end].level == later[i].level) ++end;
    parallel_for(end - i, threads, [&](std::size_t j) {
      const auto& mine = later[i + j];
      out[mine.number] = derive(cliques[mine.number], mine, out);
    });
  }
  return out;
}

// In the order of their levels. Each step takes an attribute nearer to the others, so that none
// follows from itself.
std::vector<TreeMarginals::Derived> TreeMarginals::derived(std::span<const Clique> cliques,
                                                           std::span<const Query> queries) const {
  if (cliques.size() < 3) return {};
  std::unordered_map<Clique, std::size_t> asked;
  for (std::size_t i = 0; i < cliques.size(); ++i) asked.try_emplace(cliques[i], i);
  std::vector<Derived> out;
  std::vector<std::size_t> place(cliques.size(), 0);  // one more than in out, or 0
  for (const auto& query : queries) {
    if (query.route.work == 0.0) continue;
    const Clique& clique = cliques[query.number];
    for (const auto& [gone, by] : routes_.stand_ins(clique)) {
      const auto rest = asked.find(join(without(clique, Clique{gone}), Clique{by}));
      const auto pair = asked.find(Clique{gone, by});
      if (rest == asked.end() || pair == asked.end() || pair->second == query.number) continue;
      const double work = static_cast<double>(model_.domain().cells(join(clique, Clique{by})));
      if (kWorthDeriving * work > query.route.work) continue;
      out.push_back({query.number, rest->second, pair->second, by, 0});
      place[query.number] = out.size();
      break;
    }
  }
  const auto level = [&](auto&& self, std::size_t number) -> std::size_t {
    if (place[number] == 0) return 0;
    Derived& mine = out[place[number] - 1];
    if (mine.level == 0) mine.level = 1 + std::max(self(self, mine.rest), self(self, mine.pair));
    return mine.level;
  };
  for (const auto& mine : out) level(level, mine.number);
  std::ranges::sort(out, {}, [](const Derived& d) { return std::pair(d.level, d.number); });
  return out;
}

Factor TreeMarginals::derive(const Clique& clique, const Derived& from,
                             std::span<const Factor> known) const {
  const AxisOrder& order = model_.order();
  const auto arranged = [&](const Factor& factor) {
    ArrangedTable out{factor.clique, UnsetCells(factor.values.size())};
    order.arrange(factor.clique, factor.values, out.values);
    return out;
  };
  const auto conditional = given(arranged(known[from.pair]), Clique{from.by});
  const auto product = contract(order, arranged(known[from.rest]), conditional, clique);
  Factor out{clique, std::vector<double>(product.values.size())};
  order.restore(clique, product.values, out.values);
  return out;
}

// By the attribute whose conditional is the largest: those of one attribute build on each other and
// on no other's, so that parts repeat little of each other's work.
std::vector<std::vector<TreeMarginals::Query>> TreeMarginals::parts_of(
    std::vector<Query> queries) const {
  const Domain& domain = model_.domain();
  const std::size_t attributes = domain.size();
  const auto cells_of = [&](const Route& route, const Branch& branch, AttributeId id) {
    const auto width = domain.cells(routes_.separator(route.meet, branch.side));
    return static_cast<double>(width) * domain[id].size;
  };
  std::vector<char> counted(place_of_.size(), 0);
  std::vector<double> cells(attributes, 0.0);  // of each attribute's conditionals, without the ways
  std::vector<AttributeId> largest;            // of each query
  for (const auto& query : queries) {
    double most = -1.0;
    largest.push_back(0);
    for (const auto& branch : query.route.branches) {
      for (const auto id : branch.ids) {
        const double mine = cells_of(query.route, branch, id);
        if (mine > most) std::tie(most, largest.back()) = std::pair(mine, id);
        char& known = counted[routes_.edge(branch.side, query.route.meet) * attributes + id];
        if (known == 0) cells[id] += mine;
        known = 1;
      }
    }
  }
  std::vector<std::size_t> part(attributes, 0);
  double so_far = 0.0;
  for (std::size_t id = 0; id < attributes; ++id) {
    part[id] = id == 0 ? 0 : part[id - 1];
    if (so_far > 0.0 && so_far + cells[id] > kMostCells) {
      ++part[id];
      so_far = 0.0;
    }
    so_far += cells[id];
  }
  std::vector<std::vector<Query>> out(part.back() + 1);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    out[part[largest[i]]].push_back(std::move(queries[i]));
  }
  return out;
}

void TreeMarginals::project_part(std::span<Query> queries, Threads threads, std::span<Factor> out) {
  std::ranges::fill(place_of_, 0U);
  level_of_.clear();
  singles_.clear();
  prepare(queries, threads);
  std::ranges::sort(queries, {}, [](const Query& q) { return std::tie(q.key, q.number); });
  const auto groups = groups_of(queries, std::max(kFewQueries, queries.size() / kTasks));
  std::vector<WantedSum> sums;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    sums.push_back({groups[g].queries.front().route.meet, groups[g].needed, g});
  }
  const auto table = [&](std::size_t clique) { return belief(clique); };
  share_sums(model_.order(), table, std::move(sums), threads,
             [&](std::size_t g, const TableView& sum) { answer(groups[g], sum, out); });
}

}  // namespace tandem
