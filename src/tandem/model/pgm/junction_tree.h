// SPDX-License-Identifier: Apache-2.0
#pragma once
// Junction trees: how a set of cliques becomes a tractable model, and what that model will weigh.
//
// Attributes are eliminated greedily, each time the one whose neighbourhood makes the smallest
// table; the maximal tables are the cliques of the tree. Deterministic: ties go to the attribute
// that comes first. A few microseconds for fifteen attributes, so a thousand candidates can be
// weighed in every round.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "tandem/base/int128.h"
#include "tandem/base/parallel.h"
#include "tandem/data/clique.h"
#include "tandem/data/domain.h"

namespace tandem {

// A tree of cliques with the running intersection property, parents before their children. Parts
// that know nothing of each other hang together by empty separators: there is always one tree.
struct JunctionTree {
  std::vector<Clique> cliques;      // maximal: none inside another; every attribute is in one
  std::vector<std::size_t> parent;  // of each clique; the root, clique 0, is its own
  std::vector<Clique> separators;   // what a clique shares with its parent; empty for the root
  UInt128 cells = 0;                // of all cliques together; saturates

  // The first clique that holds `clique`, or cliques.size().
  std::size_t find(const Clique& clique) const;
};

// Every one of `cliques` is inside a clique of the tree.
JunctionTree make_junction_tree(const Domain& domain, std::span<const Clique> cliques);

// Bytes of a model: 8 for each cell of its tree's cliques. Saturates.
UInt128 model_bytes(UInt128 cells);
UInt128 model_bytes(const Domain& domain, std::span<const Clique> cliques);

// Weighs 'the cliques so far and one more', for many candidates. Elimination goes the same way with
// and without the candidate up to the first of its attributes, so each weighing starts there. The
// answer is exactly that of a tree made from scratch.
class ModelSizer {
 public:
  ModelSizer(const Domain& domain, std::span<const Clique> cliques);
  ~ModelSizer();
  ModelSizer(ModelSizer&&) noexcept;
  ModelSizer& operator=(ModelSizer&&) noexcept;

  UInt128 bytes() const;                              // without a candidate
  UInt128 bytes_with(const Clique& candidate) const;  // not for two threads at once: it remembers
  // bytes_with() of each candidate, or kAboveLimit: weighing stops where it is.
  static constexpr UInt128 kAboveLimit = ~UInt128{0};
  std::vector<UInt128> weigh(std::span<const Clique> candidates, double limit_bytes,
                             Threads threads = {}) const;
  // Of each candidate whether bytes_with() is at most the limit.
  std::vector<char> within(std::span<const Clique> candidates, double limit_bytes,
                           Threads threads = {}) const;
  // With all of these, not one by one; or kAboveLimit.
  UInt128 bytes_with_all(std::span<const Clique> more, double limit_bytes) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem
