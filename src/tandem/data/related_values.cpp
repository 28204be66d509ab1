// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/related_values.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace tandem {

namespace {

// Draws of a whole group from its ranges until one keeps all orders, and from what the orders leave
// of the ranges. Four columns in one range keep a chain of orders in one of 24 draws; what takes
// more than both is drawn column by column.
constexpr int kTriesOfRanges = 32;
constexpr int kTriesOfBounds = 1000;

// Weights: parts of a range, rounds, draws in a round for all combinations of codes together and at
// least for each, combinations that are looked at, and how far a weight may go. Measured on the
// examples: after 12 rounds the shares of parts are within a few percent of what they should be.
constexpr int kParts = 16;
constexpr int kRounds = 12;
constexpr std::size_t kDrawsOfRound = 1 << 15;
constexpr std::size_t kFewestDraws = 8;
constexpr std::size_t kMostCombinations = 1 << 14;
constexpr double kLargestWeight = 64.0;

}  // namespace

RelatedValues::RelatedValues(const Schema& schema, const Table& rows)
    : schema_(schema), related_(schema.columns().size(), false), parts_(schema.columns().size()) {
  find_groups();
  for (const auto& group : groups_) {
    if (!group.orders.empty()) weigh(group, rows);
  }
}

void RelatedValues::find_groups() {
  std::vector<AttributeId> group_of(related_.size());
  std::iota(group_of.begin(), group_of.end(), AttributeId{0});
  for (const auto& order : schema_.relations().orders) {
    related_[order.low] = related_[order.high] = true;
    const auto from = group_of[order.high];
    const auto to = group_of[order.low];
    std::ranges::replace(group_of, from, to);
  }
  for (const auto& derived : schema_.relations().derived) {
    for (const auto id : derived.needs()) related_[id] = true;
  }
  for (AttributeId first = 0; first < group_of.size(); ++first) {
    Group group;
    for (AttributeId id = 0; id < group_of.size(); ++id) {
      if (related_[id] && group_of[id] == first) group.columns.push_back(id);
    }
    if (group.columns.empty()) continue;
    for (const auto& order : schema_.relations().orders) {
      if (group_of[order.low] == first) group.orders.push_back(&order);
    }
    groups_.push_back(std::move(group));
  }
}

// ---- Weights ----

void RelatedValues::weigh(const Group& group, const Table& rows) {
  std::map<std::vector<Code>, double> counts;
  std::vector<Code> codes(group.columns.size());
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = rows.column(group.columns[i])[r];
    const auto found = counts.find(codes);
    if (found != counts.end()) {
      found->second += 1.0;
    } else if (counts.size() < kMostCombinations) {
      counts.emplace(codes, 1.0);
    }
  }
  std::vector<Combination> combinations;
  for (const auto& [of_group, count] : counts) {
    Combination next{.row = std::vector<Code>(related_.size(), 0), .rows = count};
    for (std::size_t i = 0; i < codes.size(); ++i) next.row[group.columns[i]] = of_group[i];
    combinations.push_back(std::move(next));
  }
  divide(group, combinations);
  Rng rng(1);  // of an estimate: the same rows are always weighed alike
  for (int round = 0; round < kRounds; ++round) weigh_once(group, combinations, rng);
}

// Cuts the ranges that occur into parts of about equal shares.
void RelatedValues::divide(const Group& group, std::span<const Combination> combinations) {
  for (const auto id : group.columns) {
    parts_[id].resize(schema_.columns()[id].codec->size());
    const std::int64_t stride = ranges(id).stride();
    for (const auto& [row, count] : combinations) {
      const Code code = row[id];
      Parts& parts = parts_[id][code];
      if (code >= ranges(id).size() || !parts.empty()) continue;
      const TickRange all = ranges(id).range(code);
      if (all.first == all.last) continue;
      for (auto first = all.first; first <= all.last;) {
        // The first end with which the parts so far have their share.
        const double target = static_cast<double>(parts.size() + 1) / kParts;
        TickRange left{.first = first, .last = all.last};
        while (left.first < left.last) {
          const auto middle = left.first + (left.last - left.first) / stride / 2 * stride;
          if (ranges(id).share(code, {all.first, middle}) >= target) {
            left.last = middle;
          } else {
            left.first = middle + stride;
          }
        }
        const TickRange ticks{.first = first, .last = left.last};
        const double share = ranges(id).share(code, ticks);
        const double before = parts.empty() ? 0.0 : parts.back().up_to;
        parts.push_back({.ticks = ticks, .share = share, .up_to = before + share});
        first = left.last + stride;
      }
    }
  }
}

