// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/clique.h"

#include <algorithm>
#include <iterator>
#include <utility>

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

}  // namespace tandem
