// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/related_values.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tandem {

namespace {

// Draws of a whole group until one keeps all orders. Four columns in one range keep a chain of
// orders in one of 24 draws; what takes more than this is drawn column by column.
constexpr int kMostTries = 1000;

}  // namespace

RelatedValues::RelatedValues(const Schema& schema)
    : schema_(schema), related_(schema.columns().size(), false) {
  std::vector<AttributeId> group_of(schema.columns().size());
  std::iota(group_of.begin(), group_of.end(), AttributeId{0});
  for (const auto& order : schema.relations().orders) {
    related_[order.low] = related_[order.high] = true;
    const auto from = group_of[order.high];
    const auto to = group_of[order.low];
    std::ranges::replace(group_of, from, to);
  }
  for (const auto& derived : schema.relations().derived) {
    for (const auto id : derived.needs()) related_[id] = true;
  }
  for (AttributeId first = 0; first < group_of.size(); ++first) {
    Group group;
    for (AttributeId id = 0; id < group_of.size(); ++id) {
      if (related_[id] && group_of[id] == first) group.columns.push_back(id);
    }
    if (group.columns.empty()) continue;
    for (const auto& order : schema.relations().orders) {
      if (group_of[order.low] == first) group.orders.push_back(&order);
    }
    groups_.push_back(std::move(group));
  }
}

void RelatedValues::draw(std::span<const Code> row, Rng& rng,
                         std::span<std::optional<std::int64_t>> values) const {
  for (const auto& group : groups_) draw(group, row, rng, values);
}

// Takes from bounds what no value of the other side goes with. False where nothing is left.
bool RelatedValues::narrow(std::span<const Order* const> orders, Bounds& bounds) const {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto* order : orders) {
      TickRange& low = bounds[order->low];
      TickRange& high = bounds[order->high];
      const TickRange low_before = low;
      const TickRange high_before = high;
      low = order->low_place.at_most(low, ranges(order->low).stride(),
                                     order->high_place.of(high).last);
      if (low.empty()) return false;
      high = order->high_place.at_least(high, ranges(order->high).stride(),
                                        order->low_place.of(low).first);
      if (high.empty()) return false;
      changed = changed || low != low_before || high != high_before;
    }
  }
  return true;
}

void RelatedValues::draw(const Group& group, std::span<const Code> row, Rng& rng,
                         std::span<std::optional<std::int64_t>> values) const {
  Bounds bounds(row.size());
  for (const auto id : group.columns) {
    values[id].reset();
    if (row[id] >= ranges(id).size()) continue;
    bounds[id] = ranges(id).range(row[id]);
    values[id] = ranges(id).draw(row[id], bounds[id], rng);
  }
  const auto kept = [&](const Order* order) {
    return order->low_place.of(*values[order->low]) <= order->high_place.of(*values[order->high]);
  };
  std::vector<const Order*> orders;  // between values that are there, and that ranges leave open
  for (const auto* order : group.orders) {
    if (!values[order->low] || !values[order->high]) continue;
    if (order->low_place.of(bounds[order->low]).last >
        order->high_place.of(bounds[order->high]).first) {
      orders.push_back(order);
    }
  }
  if (std::ranges::all_of(orders, kept)) return;
  if (!narrow(orders, bounds)) return;
  for (int t = 0; t < kMostTries; ++t) {
    for (const auto id : group.columns) {
      if (values[id]) values[id] = ranges(id).draw(row[id], bounds[id], rng);
    }
    if (std::ranges::all_of(orders, kept)) return;
  }
  for (const auto id : group.columns) {
    if (!values[id]) continue;
    values[id] = ranges(id).draw(row[id], bounds[id], rng);
    bounds[id] = {.first = *values[id], .last = *values[id]};
    narrow(orders, bounds);
  }
}

}  // namespace tandem
