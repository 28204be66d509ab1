// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums of row weights over all cells of many marginals, where marginals share what they can.
//
// Rows that agree on the attributes of several marginals are added up once, for all of these. So
// the rows are the root of a tree, its nodes stand for sets of attributes and have an entry for
// each combination of their codes that some row has, and the marginals are its leaves: each entry
// of a node is summed from those of its parent. On the 3-way marginals of ADULT that is a third of
// the additions that a row would make to every marginal; on a whole domain of seven columns, a
// tenth. Costs 4 bytes an addition.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tandem/base/parallel.h"
#include "tandem/data/table.h"

namespace tandem {

class RowSums {
 public:
  // Over these different rows, fewer than 2^32; nothing if it would take more than `most`
  // additions. Results are laid out marginal after marginal, each from its start.
  static std::optional<RowSums> grow(const Table& rows, std::span<const Clique> marginals,
                                     std::span<const std::size_t> starts, std::size_t most);

  std::size_t additions() const { return additions_; }  // that sum_up takes

  // The sums of every cell that has a row; other cells are left alone. The same at any number of
  // threads, like all that follows.
  void sum_up(std::span<const double> weights, std::span<double> sums, Threads threads) const;
  // Adds the change of a few rows. Takes an addition for each of them and each marginal.
  void add(std::span<const std::uint32_t> rows, std::span<const double> by, std::span<double> sums,
           Threads threads) const;

 private:
  struct Node {
    std::vector<std::uint32_t> entry;  // of each of the parent's entries, or of each row
    std::size_t size = 0;              // entries of this node
    std::vector<Node> children;
    std::vector<std::uint32_t> cells;  // of a leaf: the marginal's cell of each entry
    std::size_t start = 0;             // of a leaf: where the marginal's cells begin
    std::size_t room = 0;              // for sums of nodes below this one, while they are needed
  };
  class Grower;

  static std::size_t room_for(std::span<const Node> children);
  static void sum_children(std::span<const Node> children, std::span<const double> values,
                           double* room, std::span<double> sums);
  static void add_below(const Node& node, std::span<const std::uint32_t> entries,
                        std::span<const double> by, std::span<double> sums);

  Node root_;
  std::size_t additions_ = 0;
};

}  // namespace tandem
