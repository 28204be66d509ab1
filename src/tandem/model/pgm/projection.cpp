// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/projection.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tandem/model/pgm/derived_marginals.h"
#include "tandem/model/tables/contraction.h"
#include "tandem/model/tables/part_sums.h"

namespace tandem {

namespace {

// Products are made together up to so many cells.
constexpr double kTogether = 1 << 17;
// Of the conditionals at one time: 128 MB.
constexpr double kMostCells = 1 << 24;
// A group is one task; more than so many shares of all queries would leave threads waiting.
constexpr std::size_t kTasks = 64;
constexpr std::size_t kFewQueries = 64;

bool is_single(const ProjectionRoutes::Route& route) {
  return std::ranges::all_of(route.branches, [](const auto& b) { return b.ids.size() == 1; });
}

bool same(const ProjectionRoutes::Branch& a, const ProjectionRoutes::Branch& b) {
  return a.side == b.side && a.ids == b.ids;
}

}  // namespace

Projection::Projection(const GraphicalModel& model, std::size_t slice_cells)
    : model_(model),
      slice_cells_(static_cast<double>(slice_cells)),
      routes_(model),
      conditionals_(model, routes_, slice_cells_) {}

Projection::Query Projection::query(const Clique& clique, std::size_t number) const {
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

std::vector<Projection::Group> Projection::groups_of(std::span<const Query> queries,
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
    group.here = route.here;
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

void Projection::count_codes(Group& group) const {
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

// On the way to the group's answers, for a slice.
double Projection::largest_table(const Group& group, const Clique& sliced) const {
  const Domain& domain = model_.domain();
  const Route& route = group.queries.front().route;
  double most = cells_without(domain, group.needed, sliced);
  for (std::size_t depth = 0; depth < group.keep.size(); ++depth) {
    const auto& [side, ids] = route.branches[depth];
    const Clique& separator = routes_.separator(route.meet, side);
    most = std::max(most, group.codes[depth] * cells_without(domain, separator, sliced));
    if (!conditionals_.is_ready(side, route.meet, ids)) {
      most = std::max(most, conditionals_.largest_table(side, route.meet, ids, sliced));
    }
    if (depth + 1 == group.keep.size()) break;  // the answer itself
    most = std::max(most, group.brought[depth] * cells_without(domain, group.keep[depth], sliced));
  }
  return most;
}

Clique Projection::sliced(const Group& group) const {
  if (largest_table(group, {}) <= slice_cells_) return {};
  Clique free = without(group.needed, group.here);
  for (const auto& query : group.queries) {
    for (const auto& [side, ids] : query.route.branches) {
      free = intersect(free, conditionals_.sliceable(side, query.route.meet, ids));
    }
  }
  return choose_slices(free, slice_cells_,
                       [&](const Clique& some) { return largest_table(group, some); });
}

struct Projection::Rights {
  std::vector<std::pair<std::size_t, AttributeId>> singles;  // side and attribute, in order
  RightSide tables;
};

void Projection::answer(const Group& group, const TableView& table, std::span<Factor> out) const {
  for_each_slice(model_.domain(), group.sliced, [&](Slice slice) {
    if (slice.empty()) {
      answer_slice(group, table, slice, out);
    } else {
      answer_slice(group, part_of(model_.order(), table, slice), slice, out);
    }
  });
}

// Adds what a slice of the table gives to the group's answers.
void Projection::answer_slice(const Group& group, const TableView& table, Slice slice,
                              std::span<Factor> out) const {
  const Route& route = group.queries.front().route;
  if (route.branches.empty()) {
    for (const auto& query : group.queries) out[query.number] = restored(model_.order(), table);
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
    std::vector<AlignedTable> parts;
    parts.reserve(singles.size());
    std::vector<const AlignedTable*> tables;
    for (const auto& [side, id] : singles) {
      const auto ids = std::span(&id, 1);
      if (slice.empty() && conditionals_.is_ready(side, route.meet, ids)) {
        tables.push_back(&conditionals_.ready(side, route.meet, id));
      } else {
        parts.push_back(conditionals_.slice_of(side, route.meet, ids, slice));
        tables.push_back(&parts.back());
      }
    }
    const Clique& separator = routes_.separator(route.meet, route.branches[depth].side);
    rights.push_back(
        {std::move(singles), RightSide(model_.order(), without(separator, fixed_in(slice)),
                                       group.keep[depth], tables)});
  }
  multiply(group, rights, group.queries, table, slice, out);
}

// The products from here on: `rights` are those that are still to be taken.
void Projection::multiply(const Group& group, std::span<const Rights> rights,
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
        for (const auto& query : runs[i].subspan(1)) add_slice(found[i], out[query.number]);
        add_slice(std::move(found[i]), out[runs[i].front().number]);
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
        contract(order, table, conditionals_.slice_of(side, meet, ids, slice), group.keep[depth]);
    if (!last) {
      multiply(group, rights.subspan(1), run, more, slice, out);
      continue;
    }
    for (const auto& query : run) add_slice(restored(order, more), out[query.number]);
  }
  finish();
}

std::vector<Factor> Projection::project(std::span<const Clique> cliques, Threads threads) {
  std::vector<Query> queries(cliques.size());
  parallel_for((cliques.size() + kFewQueries - 1) / kFewQueries, threads, [&](std::size_t task) {
    const std::size_t end = std::min(cliques.size(), (task + 1) * kFewQueries);
    for (std::size_t i = task * kFewQueries; i < end; ++i) queries[i] = query(cliques[i], i);
  });
  std::vector<const Route*> routes;
  for (const auto& query : queries) routes.push_back(&query.route);
  const DerivedMarginals derived(routes_, cliques, routes);
  std::erase_if(queries, [&](const Query& query) { return derived.contains(query.number); });
  std::vector<Factor> out(cliques.size());
  for (auto& part : parts_of(std::move(queries))) project_part(part, threads, out);
  derived.derive(model_.order(), cliques, threads, out);
  return out;
}

// By the attribute whose conditional is the largest: those of one attribute build on each other and
// on no other's, so that parts repeat little of each other's work.
std::vector<std::vector<Projection::Query>> Projection::parts_of(std::vector<Query> queries) const {
  const Domain& domain = model_.domain();
  const std::size_t attributes = domain.size();
  const auto cells_of = [&](const Route& route, const Branch& branch, AttributeId id) {
    if (!conditionals_.is_ready(branch.side, route.meet, std::span(&id, 1))) return 0.0;
    const auto width = domain.cells(routes_.separator(route.meet, branch.side));
    return static_cast<double>(width) * domain[id].size;
  };
  std::vector<char> counted(routes_.edges() * attributes, 0);
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

void Projection::project_part(std::span<Query> queries, Threads threads, std::span<Factor> out) {
  std::vector<const Route*> routes;
  for (const auto& query : queries) routes.push_back(&query.route);
  conditionals_.prepare(routes, threads);
  std::ranges::sort(queries, {}, [](const Query& q) { return std::tie(q.key, q.number); });
  const auto groups = groups_of(queries, std::max(kFewQueries, queries.size() / kTasks));
  std::vector<WantedSum> sums;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    sums.push_back({groups[g].queries.front().route.meet, groups[g].needed, g});
  }
  const auto table = [&](std::size_t clique) {
    return TableView(model_.tree().cliques[clique], model_.belief(clique));
  };
  share_sums(model_.order(), table, std::move(sums), threads,
             [&](std::size_t g, const TableView& sum) { answer(groups[g], sum, out); });
}

}  // namespace tandem
