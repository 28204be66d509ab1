// SPDX-License-Identifier: Apache-2.0
#include "tandem/model/tables/aligned_table.h"

#include <algorithm>

namespace tandem {
namespace {

// What is smaller than this has no inverse that a double can hold, and is as good as nothing.
constexpr double kLeastMass = 1e-290;

}  // namespace

AlignedTable arranged(const AxisOrder& order, const Factor& factor) {
  AlignedTable out{factor.clique, UnsetCells(factor.values.size())};
  order.arrange(factor.clique, factor.values, out.values);
  return out;
}

Factor restored(const AxisOrder& order, const TableView& table) {
  Factor out{table.clique, std::vector<double>(table.values.size())};
  order.restore(table.clique, table.values, out.values);
  return out;
}

AlignedTable part_of(const AxisOrder& order, const TableView& table,
                     std::span<const FixedCode> at) {
  std::vector<AttributeId> free;
  for (const auto id : table.clique) {
    if (std::ranges::find(at, id, &FixedCode::id) == at.end()) free.push_back(id);
  }
  AlignedTable out{Clique(std::move(free)), {}};
  out.values.resize(order.domain().cells(out.clique));
  copy_part(order.domain(), order.axes(table.clique), at, table.values.data(), out.values.data());
  return out;
}

AlignedTable sum_of(const AxisOrder& order, const TableView& table, const Clique& onto) {
  const auto plan = order.plan(table.clique, onto);
  AlignedTable out{onto, UnsetCells(plan.small_cells())};
  plan.sum(table.values.data(), out.values.data());
  return out;
}

AlignedTable given(const AxisOrder& order, const TableView& table, const Clique& separator) {
  const auto plan = order.plan(table.clique, separator);
  std::vector<double> inverse(plan.small_cells());
  plan.sum(table.values.data(), inverse.data());
  for (double& mass : inverse) mass = mass > kLeastMass ? 1.0 / mass : 0.0;
  AlignedTable out{table.clique, UnsetCells(plan.large_cells())};
  plan.multiply(table.values.data(), inverse.data(), out.values.data());
  return out;
}

}  // namespace tandem
