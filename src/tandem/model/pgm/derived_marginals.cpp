// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/pgm/derived_marginals.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "tandem/model/tables/contraction.h"

namespace tandem {

DerivedMarginals::DerivedMarginals(const ProjectionRoutes& tree, std::span<const Clique> cliques,
                                   std::span<const ProjectionRoutes::Route* const> routes)
    : is_derived_(cliques.size(), 0) {
  std::unordered_map<Clique, std::size_t> asked;
  for (std::size_t i = 0; i < cliques.size(); ++i) asked.try_emplace(cliques[i], i);
  std::vector<std::size_t> place(cliques.size(), 0);
  for (std::size_t i = 0; i < cliques.size(); ++i) {
    if (routes[i]->work == 0.0) continue;
    for (const auto& [gone, by] : tree.stand_ins(cliques[i])) {
      const auto rest = asked.find(join(without(cliques[i], Clique{gone}), Clique{by}));
      const auto pair = asked.find(Clique{gone, by});
      if (rest == asked.end() || pair == asked.end()) continue;
      if (cliques[i] == pair->first) continue;
      place[i] = derived_.size();
      is_derived_[i] = 1;
      derived_.push_back({i, rest->second, pair->second, by, 0});
      break;
    }
  }
  // Each step takes an attribute nearer to the others, so that none follows from itself.
  const auto level = [&](auto&& self, std::size_t number) -> std::size_t {
    if (!contains(number)) return 0;
    Derived& mine = derived_[place[number]];
    if (mine.level == 0) mine.level = 1 + std::max(self(self, mine.rest), self(self, mine.pair));
    return mine.level;
  };
  for (const auto& mine : derived_) level(level, mine.number);
  std::ranges::sort(derived_, {}, [](const Derived& d) { return std::pair(d.level, d.number); });
}

void DerivedMarginals::derive(const AxisOrder& order, std::span<const Clique> cliques,
                              Threads threads, std::span<Factor> out) const {
  for (std::size_t i = 0, end = 0; i < derived_.size(); i = end) {
    while (end < derived_.size() && derived_[end].level == derived_[i].level) ++end;
    parallel_for(end - i, threads, [&](std::size_t j) {
      const auto& mine = derived_[i + j];
      const auto gone = given(order, arranged(order, out[mine.pair]), Clique{mine.by});
      out[mine.number] = restored(
          order, contract(order, arranged(order, out[mine.rest]), gone, cliques[mine.number]));
    });
  }
}

}  // namespace tandem
