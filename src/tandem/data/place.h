// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the values of a column stand among those of another one that it is compared with: a whole
// number for each tick, which never falls with the tick, or never rises.

#include <cstdint>
#include <vector>

#include "tandem/data/value_line.h"

namespace tandem {

class Place {
 public:
  Place() = default;  // the tick itself

  static Place number(std::int64_t factor, std::int64_t offset);  // factor * tick + offset
  // A tick is a date in units of `unit`: the date so many steps later, cut down to `cut`.
  struct Steps {
    std::int64_t amount = 0;
    CalendarUnit unit = CalendarUnit::Days;
  };
  static Place date(CalendarUnit unit, Steps later, CalendarUnit cut);
  // A tick over `stride` is a number of `unit`: the moment as much later, or earlier where `sign`
  // is -1, cut down to `cut`.
  static Place from_moment(std::int64_t moment, int sign, std::int64_t stride, CalendarUnit unit,
                           CalendarUnit cut);

  Place times(std::int64_t factor) const;
  Place plus(std::int64_t offset) const;

  bool falls() const { return (factor_ < 0) != (kind_ == Kind::FromMoment && sign_ < 0); }

  // For ticks of a range, from a table if that is short. Others may still be asked for.
  void keep(const TickRange& ticks);

  std::int64_t of(std::int64_t tick) const {
    const auto at = static_cast<std::uint64_t>(tick - kept_from_);
    return at < kept_.size() ? kept_[at] : computed(tick);
  }
  TickRange of(const TickRange& ticks) const;  // from the lowest place to the highest

  // The multiples of `stride` in a range whose place is at most, or at least, so much.
  TickRange at_most(const TickRange& ticks, std::int64_t stride, std::int64_t place) const;
  TickRange at_least(const TickRange& ticks, std::int64_t stride, std::int64_t place) const;

 private:
  enum class Kind { Tick, Date, FromMoment };
  std::int64_t computed(std::int64_t tick) const;
  template <class Holds>
  TickRange part(const TickRange& ticks, std::int64_t stride, bool lower, Holds&& holds) const;

  Kind kind_ = Kind::Tick;
  std::int64_t factor_ = 1;
  std::int64_t offset_ = 0;
  CalendarUnit unit_ = CalendarUnit::Days;  // of a tick
  CalendarUnit cut_ = CalendarUnit::Days;
  Steps later_;
  std::int64_t moment_ = 0;
  int sign_ = 1;
  std::int64_t stride_ = 1;
  std::vector<std::int64_t> kept_;  // places of the ticks from kept_from_ on
  std::int64_t kept_from_ = 0;
};

}  // namespace tandem
