// SPDX-License-Identifier: Apache-2.0
#pragma once
// A set of attributes, kept sorted: one set has one value, one hash and one memory layout.

#include <compare>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "tandem/data/attribute.h"

namespace tandem {

class Clique {
 public:
  Clique() = default;                              // no attribute: the total
  Clique(std::initializer_list<AttributeId> ids);  // in any order, repeats dropped
  explicit Clique(std::vector<AttributeId> ids);   // in any order, repeats dropped

  std::size_t size() const { return ids_.size(); }
  bool empty() const { return ids_.empty(); }
  AttributeId operator[](std::size_t i) const { return ids_[i]; }
  auto begin() const { return ids_.begin(); }
  auto end() const { return ids_.end(); }
  std::span<const AttributeId> ids() const { return ids_; }

  bool contains(AttributeId id) const;
  bool contains(const Clique& other) const;  // other is a subset of this

  auto operator<=>(const Clique&) const = default;
  bool operator==(const Clique&) const = default;

 private:
  std::vector<AttributeId> ids_;
};

Clique join(const Clique& a, const Clique& b);       // a or b
Clique intersect(const Clique& a, const Clique& b);  // a and b
Clique without(const Clique& a, const Clique& b);    // a and not b

// Every nonempty subset, the clique itself last. REQUIRES: at most 30 attributes.
std::vector<Clique> subsets(const Clique& clique);
// The cliques that lie in no other, sorted and each once.
std::vector<Clique> maximal(std::vector<Clique> cliques);
// Whether one of them contains it.
bool covered_by(const Clique& clique, std::span<const Clique> cliques);

}  // namespace tandem

template <>
struct std::hash<tandem::Clique> {
  std::size_t operator()(const tandem::Clique& clique) const noexcept {
    std::size_t mixed = 0x9e3779b97f4a7c15ULL;
    for (const auto id : clique) {
      mixed = (mixed ^ (id + 1)) * 0xff51afd7ed558ccdULL;
      mixed ^= mixed >> 32;
    }
    return mixed;
  }
};
