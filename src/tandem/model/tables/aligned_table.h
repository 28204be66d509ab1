// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables whose cells are in the order of a graphical model, and what is taken from one of them.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tandem/model/tables/axis_order.h"
#include "tandem/query/factor.h"

namespace tandem {

// Leaves cells as they are until somebody writes them: large tables are written once, not twice.
template <class T>
struct LeaveUnset : std::allocator<T> {
  template <class U>
  struct rebind {  // NOLINT(readability-identifier-naming): the standard's name
    using other = LeaveUnset<U>;
  };
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
};
using UnsetCells = std::vector<double, LeaveUnset<double>>;

// A factor whose cells are in an AxisOrder, not in its clique's own.
struct AlignedTable {
  Clique clique;
  UnsetCells values;
};

// The same, borrowed.
struct TableView {
  TableView(const AlignedTable& table) : clique(table.clique), values(table.values) {}
  TableView(const Clique& of, std::span<const double> cells) : clique(of), values(cells) {}
  const Clique& clique;
  std::span<const double> values;
};

AlignedTable arranged(const AxisOrder& order, const Factor& factor);
Factor restored(const AxisOrder& order, const TableView& table);

// Where the attributes that are fixed have these codes; of those that the table doesn't have it is
// all of it.
AlignedTable part_of(const AxisOrder& order, const TableView& table, std::span<const FixedCode> at);
AlignedTable sum_of(const AxisOrder& order, const TableView& table, const Clique& onto);
// P(table | separator) from P(table).
AlignedTable given(const AxisOrder& order, const TableView& table, const Clique& separator);

}  // namespace tandem
