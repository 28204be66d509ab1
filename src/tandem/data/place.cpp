// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/place.h"

#include <algorithm>
#include <utility>

#include "tandem/base/int128.h"

namespace tandem {

namespace {

constexpr std::int64_t kMostKept = std::int64_t{1} << 16;  // places in a table

}  // namespace

Place Place::number(std::int64_t factor, std::int64_t offset) {
  Place out;
  out.factor_ = factor;
  out.offset_ = offset;
  return out;
}

Place Place::date(CalendarUnit unit, Steps later, CalendarUnit cut) {
  Place out;
  if (unit == cut && later.amount == 0) return out;
  out.kind_ = Kind::Date;
  out.unit_ = unit;
  out.later_ = later;
  out.cut_ = cut;
  return out;
}

Place Place::from_moment(std::int64_t moment, int sign, std::int64_t stride, CalendarUnit unit,
                         CalendarUnit cut) {
  Place out;
  out.kind_ = Kind::FromMoment;
  out.moment_ = moment;
  out.sign_ = sign;
  out.stride_ = stride;
  out.unit_ = unit;
  out.cut_ = cut;
  return out;
}

Place Place::times(std::int64_t factor) const {
  Place out = *this;
  out.factor_ *= factor;
  out.offset_ *= factor;
  for (auto& place : out.kept_) place *= factor;
  return out;
}

Place Place::plus(std::int64_t offset) const {
  Place out = *this;
  out.offset_ += offset;
  for (auto& place : out.kept_) place += offset;
  return out;
}

void Place::keep(const TickRange& ticks) {
  if (kind_ == Kind::Tick || ticks.last - ticks.first >= kMostKept) return;
  std::vector<std::int64_t> places;
  for (auto tick = ticks.first; tick <= ticks.last; ++tick) places.push_back(computed(tick));
  kept_ = std::move(places);
  kept_from_ = ticks.first;
}

std::int64_t Place::computed(std::int64_t tick) const {
  std::int64_t core = tick;
  if (kind_ == Kind::Date) {
    const auto moment = calendar_begin(tick, unit_);
    core = calendar_cut(calendar_shift(moment, later_.amount, later_.unit), cut_);
  } else if (kind_ == Kind::FromMoment) {
    core = calendar_cut(calendar_shift(moment_, sign_ * (tick / stride_), unit_), cut_);
  }
  // A value far beyond its column's bounds may lie beyond all places.
  constexpr Int128 kFarthest = std::int64_t{1} << 62;
  return static_cast<std::int64_t>(
      std::clamp(Int128{factor_} * core + offset_, -kFarthest, kFarthest));
}

TickRange Place::of(const TickRange& ticks) const {
  TickRange out{.first = of(ticks.first), .last = of(ticks.last)};
  if (out.empty()) std::swap(out.first, out.last);
  return out;
}

// The ticks that hold are the lower part of the range, or the upper one.
template <class Holds>
TickRange Place::part(const TickRange& ticks, std::int64_t stride, bool lower,
                      Holds&& holds) const {
  if (ticks.empty()) return ticks;
  std::int64_t none = 0;  // so many values of the range don't hold
  std::int64_t count = (ticks.last - ticks.first) / stride + 1;
  const auto value = [&](std::int64_t i) {
    return lower ? ticks.last - i * stride : ticks.first + i * stride;
  };
  while (count > 0) {
    const std::int64_t half = count / 2;
    if (holds(value(none + half))) {
      count = half;
    } else {
      none += half + 1;
      count -= half + 1;
    }
  }
  TickRange out = ticks;
  (lower ? out.last : out.first) = value(none);
  return out;
}

TickRange Place::at_most(const TickRange& ticks, std::int64_t stride, std::int64_t place) const {
  return part(ticks, stride, !falls(), [&](std::int64_t tick) { return of(tick) <= place; });
}

TickRange Place::at_least(const TickRange& ticks, std::int64_t stride, std::int64_t place) const {
  return part(ticks, stride, falls(), [&](std::int64_t tick) { return of(tick) >= place; });
}

}  // namespace tandem
