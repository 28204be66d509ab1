// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/tree_routes.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

namespace tandem {
namespace {

// Of the cliques where a marginal could be put together, so many are weighed against each other, if
// their tables have at least so many cells; otherwise the weighing would cost more than it saves.
constexpr std::size_t kWeighed = 8;
constexpr std::size_t kWorthWeighing = 4096;
// All orders of so many branches are tried.
constexpr std::size_t kMostOrders = 4;

}  // namespace

TreeRoutes::TreeRoutes(const GraphicalModel& model)
    : model_(model), attributes_(model.domain().size()), words_((model.domain().size() + 63) / 64) {
  const auto& tree = model.tree();
  const std::size_t count = tree.cliques.size();
  std::vector<std::vector<std::size_t>> neighbours(count);
  for (std::size_t c = 1; c < count; ++c) {
    neighbours[c].push_back(tree.parent[c]);
    neighbours[tree.parent[c]].push_back(c);
  }
  const auto nowhere = static_cast<std::uint32_t>(count);
  toward_.assign(count * attributes_, nowhere);
  std::vector<std::pair<std::size_t, std::size_t>> stack;  // a clique, and where from
  for (std::size_t c = 0; c < count; ++c) {
    std::uint32_t* mine = toward_.data() + c * attributes_;
    for (const auto id : tree.cliques[c]) mine[id] = static_cast<std::uint32_t>(c);
    for (const auto neighbour : neighbours[c]) {
      stack.assign(1, {neighbour, c});
      while (!stack.empty()) {
        const auto [at, from] = stack.back();
        stack.pop_back();
        for (const auto id : tree.cliques[at]) {
          if (mine[id] == nowhere) mine[id] = static_cast<std::uint32_t>(neighbour);
        }
        for (const auto next : neighbours[at]) {
          if (next != from) stack.emplace_back(next, at);
        }
      }
    }
  }

  std::vector<std::size_t> by_width(count);
  for (std::size_t c = 0; c < count; ++c) by_width[c] = c;
  const auto& separators = tree.separators;
  std::ranges::sort(by_width, [&](std::size_t a, std::size_t b) {
    const std::size_t wide_a = model.domain().cells(separators[a]);
    const std::size_t wide_b = model.domain().cells(separators[b]);
    return wide_a != wide_b ? wide_a > wide_b : separators[a] < separators[b];
  });
  class_of_.assign(count, 0);
  for (std::size_t i = 1; i < count; ++i) {
    const bool same = separators[by_width[i]] == separators[by_width[i - 1]];
    class_of_[by_width[i]] = class_of_[by_width[i - 1]] + (same ? 0 : 1);
  }
}

TreeRoutes::Route TreeRoutes::from(std::size_t meet, std::span<const AttributeId> ids) const {
  Route out;
  out.meet = meet;
  for (const auto id : ids) {
    const std::size_t side = toward(meet, id);
    if (side == meet) {
      out.here.push_back(id);
      continue;
    }
    auto at = std::ranges::find(out.branches, side, &Branch::side);
    if (at == out.branches.end()) at = out.branches.insert(at, {side, {}});
    at->ids.push_back(id);
  }
  std::ranges::sort(out.branches, {}, [&](const Branch& branch) {
    return std::pair(width_class(meet, branch.side), branch.ids.front());
  });
  return out;
}

// Multiplications of the products one after the other. The last one is counted first.
double TreeRoutes::work_of(const Route& route, std::size_t to,
                           std::span<const std::size_t> order) const {
  const Domain& domain = model_.domain();
  std::vector<std::uint64_t> table(words_, 0);  // what is needed of the clique, as bits
  double cells = 1.0;
  const auto add = [&](AttributeId id) {
    std::uint64_t& word = table[id / 64];
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    if ((word & bit) == 0) cells *= domain[id].size;
    word |= bit;
  };
  for (const auto id : route.here) add(id);
  if (to != route.meet) {
    for (const auto id : separator(route.meet, to)) add(id);
  }
  double beyond = 1.0;  // codes of what has come in
  for (const auto& branch : route.branches) beyond *= codes_of(branch);
  double out = 0.0;
  for (std::size_t b = order.size(); b-- > 0;) {
    const auto& branch = route.branches[order[b]];
    for (const auto id : separator(route.meet, branch.side)) add(id);
    out += cells * beyond;
    beyond /= codes_of(branch);
  }
  return out;
}

double TreeRoutes::codes_of(const Branch& branch) const {
  double out = 1.0;
  for (const auto id : branch.ids) out *= model_.domain()[id].size;
  return out;
}

// Puts the branches in the order that takes the least work, and says how much.
double TreeRoutes::arrange(Route& route, std::size_t to) const {
  std::vector<std::size_t> order(route.branches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto best = order;
  double least = work_of(route, to, order);
  while (order.size() <= kMostOrders && std::ranges::next_permutation(order).found) {
    const double work = work_of(route, to, order);
    if (work < least) std::tie(least, best) = std::pair(work, order);
  }
  std::vector<Branch> arranged;
  for (const auto b : best) arranged.push_back(std::move(route.branches[b]));
  route.branches = std::move(arranged);
  for (const auto& branch : route.branches) {
    if (branch.ids.size() == 1) continue;
    Route further = from(branch.side, branch.ids);
    least += arrange(further, route.meet);
  }
  constexpr double kShareOfSum = 1.0 / 16.0;  // sums are quick, and shared
  return least + kShareOfSum * static_cast<double>(model_.belief(route.meet).size());
}

TreeRoutes::Route TreeRoutes::route(const Clique& clique) const {
  const std::size_t count = model_.tree().cliques.size();
  // Promising is where no side brings more attributes than it must, few are outside, and the table
  // is small.
  using Promise = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
  std::array<Promise, kWeighed> promising;  // the best so far, in order
  std::size_t found = 0;
  for (std::size_t c = 0; c < count; ++c) {
    const std::uint32_t* sides = toward_.data() + c * attributes_;
    std::size_t most = 0;
    std::size_t outside = 0;
    for (std::size_t i = 0; i < clique.size(); ++i) {
      const std::uint32_t side = sides[clique[i]];
      if (side == c) continue;
      ++outside;
      std::size_t brought = 1;
      for (std::size_t j = 0; j < i; ++j) brought += sides[clique[j]] == side ? 1 : 0;
      most = std::max(most, brought);
    }
    const Promise mine{most, outside, model_.belief(c).size(), c};
    if (found == kWeighed && promising.back() < mine) continue;
    std::size_t at = found < kWeighed ? found++ : kWeighed - 1;
    for (; at > 0 && mine < promising[at - 1]; --at) promising[at] = promising[at - 1];
    promising[at] = mine;
  }
  const auto [most, outside, cells, first] = promising.front();
  Route out = from(first, clique.ids());
  if (outside == 0 || cells < kWorthWeighing) return out;
  double least = arrange(out, first);
  for (std::size_t i = 1; i < found; ++i) {
    if (std::get<0>(promising[i]) > most) break;  // several beyond one separator share no work
    const std::size_t meet = std::get<3>(promising[i]);
    Route other = from(meet, clique.ids());
    const double work = arrange(other, meet);
    if (work < least) std::tie(least, out) = std::pair(work, std::move(other));
  }
  return out;
}

}  // namespace tandem
