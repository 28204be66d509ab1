// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/relation_check.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "tandem/data/csv.h"
#include "tandem/data/text_format.h"

namespace tandem {

RelationCheck::RelationCheck(const Schema& schema, std::span<const std::string> names,
                             char decimal_mark)
    : relations_(schema.relations()),
      comma_(decimal_mark == ','),
      values_(schema.columns().size()) {
  const auto field = [&](const ColumnSchema& column) -> std::optional<Field> {
    const auto found = std::ranges::find(names, column.name);
    if (found == names.end()) return {};
    return Field{static_cast<std::size_t>(found - names.begin()), column.codec.get()};
  };
  std::vector<bool> needed(schema.columns().size(), false);
  for (const auto& order : relations_.orders) {
    needed[order.low] = needed[order.high] = true;
    counts_.push_back({.text = order.text});
  }
  for (const auto& derived : relations_.derived) {
    for (const auto id : derived.needs()) needed[id] = true;
    derived_.push_back(field(derived.column));
    counts_.push_back({.text = derived.text});
  }
  for (std::size_t id = 0; id < needed.size(); ++id) {
    measured_.push_back(needed[id] ? field(schema.columns()[id]) : std::nullopt);
  }
}

// The value as it stands there, also beyond the column's bounds; nothing for an extra or no value.
std::optional<std::int64_t> RelationCheck::tick(const Field& field, std::string_view text) {
  if (comma_ && field.codec->numeric()) text = swap_decimal_marks(text, room_);
  const auto [code, fit] = field.codec->encode(text);
  const auto& ranges = *field.codec->ranges();
  if (fit == Fit::Unfit || code >= ranges.size()) return {};
  const auto point = ranges.line().parse(text);
  if (!point || !(std::abs(*point) < ranges.line().point(kLargestTick))) return {};
  const double ticks = *point / ranges.line().point(1);
  return static_cast<std::int64_t>(std::llround(ticks));
}

void RelationCheck::add(std::span<const std::string_view> fields) {
  for (std::size_t id = 0; id < values_.size(); ++id) {
    const auto& field = measured_[id];
    values_[id] = field ? tick(*field, fields[field->at]) : std::nullopt;
  }
  auto count = counts_.begin();
  for (const auto& order : relations_.orders) {
    const auto& low = values_[order.low];
    const auto& high = values_[order.high];
    if (low && high) {
      ++count->judged;
      if (order.low_place.of(*low) > order.high_place.of(*high)) ++count->broken;
    }
    ++count;
  }
  for (std::size_t i = 0; i < derived_.size(); ++i, ++count) {
    const auto needs = relations_.derived[i].needs();
    const bool known =
        std::ranges::all_of(needs, [&](AttributeId id) { return measured_[id].has_value(); });
    if (!known || !derived_[i]) continue;
    ++count->judged;
    if (tick(*derived_[i], fields[derived_[i]->at]) != relations_.derived[i].tick(values_)) {
      ++count->broken;
    }
  }
}

std::vector<BrokenRelation> count_broken(const Schema& schema, const std::string& path) {
  std::unique_ptr<RelationCheck> check;
  scan_csv(
      path, {},
      [&](std::span<const std::string> names, const TextFormat& format) {
        check = std::make_unique<RelationCheck>(schema, names, format.decimal_mark);
      },
      [&](std::span<const std::string_view> fields, std::size_t /*line*/) { check->add(fields); });
  return check->counts();
}

}  // namespace tandem
