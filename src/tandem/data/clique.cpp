// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/clique.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tandem/base/check.h"

namespace tandem {

Clique::Clique(std::initializer_list<AttributeId> ids) : Clique(std::vector<AttributeId>(ids)) {}

Clique::Clique(std::vector<AttributeId> ids) : ids_(std::move(ids)) {
  std::ranges::sort(ids_);
  ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
}

bool Clique::contains(AttributeId id) const { return std::ranges::binary_search(ids_, id); }

bool Clique::contains(const Clique& other) const { return std::ranges::includes(ids_, other.ids_); }

Clique join(const Clique& a, const Clique& b) {
  std::vector<AttributeId> ids;
  std::ranges::set_union(a, b, std::back_inserter(ids));
  return Clique(std::move(ids));
}

Clique intersect(const Clique& a, const Clique& b) {
  std::vector<AttributeId> ids;
  std::ranges::set_intersection(a, b, std::back_inserter(ids));
  return Clique(std::move(ids));
}

Clique without(const Clique& a, const Clique& b) {
  std::vector<AttributeId> ids;
  std::ranges::set_difference(a, b, std::back_inserter(ids));
  return Clique(std::move(ids));
}

std::vector<Clique> subsets(const Clique& clique) {
  check(clique.size() <= 30, "a clique of which all subsets are listed is small");
  std::vector<Clique> out;
  for (std::size_t chosen = 1; chosen < std::size_t{1} << clique.size(); ++chosen) {
    std::vector<AttributeId> ids;
    for (std::size_t i = 0; i < clique.size(); ++i) {
      if ((chosen >> i & 1U) != 0) ids.push_back(clique[i]);
    }
    out.emplace_back(std::move(ids));
  }
  return out;
}

std::vector<Clique> maximal(std::vector<Clique> cliques) {
  std::ranges::sort(cliques);
  cliques.erase(std::unique(cliques.begin(), cliques.end()), cliques.end());
  std::vector<Clique> out;
  for (const auto& clique : cliques) {
    const bool inside = std::ranges::any_of(cliques, [&](const Clique& other) {
      return other.size() > clique.size() && other.contains(clique);
    });
    if (!inside) out.push_back(clique);
  }
  return out;
}

bool covered_by(const Clique& clique, std::span<const Clique> cliques) {
  return std::ranges::any_of(cliques, [&](const Clique& other) { return other.contains(clique); });
}

}  // namespace tandem
