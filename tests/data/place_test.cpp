// SPDX-License-Identifier: Apache-2.0
#include "tandem/data/place.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tandem {
namespace {

using enum CalendarUnit;

// Places of all kinds, and what each is of a tick, from the calendar alone.
struct Known {
  Place place;
  std::int64_t (*of)(std::int64_t tick);
};

std::vector<Known> known() {
  return {
      {Place(), [](std::int64_t tick) { return tick; }},
      {Place::number(3, -7), [](std::int64_t tick) { return 3 * tick - 7; }},
      {Place::number(-2, 5), [](std::int64_t tick) { return -2 * tick + 5; }},
      {Place::number(2, 1).times(-3).plus(4), [](std::int64_t tick) { return -6 * tick - 3 + 4; }},
      {Place::date(Days, {}, Days), [](std::int64_t tick) { return tick; }},
      {Place::date(Days, {}, Months),
       [](std::int64_t tick) { return calendar_cut(tick * 86'400, Months); }},
      {Place::date(Days, {.amount = 2, .unit = Months}, Days),
       [](std::int64_t tick) {
         return calendar_cut(calendar_shift(tick * 86'400, 2, Months), Days);
       }},
      {Place::date(Months, {.amount = -3, .unit = Days}, Years).times(-5).plus(1),
       [](std::int64_t tick) {
         return -5 * calendar_cut(calendar_shift(calendar_begin(tick, Months), -3, Days), Years) +
                1;
       }},
      {Place::from_moment(1'000'000, 1, 2, Days, Days),
       [](std::int64_t tick) {
         return calendar_cut(calendar_shift(1'000'000, tick / 2, Days), Days);
       }},
      {Place::from_moment(1'000'000, -1, 1, Months, Days).plus(9),
       [](std::int64_t tick) {
         return calendar_cut(calendar_shift(1'000'000, -tick, Months), Days) + 9;
       }},
      {Place::from_moment(1'000'000, -1, 1, Days, Months).times(-2),
       [](std::int64_t tick) {
         return -2 * calendar_cut(calendar_shift(1'000'000, -tick, Days), Months);
       }},
  };
}

TEST(Place, IsWhatItsStepsSay) {
  for (auto& [place, of] : known()) {
    for (std::int64_t tick = -400; tick <= 400; ++tick) ASSERT_EQ(place.of(tick), of(tick));
    // From a table, for ticks inside it and beside it; and changed behind that.
    Place kept = place;
    kept.keep({.first = -50, .last = 70});
    for (std::int64_t tick = -60; tick <= 80; ++tick) {
      ASSERT_EQ(kept.of(tick), of(tick));
      ASSERT_EQ(kept.times(-3).plus(11).of(tick), -3 * of(tick) + 11);
    }
  }
}

TEST(Place, RisesOrFallsAllTheWay) {
  for (const auto& [place, of] : known()) {
    for (std::int64_t tick = -400; tick < 400; ++tick) {
      if (place.falls()) {
        ASSERT_GE(of(tick), of(tick + 1));
      } else {
        ASSERT_LE(of(tick), of(tick + 1));
      }
    }
    const TickRange range = place.of(TickRange{.first = -400, .last = 400});
    EXPECT_EQ(range.first, std::min(of(-400), of(400)));
    EXPECT_EQ(range.last, std::max(of(-400), of(400)));
  }
}

TEST(Place, LimitsHoldTheMultiplesThatTheyShould) {
  for (const auto& [place, of] : known()) {
    for (const std::int64_t stride : {1, 5}) {
      for (const auto& [first, last] : std::vector<std::pair<std::int64_t, std::int64_t>>{
               {-20, 25}, {0, 0}, {-5, 0}, {10, 40}, {0, 100}}) {
        const TickRange ticks{.first = first, .last = last};
        const std::int64_t low = std::min(of(first), of(last));
        const std::int64_t high = std::max(of(first), of(last));
        for (std::int64_t limit = low - 1; limit <= high + 1;
             limit += std::max<std::int64_t>(1, (high - low) / 40)) {
          const TickRange below = place.at_most(ticks, stride, limit);
          const TickRange above = place.at_least(ticks, stride, limit);
          for (std::int64_t tick = first; tick <= last; tick += stride) {
            ASSERT_EQ(below.first <= tick && tick <= below.last, of(tick) <= limit) << tick;
            ASSERT_EQ(above.first <= tick && tick <= above.last, of(tick) >= limit) << tick;
          }
        }
      }
    }
  }
}

TEST(Place, NothingIsInAnEmptyRange) {
  const TickRange none{.first = 5, .last = 4};
  EXPECT_TRUE(Place().at_most(none, 1, 100).empty());
  EXPECT_TRUE(Place().at_least(none, 1, -100).empty());
}

TEST(Place, FarBeyondAllBoundsIsAsFarAsItGets) {
  constexpr std::int64_t kFarthest = std::int64_t{1} << 62;
  const Place large = Place::number(std::int64_t{1} << 40, 0);
  EXPECT_EQ(large.of(std::int64_t{1} << 30), kFarthest);
  EXPECT_EQ(large.of(-(std::int64_t{1} << 30)), -kFarthest);
  EXPECT_EQ(large.of((std::int64_t{1} << 22) - 1),
            (std::int64_t{1} << 62) - (std::int64_t{1} << 40));
}

}  // namespace
}  // namespace tandem
