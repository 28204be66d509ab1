// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/tree_marginals.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {

namespace {

// What is smaller than this has no inverse that a double can hold, and is as good as nothing.
constexpr double kLeastMass = 1e-290;

// Of the cliques where a marginal could be put together, so many are weighed against each other, if
// their tables have at least so many cells; otherwise the weighing would cost more than it saves.
constexpr std::size_t kWeighed = 8;
constexpr std::size_t kWorthWeighing = 4096;

}  // namespace

TreeMarginals::TreeMarginals(const GraphicalModel& model) : model_(model) {
  const auto& tree = model.tree();
  const std::size_t count = tree.cliques.size();
  std::vector<std::vector<std::size_t>> neighbours(count);
  for (std::size_t c = 1; c < count; ++c) {
    neighbours[c].push_back(tree.parent[c]);
    neighbours[tree.parent[c]].push_back(c);
  }
  toward_.assign(count, std::vector<std::size_t>(model.domain().size(), count));
  for (std::size_t c = 0; c < count; ++c) {
    for (const auto id : tree.cliques[c]) toward_[c][id] = c;
    for (const auto neighbour : neighbours[c]) {
      std::vector<std::pair<std::size_t, std::size_t>> stack{{neighbour, c}};  // and where from
      while (!stack.empty()) {
        const auto [at, from] = stack.back();
        stack.pop_back();
        for (const auto id : tree.cliques[at]) {
          if (toward_[c][id] == count) toward_[c][id] = neighbour;
        }
        for (const auto next : neighbours[at]) {
          if (next != from) stack.emplace_back(next, at);
        }
      }
    }
  }
}

const Clique& TreeMarginals::separator(std::size_t a, std::size_t b) const {
  const auto& tree = model_.tree();
  return tree.parent[a] == b && a != 0 ? tree.separators[a] : tree.separators[b];
}

// The attributes of `part` outside `meet`, by the neighbour beyond which they lie.
std::vector<std::pair<std::size_t, Clique>> TreeMarginals::branches(std::size_t meet,
                                                                    const Clique& part) const {
  std::vector<std::pair<std::size_t, std::vector<AttributeId>>> found;
  for (const auto id : part) {
    const std::size_t side = toward_[meet][id];
    if (side == meet) continue;
    auto at = std::ranges::find(found, side, [](const auto& entry) { return entry.first; });
    if (at == found.end()) at = found.insert(at, {side, {}});
    at->second.push_back(id);
  }
  // Wide separators go first, so that the products get narrow early.
  std::ranges::stable_sort(found, std::ranges::greater(), [&](const auto& entry) {
    return model_.domain().cells(separator(meet, entry.first));
  });
  std::vector<std::pair<std::size_t, Clique>> out;
  for (auto& [side, ids] : found) out.emplace_back(side, Clique(std::move(ids)));
  return out;
}

TreeMarginals::Route TreeMarginals::route(const Clique& clique) const {
  const auto& tree = model_.tree();
  // Promising is where no side brings more attributes than it must, few are outside, and the table
  // is small.
  using Promise = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
  std::vector<Promise> promising;
  std::vector<std::size_t> brought(tree.cliques.size(), 0);
  for (std::size_t c = 0; c < tree.cliques.size(); ++c) {
    std::size_t most = 0;
    std::size_t outside = 0;
    for (const auto id : clique) {
      if (toward_[c][id] == c) continue;
      ++outside;
      most = std::max(most, ++brought[toward_[c][id]]);
    }
    for (const auto id : clique) brought[toward_[c][id]] = 0;
    promising.emplace_back(most, outside, model_.belief(c).size(), c);
  }
  const std::size_t few = std::min(kWeighed, promising.size());
  std::partial_sort(promising.begin(), promising.begin() + static_cast<std::ptrdiff_t>(few),
                    promising.end());
  Route out;
  out.meet = std::get<3>(promising.front());
  if (model_.belief(out.meet).size() >= kWorthWeighing) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < few; ++i) {
      const std::size_t c = std::get<3>(promising[i]);
      const double cost = work(c, c, clique);
      if (cost < least) std::tie(least, out.meet) = std::pair(cost, c);
    }
  }
  out.last = out.meet;
  out.first_part = clique;
  const auto sides = branches(out.meet, clique);
  if (!sides.empty()) {
    out.last = sides.back().first;
    out.last_part = sides.back().second;
    out.first_part = without(clique, out.last_part);
  }
  return out;
}

ArrangedTable TreeMarginals::sum_of(std::size_t clique, const Clique& onto) const {
  const auto plan = model_.order().plan(model_.tree().cliques[clique], onto);
  ArrangedTable out{onto, std::vector<double>(plan.small_cells())};
  plan.sum(model_.belief(clique).data(), out.values.data());
  return out;
}

// Follows joint(), counting.
double TreeMarginals::work(std::size_t from, std::size_t to, const Clique& part) const {
  const auto cells = [&](const Clique& clique) {
    double out = 1.0;
    for (const auto id : clique) out *= static_cast<double>(model_.domain()[id].size);
    return out;
  };
  const auto sides = branches(from, part);
  Clique keep = part;
  if (to != from) keep = join(keep, separator(from, to));
  Clique table = intersect(keep, model_.tree().cliques[from]);
  for (const auto& [side, ids] : sides) table = join(table, separator(from, side));
  double out = static_cast<double>(model_.belief(from).size()) / 4.0;  // sums are quick
  for (std::size_t i = 0; i < sides.size(); ++i) {
    Clique still = keep;
    for (std::size_t j = i + 1; j < sides.size(); ++j) {
      still = join(still, separator(from, sides[j].first));
    }
    const auto& [side, ids] = sides[i];
    table = join(table, ids);
    out += cells(table);
    if (ids.size() > 1) out += work(side, from, ids);
    table = without(table, without(separator(from, side), still));
  }
  return out;
}