// Draws rows as they are drawn now, and makes parts likelier that came too seldom.
void RelatedValues::weigh_once(const Group& group, std::span<const Combination> combinations,
                               Rng& rng) {
  std::vector<std::map<std::pair<Code, std::size_t>, double>> drawn(related_.size());
  std::vector<std::map<Code, double>> rows(related_.size());
  std::vector<std::optional<std::int64_t>> values(related_.size());
  const std::size_t draws =
      std::max(kFewestDraws, kDrawsOfRound / std::max<std::size_t>(combinations.size(), 1));
  for (const auto& [row, count] : combinations) {
    for (std::size_t i = 0; i < draws; ++i) {
      draw(group, row, rng, values);
      for (const auto id : group.columns) {
        const Parts& parts = parts_[id][row[id]];
        if (parts.empty()) continue;
        const auto part = std::ranges::lower_bound(
            parts, *values[id], {}, [](const Part& some) { return some.ticks.last; });
        const double share = count / static_cast<double>(draws);
        drawn[id][{row[id], static_cast<std::size_t>(part - parts.begin())}] += share;
        rows[id][row[id]] += share;
      }
    }
  }
  for (const auto id : group.columns) {
    for (const auto& [code, count] : rows[id]) {
      double sum = 0.0;
      Parts& parts = parts_[id][code];
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const double wanted = parts[i].share * count + 1.0;
        const double ratio = wanted / (drawn[id][{code, i}] + 1.0);
        parts[i].weight =
            std::clamp(parts[i].weight * std::sqrt(ratio), 1.0 / kLargestWeight, kLargestWeight);
        parts[i].up_to = sum += parts[i].share * parts[i].weight;
      }
    }
  }
}

// ---- Draws ----

void RelatedValues::draw(std::span<const Code> row, Rng& rng,
                         std::span<std::optional<std::int64_t>> values) const {
  for (const auto& group : groups_) draw(group, row, rng, values);
}

std::int64_t RelatedValues::draw(AttributeId id, Code code, Rng& rng) const {
  if (parts_[id].empty() || parts_[id][code].empty()) {
    return ranges(id).draw(code, ranges(id).range(code), rng);
  }
  const Parts& parts = parts_[id][code];
  const auto part = std::ranges::upper_bound(parts, rng.uniform() * parts.back().up_to, {},
                                             [](const Part& some) { return some.up_to; });
  return ranges(id).draw(code, (part == parts.end() ? parts.back() : *part).ticks, rng);
}

std::int64_t RelatedValues::draw(AttributeId id, Code code, const TickRange& within,
                                 Rng& rng) const {
  if (parts_[id].empty() || parts_[id][code].empty()) return ranges(id).draw(code, within, rng);
  const Parts& parts = parts_[id][code];
  std::vector<double> up_to;
  std::vector<TickRange> inside;
  double sum = 0.0;
  for (const auto& part : parts) {
    inside.push_back({.first = std::max(part.ticks.first, within.first),
                      .last = std::min(part.ticks.last, within.last)});
    const bool any = !inside.back().empty();
    up_to.push_back(sum += any ? part.weight * ranges(id).share(code, inside.back()) : 0.0);
  }
  if (!(sum > 0.0)) return ranges(id).draw(code, within, rng);
  const auto part = std::ranges::upper_bound(up_to, rng.uniform() * sum) - up_to.begin();
  if (part == std::ssize(up_to)) return ranges(id).draw(code, within, rng);
  return ranges(id).draw(code, inside[static_cast<std::size_t>(part)], rng);
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
                         Values values) const {
  std::vector<const Order*> orders;  // between values that are there, and that ranges leave open
  for (const auto id : group.columns) values[id].reset();
  const auto has_value = [&](AttributeId id) { return row[id] < ranges(id).size(); };
  for (const auto* order : group.orders) {
    if (!has_value(order->low) || !has_value(order->high)) continue;
    if (order->low_place.of(ranges(order->low).range(row[order->low])).last >
        order->high_place.of(ranges(order->high).range(row[order->high])).first) {
      orders.push_back(order);
    }
  }
  const auto kept = [&](const Order* order) {
    return order->low_place.of(*values[order->low]) <= order->high_place.of(*values[order->high]);
  };
  for (int t = 0; t < kTriesOfRanges; ++t) {
    for (const auto id : group.columns) {
      if (has_value(id)) values[id] = draw(id, row[id], rng);
    }
    if (std::ranges::all_of(orders, kept)) return;
  }
  Bounds bounds(row.size());
  for (const auto id : group.columns) {
    if (has_value(id)) bounds[id] = ranges(id).range(row[id]);
  }
  if (!narrow(orders, bounds)) return;
  for (int t = 0; t < kTriesOfBounds; ++t) {
    for (const auto id : group.columns) {
      if (has_value(id)) values[id] = draw(id, row[id], bounds[id], rng);
    }
    if (std::ranges::all_of(orders, kept)) return;
  }
  for (const auto id : group.columns) {
    if (!has_value(id)) continue;
    values[id] = draw(id, row[id], bounds[id], rng);
    bounds[id] = {.first = *values[id], .last = *values[id]};
    narrow(orders, bounds);
  }
}

}  // namespace tandem