ArrangedTable TreeMarginals::joint(std::size_t from, std::size_t to, const Clique& part) const {
  const auto sides = branches(from, part);
  Clique here = intersect(part, model_.tree().cliques[from]);
  Clique keep = part;
  if (to != from) {
    here = join(here, separator(from, to));
    keep = join(keep, separator(from, to));
  }
  Clique needed = here;
  for (const auto& [side, ids] : sides) needed = join(needed, separator(from, side));
  ArrangedTable table = sum_of(from, needed);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    Clique still = keep;  // what later products need too
    for (std::size_t j = i + 1; j < sides.size(); ++j) {
      still = join(still, separator(from, sides[j].first));
    }
    const auto& [side, ids] = sides[i];
    const auto known = ids.size() == 1 ? singles_.find({{side, from}, ids[0]}) : singles_.end();
    table = known != singles_.end()
                ? contract(model_.order(), table, known->second, still)
                : contract(model_.order(), table, conditional(side, from, ids), still);
  }
  return table;
}

ArrangedTable TreeMarginals::conditional(std::size_t from, std::size_t to,
                                         const Clique& part) const {
  ArrangedTable table = joint(from, to, part);
  const auto below = sum_of(from, separator(from, to));
  std::vector<double> inverse(below.values.size());
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    inverse[i] = below.values[i] > kLeastMass ? 1.0 / below.values[i] : 0.0;
  }
  const auto plan = model_.order().plan(table.clique, below.clique);
  plan.multiply(table.values.data(), inverse.data(), table.values.data());
  return table;
}

// Which conditionals of single attributes `part` needs on its way out of `from`; each builds on
// those of lower levels. Returns the level of what builds on `part`.
std::size_t TreeMarginals::list_singles(std::size_t from, std::size_t to, const Clique& part,
                                        std::map<Single, std::size_t>& levels) const {
  const bool single = part.size() == 1 && from != to;
  const Single key{{from, to}, single ? part[0] : AttributeId{0}};
  if (single) {
    if (const auto known = levels.find(key); known != levels.end()) return known->second + 1;
  }
  std::size_t level = 0;
  for (const auto& [side, ids] : branches(from, part)) {
    level = std::max(level, list_singles(side, from, ids, levels));
  }
  if (!single) return level;
  levels.emplace(key, level);
  return level + 1;
}

void TreeMarginals::prepare(const std::map<Single, std::size_t>& levels, Threads threads) {
  std::vector<std::vector<Single>> by_level;
  for (const auto& [key, level] : levels) {
    if (level >= by_level.size()) by_level.resize(level + 1);
    by_level[level].push_back(key);
  }
  for (const auto& keys : by_level) {
    std::vector<ArrangedTable> found(keys.size());
    parallel_for(keys.size(), threads, [&](std::size_t i) {
      const auto& way = keys[i].first;
      found[i] = conditional(way.first, way.second, Clique{keys[i].second});
    });
    for (std::size_t i = 0; i < keys.size(); ++i) singles_.emplace(keys[i], std::move(found[i]));
  }
}

std::vector<Factor> TreeMarginals::project(std::span<const Clique> cliques, Threads threads) {
  std::vector<Route> routes(cliques.size());
  parallel_for(cliques.size(), threads, [&](std::size_t i) {
    routes[i] = route(cliques[i]);
    routes[i].query = i;
  });
  std::map<Single, std::size_t> levels;
  for (const auto& r : routes) list_singles(r.meet, r.meet, cliques[r.query], levels);
  prepare(levels, threads);
  // Routes that share all but the last part are neighbours, and one task.
  std::ranges::sort(routes, {}, [](const Route& r) {
    return std::tie(r.meet, r.last, r.first_part, r.last_part, r.query);
  });
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const bool shared =
        i > 0 && routes[i].last != routes[i].meet && routes[i].meet == routes[i - 1].meet &&
        routes[i].last == routes[i - 1].last && routes[i].first_part == routes[i - 1].first_part;
    if (!shared) starts.push_back(i);
  }
  starts.push_back(routes.size());

  std::vector<Factor> out(cliques.size());
  parallel_for(starts.size() - 1, threads, [&](std::size_t task) {
    const std::span group(routes.data() + starts[task], starts[task + 1] - starts[task]);
    const std::size_t meet = group.front().meet;
    const std::size_t last = group.front().last;
    const Clique& first_part = group.front().first_part;
    const ArrangedTable first = joint(meet, last, first_part);
    std::vector<const ArrangedTable*> singles;
    std::vector<std::size_t> of_singles;  // their queries
    for (const Route& r : group) {
      if (last != meet && r.last_part.size() == 1) {
        singles.push_back(&singles_.at({{last, meet}, r.last_part[0]}));
        of_singles.push_back(r.query);
        continue;
      }
      const Clique& clique = cliques[r.query];
      ArrangedTable whole;
      if (last != meet) {
        whole = contract(model_.order(), first, conditional(last, meet, r.last_part), clique);
      }
      const auto& values = last != meet ? whole.values : first.values;
      out[r.query] = {clique, std::vector<double>(values.size())};
      model_.order().restore(clique, values, out[r.query].values);
    }
    if (singles.empty()) return;
    auto found = contract_each(model_.order(), first, singles, first_part);
    for (std::size_t i = 0; i < found.size(); ++i) out[of_singles[i]] = std::move(found[i]);
  });
  return out;
}

}  // namespace tandem
